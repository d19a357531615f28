"""Detects when a plugin exceeds its processes, memory or disk space, by periodic checks. It ends no process itself."""

import asyncio
import errno
import os
import sys
import time
from collections.abc import Awaitable, Callable
from pathlib import Path
from stat import S_ISREG

from parlour_sdk.values import dataclass

from ..process.launcher import PluginProcess
from .policy import ResourceLimits

MEBIBYTE = 1024 * 1024
_PAUSE_FACTOR = 20
"""Checks take at most one part in this many of the time."""
_PLUGIN_CAUSED_ERRNOS = (errno.EACCES, errno.ENAMETOOLONG)
"""Errors that only the plugin can have caused: a folder that it has closed, or one too deep to be named."""
_BLOCK_BYTES = 512
"""Unit of a file's `st_blocks`."""


@dataclass(frozen=True, slots=True)
class FolderUse:
    size_bytes: int = 0
    files: int = 0
    """Number of files, including folders."""


Measure = Callable[[Path], Awaitable[FolderUse]]


async def watch_processes(process: PluginProcess, megabytes: int, allowance: ResourceLimits) -> str:
    """Returns the reason when its processes are too many or use too much memory. New ones get the same limits."""
    while True:
        await asyncio.sleep(allowance.process_check_seconds)
        if await process.apply_limits(allowance.open_files, allowance.niceness) > allowance.processes:
            return f"it had more than {allowance.processes} processes"
        if await process.uses_more_than(megabytes * MEBIBYTE):
            return f"it used more than {megabytes} MB of memory"


async def watch_folder(folder: Path, allowance: ResourceLimits, measure: Measure, ready: asyncio.Event) -> str:
    """Returns the reason when the folder holds too much.

    A plugin that starts with too much in it may clean up until it is ready.
    """
    took, before = 0.0, FolderUse(sys.maxsize, sys.maxsize)
    while True:
        await asyncio.sleep(max(allowance.data_check_seconds, took * _PAUSE_FACTOR))
        begun = time.monotonic()
        try:
            held = await measure(folder)
        except OSError as error:
            if ready.is_set() and error.errno in _PLUGIN_CAUSED_ERRNOS:
                return f"its data folder can't be looked through ({os.strerror(error.errno)})"
            held = FolderUse()
        limit = allowance.data_mb * MEBIBYTE
        if held.size_bytes > limit and (ready.is_set() or held.size_bytes > before.size_bytes):
            return f"its data folder holds more than {allowance.data_mb} MB"
        if held.files > allowance.data_files and (ready.is_set() or held.files > before.files):
            return f"its data folder holds more than {allowance.data_files} files"
        took, before = time.monotonic() - begun, held


async def measure_folder(folder: Path) -> FolderUse:
    """Measures a folder without following links. Raises OSError for parts that can't be read.

    A file with holes counts with its whole size: that is what a copy or a backup of it takes.
    """
    return await asyncio.to_thread(_measure_folder, folder)


def _measure_folder(folder: Path) -> FolderUse:
    total = files = 0
    pending = [os.fspath(folder)]
    while pending:
        try:
            with os.scandir(pending.pop()) as entries:
                for entry in entries:
                    try:
                        found = entry.stat(follow_symlinks=False)
                        files += 1
                        total += max(found.st_blocks * _BLOCK_BYTES, found.st_size if S_ISREG(found.st_mode) else 0)
                        if entry.is_dir(follow_symlinks=False):
                            pending.append(entry.path)
                    except OSError as error:
                        _raise_if_plugin_caused(error)
        except OSError as error:
            _raise_if_plugin_caused(error)
    return FolderUse(total, files)


def _raise_if_plugin_caused(error: OSError) -> None:
    """Ignores files that vanished during the check and errors of this machine; raises those that the plugin caused."""
    if error.errno in _PLUGIN_CAUSED_ERRNOS:
        raise error
