"""Notices when a plugin uses more than it may of processes, memory or disk, by looking now and then. Ends nobody."""

import asyncio
import errno
import os
import sys
import time
from collections.abc import Awaitable, Callable
from pathlib import Path

from ..process.launcher import PluginProcess
from .policy import Allowance

MEBIBYTE = 1024 * 1024
_SHARE_OF_TIME = 20
"""Looking takes at most one part in so many of the time."""
_UNSEEN = (errno.EACCES, errno.ENAMETOOLONG)
"""What only the plugin can have brought about: a folder that it has closed, or that lies too deep to be named."""
_BLOCK_BYTES = 512
"""The unit in which a file's blocks are told."""

Measure = Callable[[Path], Awaitable[int]]


async def watch_processes(process: PluginProcess, megabytes: int, allowance: Allowance) -> str:
    """Returns, in words, when it and its children are too many or use more. Newcomers are restrained as the others."""
    while True:
        await asyncio.sleep(allowance.memory_seconds)
        if await process.restrain(allowance.open_files, allowance.niceness) > allowance.processes:
            return f"it had more than {allowance.processes} processes"
        if await process.uses_more_than(megabytes * MEBIBYTE):
            return f"it used more than {megabytes} MB of memory"


async def watch_folder(folder: Path, megabytes: int, every: float, measure: Measure, ready: asyncio.Event) -> str:
    """Returns, in words, when the folder holds more. A plugin that finds it too full may tidy up until it is ready."""
    took, before = 0.0, sys.maxsize
    while True:
        await asyncio.sleep(max(every, took * _SHARE_OF_TIME))
        begun = time.monotonic()
        try:
            held = await measure(folder)
        except OSError as error:
            if ready.is_set() and error.errno in _UNSEEN:
                return f"its data folder can't be looked through ({os.strerror(error.errno)})"
            held = 0
        if held > megabytes * MEBIBYTE and (ready.is_set() or held > before):
            return f"its data folder holds more than {megabytes} MB"
        took, before = time.monotonic() - begun, held


async def folder_bytes(folder: Path) -> int:
    """What its files take on the disk; links are not followed. Raises OSError for what can't be looked at."""
    return await asyncio.to_thread(_folder_bytes, folder)


def _folder_bytes(folder: Path) -> int:
    total = 0
    pending = [os.fspath(folder)]
    while pending:
        try:
            with os.scandir(pending.pop()) as entries:
                for entry in entries:
                    try:
                        total += entry.stat(follow_symlinks=False).st_blocks * _BLOCK_BYTES
                        if entry.is_dir(follow_symlinks=False):
                            pending.append(entry.path)
                    except OSError as error:
                        _pass_over(error)
        except OSError as error:
            _pass_over(error)
    return total


def _pass_over(error: OSError) -> None:
    """What went while we looked, and what this machine is to blame for."""
    if error.errno in _UNSEEN:
        raise error
