"""A process apart from the Host, with everything that it starts: its start, limits, use of memory and end."""

import asyncio
import contextlib
import os
import signal
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TypeVar

from parlour_sdk.values import dataclass
from parlour_sdk.wire.pipe import Pipe

from . import cgroup, orphan_cleanup
from .cgroup import ControlGroup
from .child_process import ChildProcess
from .process_tree import ProcessInfo, ProcessTree
from .reaper import new_mark

_MAX_SCANS = 10
"""Maximum number of scans for new processes in a row."""
_OOM_SCORE_ADJUSTMENT = b"500"
"""OOM score adjustment: when the machine runs out of memory, the kernel is to kill this process and not the Host."""


@dataclass(slots=True)
class IsolatedProcess:
    """A started process with pipes to its input, output and log, and everything that it starts."""

    pid: int
    read_fd: int
    write_fd: int
    log: asyncio.StreamReader
    log_pipe: asyncio.BaseTransport
    process: ChildProcess
    tree: ProcessTree
    group: ControlGroup

    async def apply_limits(self, open_files: int, niceness: int) -> int:
        """Applies limits to all its current processes and returns their number."""
        return await asyncio.to_thread(self._apply_limits, open_files, niceness)  # in a thread, like all process scans

    def _apply_limits(self, open_files: int, niceness: int) -> int:
        """Scans until no new process is found, since one may be about to start another.

        The number of scans is limited.
        """
        limited: set[int] = set()
        alive: set[int] = set()
        for _ in range(_MAX_SCANS):
            alive = {process.pid for process in self.tree.alive()}
            if not (unlimited := alive - limited):
                break
            for pid in unlimited:
                apply_process_limits(pid, open_files, niceness)
            self.group.add(unlimited, niceness)
            limited |= unlimited
        return len(alive)

    async def uses_more_than(self, memory_bytes: int) -> bool:
        """Returns whether it and all its descendants use more memory than this."""
        if await asyncio.to_thread(self.tree.resident_bytes) <= memory_bytes:
            return False
        return await asyncio.to_thread(self.tree.proportional_bytes) > memory_bytes

    async def unlinked_bytes(self, folder: Path) -> int:
        """Returns the bytes of its open files that have no name any more, on the disk of this folder."""
        return await asyncio.to_thread(lambda: self.tree.unlinked_bytes(folder.stat().st_dev))

    async def wait(self) -> int:
        """Returns its exit status, negative for a signal."""
        return await self.process.wait()

    async def terminate(self) -> None:
        """Asks its process group to end."""
        await asyncio.to_thread(self._signal, signal.SIGTERM)

    async def kill(self) -> None:
        """Kills the process and all its descendants, including those that left its process group."""
        await asyncio.to_thread(self._signal, signal.SIGKILL)
        await asyncio.to_thread(self.tree.kill)

    def close(self) -> None:
        """Closes its log, even if another process has the other end open, and removes its control group."""
        self.log_pipe.close()
        self.group.close()

    def _signal(self, number: signal.Signals) -> None:
        for group in self._groups(self.tree.alive()):
            with contextlib.suppress(ProcessLookupError):
                os.killpg(group, number)

    def _groups(self, alive: list[ProcessInfo]) -> set[int]:
        """Returns the process groups to signal. The process leads its own, so its children are included."""
        return {self.pid}


Process = TypeVar("Process", bound=IsolatedProcess)


async def spawn(
    arguments: list[str],
    folder: Path,
    form: type[Process],
    variables: Mapping[str, str],
    descriptors: Sequence[int] = (),
) -> Process:
    """Starts the command in a folder, with these variables and a mark of its own. It inherits the descriptors."""
    mark = new_mark()
    with contextlib.ExitStack() as own_resources, contextlib.ExitStack() as child_resources:
        child_read, write_fd = _pipe(child_resources, own_resources)
        read_fd, child_write = _pipe(own_resources, child_resources)
        log_fd, child_log = _pipe(own_resources, child_resources)
        streams = (child_read, child_write, child_log)
        marked = {**variables, orphan_cleanup.VARIABLE: mark}
        process = ChildProcess(arguments, folder, marked, streams, descriptors)
        own_resources.pop_all()
    log, log_pipe = await _reader(log_fd)
    tree, group = ProcessTree(process.pid, mark), ControlGroup(mark, cgroup.cgroup_parent())
    return form(process.pid, read_fd, write_fd, log, log_pipe, process, tree, group)


def apply_process_limits(pid: int, open_files: int, niceness: int) -> None:
    """Sets niceness, OOM score and open-file limit of a process; its later children inherit them.

    This happens from outside, so that the start of the process does not wait for it.
    """
    with contextlib.suppress(ProcessLookupError, PermissionError):
        os.setpriority(os.PRIO_PROCESS, pid, os.getpriority(os.PRIO_PROCESS, 0) + niceness)
    if sys.platform == "linux":
        import resource  # Windows has no such module

        _set_session_niceness(pid, niceness)
        with contextlib.suppress(ProcessLookupError, PermissionError, ValueError):
            resource.prlimit(pid, resource.RLIMIT_NOFILE, (open_files, open_files))
        with contextlib.suppress(OSError), open(f"/proc/{pid}/oom_score_adj", "wb", 0) as file:
            file.write(_OOM_SCORE_ADJUSTMENT)


def _set_session_niceness(pid: int, niceness: int) -> None:
    """Sets the niceness of the process's session, which counts where the kernel divides the CPU by session.

    Without privileges it may be set only a few times per second, so it is left alone if it is set already.
    """
    with contextlib.suppress(OSError), open(f"/proc/{pid}/autogroup", "r+b", 0) as file:
        if not file.read().endswith(b" nice %d\n" % niceness):
            file.write(b"%d" % niceness)


def _pipe(reader: contextlib.ExitStack, writer: contextlib.ExitStack) -> tuple[int, int]:
    """Returns the two ends of a pipe. Each is closed with the stack of its owner."""
    read_fd, write_fd = os.pipe()
    reader.callback(os.close, read_fd)
    writer.callback(os.close, write_fd)
    return read_fd, write_fd


async def _reader(descriptor: int) -> tuple[asyncio.StreamReader, asyncio.BaseTransport]:
    """Opens the log with a pipe of our own.

    With the pipes of asyncio's process, `wait` would last until the last child has closed them.
    """
    reader = asyncio.StreamReader()
    loop = asyncio.get_running_loop()
    pipe, _ = await loop.connect_read_pipe(lambda: asyncio.StreamReaderProtocol(reader), Pipe(descriptor, loop))
    return reader, pipe
