"""Notices when a plugin uses more than it may of processes, memory or disk, by looking now and then. Ends nobody."""

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
from .policy import Allowance

MEBIBYTE = 1024 * 1024
_SHARE_OF_TIME = 20
"""Looking takes at most one part in so many of the time."""
_UNSEEN = (errno.EACCES, errno.ENAMETOOLONG)
"""What only the plugin can have brought about: a folder that it has closed, or that lies too deep to be named."""
_BLOCK_BYTES = 512
"""The unit in which a file's blocks are told."""


@dataclass(frozen=True, slots=True)
class FolderUse:
    size_bytes: int = 0
    files: int = 0
    """Folders count as files."""


Measure = Callable[[Path], Awaitable[FolderUse]]


async def watch_processes(process: PluginProcess, megabytes: int, allowance: Allowance) -> str:
    """Returns, in words, when it and its children are too many or use more. Newcomers are restrained as the others."""
    while True:
        await asyncio.sleep(allowance.memory_seconds)
        if await process.restrain(allowance.open_files, allowance.niceness) > allowance.processes:
            return f"it had more than {allowance.processes} processes"
        if await process.uses_more_than(megabytes * MEBIBYTE):
            return f"it used more than {megabytes} MB of memory"


async def watch_folder(folder: Path, allowance: Allowance, measure: Measure, ready: asyncio.Event) -> str:
    """Returns the reason when the folder holds too much. A plugin that finds it so may tidy up until it is ready."""
    took, before = 0.0, FolderUse(sys.maxsize, sys.maxsize)
    while True:
        await asyncio.sleep(max(allowance.data_seconds, took * _SHARE_OF_TIME))
        begun = time.monotonic()
        try:
            held = await measure(folder)
        except OSError as error:
            if ready.is_set() and error.errno in _UNSEEN:
                return f"its data folder can't be looked through ({os.strerror(error.errno)})"
            held = FolderUse()
        limit = allowance.data_mb * MEBIBYTE
        if held.size_bytes > limit and (ready.is_set() or held.size_bytes > before.size_bytes):
            return f"its data folder holds more than {allowance.data_mb} MB"
        if held.files > allowance.data_files and (ready.is_set() or held.files > before.files):
            return f"its data folder holds more than {allowance.data_files} files"
        took, before = time.monotonic() - begun, held


async def folder_use(folder: Path) -> FolderUse:
    """Measures a folder; links are not followed. Raises OSError for what can't be looked at.

    A file with holes counts with its whole size: that is what a copy or a backup of it takes.
    """
    return await asyncio.to_thread(_folder_use, folder)


def _folder_use(folder: Path) -> FolderUse:
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
                        _pass_over(error)
        except OSError as error:
            _pass_over(error)
    return FolderUse(total, files)


def _pass_over(error: OSError) -> None:
    """What went while we looked, and what this machine is to blame for."""
    if error.errno in _UNSEEN:
        raise error
