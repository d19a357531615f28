"""Detects when a plugin hangs or exceeds its processes, memory or disk space. It ends no process itself."""

import asyncio
import errno
import os
import sys
import time
from collections.abc import Awaitable, Callable
from pathlib import Path
from stat import S_ISREG
from typing import Protocol

from parlour_sdk.values import dataclass
from parlour_sdk.wire import Peer, WireError

from .policy import HealthPolicy, ResourceLimits

MEBIBYTE = 1024 * 1024
_PAUSE_FACTOR = 20
"""Checks take at most one part in this many of the time."""
_PLUGIN_CAUSED_ERRNOS = (errno.EACCES, errno.ENAMETOOLONG)
"""Errors that only the plugin can have caused: a folder that it has closed, or one too deep to be named."""
_BLOCK_BYTES = 512
"""Unit of a file's `st_blocks`."""
_SLICES = 10
"""Number of parts in which the wait for an answer is measured."""
_PAUSED_SLICE_WEIGHT = 0.1
"""Weight of a part in which reading was paused."""


async def watch_health(peer: Peer, policy: HealthPolicy) -> str:
    """Pings until too many in a row were not answered, and returns that as a reason."""
    pings: set[asyncio.Task[None]] = set()
    missed = 0
    try:
        while missed < policy.missed_pings:
            pings.add(asyncio.create_task(_ping(peer)))
            if await _is_any_answered(pings, peer, policy.ping_seconds):
                missed = 0
                await asyncio.sleep(policy.ping_seconds)
            else:
                missed += 1
    finally:
        for ping in pings:
            ping.cancel()
    return f"its event loop did not answer for {missed * policy.ping_seconds:g} s"


async def _ping(peer: Peer) -> None:
    try:
        await peer.call("ping")
    except WireError:
        return  # an error is an answer too, and a connection that is closed is noticed elsewhere


async def _is_any_answered(pings: set[asyncio.Task[None]], peer: Peer, seconds: float) -> bool:
    """Returns whether any ping was answered within these seconds, counting only the time in which we could read.

    Time in which our own loop was blocked does not count: the answer may be unread. Time in which reading was paused
    counts a tenth: the plugin's earlier output has to be read first, but it must not delay the answer indefinitely.
    """
    loop = asyncio.get_running_loop()
    length = seconds / _SLICES
    silent = 0.0
    while silent < _SLICES - _PAUSED_SLICE_WEIGHT / 2:
        started_at = loop.time()
        done, _ = await asyncio.wait(pings, timeout=length, return_when=asyncio.FIRST_COMPLETED)
        if done:
            pings -= done
            return True
        if loop.time() - started_at < 2 * length:
            silent += _PAUSED_SLICE_WEIGHT if peer.paused_until > started_at else 1
    return False


@dataclass(frozen=True, slots=True)
class FolderUse:
    """Space that the files of a folder take."""

    size_bytes: int = 0
    files: int = 0
    """Number of files, including folders."""


Measure = Callable[[Path], Awaitable[FolderUse]]


class LimitedProcess(Protocol):
    """A process with its descendants, as its limits see it."""

    async def apply_limits(self, open_files: int, niceness: int) -> int: ...

    async def uses_more_than(self, memory_bytes: int) -> bool: ...


async def watch_processes(process: LimitedProcess, megabytes: int, allowance: ResourceLimits) -> str:
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
    seconds, previous = 0.0, FolderUse(sys.maxsize, sys.maxsize)
    while True:
        await asyncio.sleep(max(allowance.data_check_seconds, seconds * _PAUSE_FACTOR))
        started_at = time.monotonic()
        try:
            usage = await measure(folder)
        except OSError as error:
            if ready.is_set() and error.errno in _PLUGIN_CAUSED_ERRNOS:
                return f"its data folder can't be looked through ({os.strerror(error.errno)})"
            usage = FolderUse()
        limit = allowance.data_mb * MEBIBYTE
        if usage.size_bytes > limit and (ready.is_set() or usage.size_bytes > previous.size_bytes):
            return f"its data folder holds more than {allowance.data_mb} MB"
        if usage.files > allowance.data_files and (ready.is_set() or usage.files > previous.files):
            return f"its data folder holds more than {allowance.data_files} files"
        seconds, previous = time.monotonic() - started_at, usage


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
                        status = entry.stat(follow_symlinks=False)
                        files += 1
                        total += max(status.st_blocks * _BLOCK_BYTES, status.st_size if S_ISREG(status.st_mode) else 0)
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
