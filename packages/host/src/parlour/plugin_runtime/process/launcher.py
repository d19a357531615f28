"""The port that starts a plugin's process, and its plain implementation. `bubblewrap` has the sandboxed one."""

import asyncio
import contextlib
import os
import resource
import signal
import sys
from collections.abc import Mapping, Sequence
from dataclasses import field
from pathlib import Path
from typing import Protocol, TypeVar

from parlour_sdk.protocol.manifest import PluginLimits
from parlour_sdk.values import dataclass
from parlour_sdk.wire import StdioTransport, Transport, WireLimits
from parlour_sdk.wire.pipe import Pipe

from . import cgroup, orphan_cleanup
from .cgroup import ControlGroup
from .child_process import ChildProcess
from .process_tree import ProcessInfo, ProcessTree
from .reaper import new_mark

FORWARDED_VARIABLES = ("PATH", "HOME", "LANG", "LC_ALL", "TZ", "TMPDIR", "VIRTUAL_ENV", "SYSTEMROOT", "PYTHONPATH")
"""Variables of the Host's environment that a plugin sees; none of them is a secret."""
DATA_VARIABLE = "PARLOUR_PLUGIN_DATA"
"""Variable that names the folder that a plugin may write to."""
_MAX_SCANS = 10
"""Maximum number of scans for new processes in a row."""
_OOM_SCORE_ADJUSTMENT = b"500"
"""OOM score adjustment: when the machine runs out of memory, the kernel is to kill a plugin and not its Host."""


@dataclass(frozen=True, slots=True)
class LaunchSpec:
    """Everything that is needed to start one plugin's process."""

    plugin_id: str
    folder: Path
    """Its code, which it may read."""
    data: Path
    """Its own folder, which it may write to."""
    python: Path = Path(sys.executable)
    """The interpreter of its environment."""
    limits: PluginLimits = field(default_factory=PluginLimits)
    network: tuple[str, ...] = ()
    """Hosts that it was granted; empty means no network."""


class LaunchRefused(OSError):
    """Raised when the process can't be started and another attempt would not change that."""


class PluginProcess(Protocol):
    """A started process: its wire, its log, its end, and its use of resources."""

    pid: int
    log: asyncio.StreamReader

    def wire(self, limits: WireLimits) -> Transport:
        """Opens the wire. Called once; the caller closes it."""
        ...

    async def apply_limits(self, open_files: int, niceness: int) -> int:
        """Applies limits to all current processes of the plugin and returns their number."""
        ...

    async def uses_more_than(self, memory_bytes: int) -> bool:
        """Returns whether it and all its descendants use more memory than this."""
        ...

    async def unlinked_bytes(self, folder: Path) -> int:
        """Returns the bytes of its open files that have no name any more, on the disk of this folder."""
        ...

    async def wait(self) -> int: ...

    async def terminate(self) -> None:
        """Asks its process group to end."""
        ...

    async def kill(self) -> None:
        """Kills it and all its descendants, including those that left its process group."""
        ...

    def close(self) -> None:
        """Closes its log, even if another process has the other end open, and removes its control group."""
        ...


class Launcher(Protocol):
    """Starts plugin processes."""

    async def launch(self, start: LaunchSpec) -> PluginProcess: ...


@dataclass(slots=True)
class PlainProcess:
    """A plugin's process without a sandbox."""

    pid: int
    read_fd: int
    write_fd: int
    log: asyncio.StreamReader
    log_pipe: asyncio.BaseTransport
    process: ChildProcess
    tree: ProcessTree
    group: ControlGroup

    def wire(self, limits: WireLimits) -> Transport:
        return StdioTransport(self.read_fd, self.write_fd, limits)

    async def apply_limits(self, open_files: int, niceness: int) -> int:
        return await asyncio.to_thread(self._apply_limits, open_files, niceness)  # in a thread, like all process scans

    def _apply_limits(self, open_files: int, niceness: int) -> int:
        """Scans until no new process is found, since one may be about to start another.

        The number of scans is limited.
        """
        done: set[int] = set()
        alive: set[int] = set()
        for _ in range(_MAX_SCANS):
            alive = {seen.pid for seen in self.tree.alive()}
            if not (found := alive - done):
                break
            for pid in found:
                apply_process_limits(pid, open_files, niceness)
            self.group.add(found, niceness)
            done |= found
        return len(alive)

    async def uses_more_than(self, memory_bytes: int) -> bool:
        if await asyncio.to_thread(self.tree.resident_bytes) <= memory_bytes:
            return False
        return await asyncio.to_thread(self.tree.proportional_bytes) > memory_bytes

    async def unlinked_bytes(self, folder: Path) -> int:
        return await asyncio.to_thread(lambda: self.tree.unlinked_bytes(folder.stat().st_dev))

    async def wait(self) -> int:
        return await self.process.wait()

    async def terminate(self) -> None:
        await asyncio.to_thread(self._signal, signal.SIGTERM)

    async def kill(self) -> None:
        await asyncio.to_thread(self._signal, signal.SIGKILL)
        await asyncio.to_thread(self.tree.kill)

    def close(self) -> None:
        self.log_pipe.close()
        self.group.close()

    def _signal(self, number: signal.Signals) -> None:
        for group in self._groups(self.tree.alive()):
            with contextlib.suppress(ProcessLookupError):
                os.killpg(group, number)

    def _groups(self, alive: list[ProcessInfo]) -> set[int]:
        """Returns the process groups to signal. The plugin leads its own, so its children are included."""
        return {self.pid}


Process = TypeVar("Process", bound=PlainProcess)


class PlainLauncher:
    """Starts a child process in its own group, with an allowlisted environment and no other restrictions."""

    async def launch(self, start: LaunchSpec) -> PluginProcess:
        return await spawn(command(start), start, PlainProcess, environment(start))


def apply_process_limits(pid: int, open_files: int, niceness: int) -> None:
    """Sets niceness, OOM score and open-file limit of a process; its later children inherit them.

    This happens from outside, so that the start of the process does not wait for it.
    """
    with contextlib.suppress(ProcessLookupError, PermissionError):
        os.setpriority(os.PRIO_PROCESS, pid, os.getpriority(os.PRIO_PROCESS, 0) + niceness)
    if sys.platform == "linux":
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


def command(start: LaunchSpec) -> list[str]:
    return [str(start.python), "-m", "parlour_sdk.worker", str(start.folder)]


async def spawn(
    arguments: list[str],
    start: LaunchSpec,
    form: type[Process],
    variables: Mapping[str, str],
    descriptors: Sequence[int] = (),
) -> Process:
    """Starts the command with these variables and a mark of its own. It inherits the descriptors."""
    mark = new_mark()
    with contextlib.ExitStack() as ours, contextlib.ExitStack() as the_childs:
        child_read, write_fd = _pipe(the_childs, ours)
        read_fd, child_write = _pipe(ours, the_childs)
        log_fd, child_log = _pipe(ours, the_childs)
        streams = (child_read, child_write, child_log)
        marked = {**variables, orphan_cleanup.VARIABLE: mark}
        process = ChildProcess(arguments, start.folder, marked, streams, descriptors)
        ours.pop_all()
    log, log_pipe = await _reader(log_fd)
    tree, group = ProcessTree(process.pid, mark), ControlGroup(mark, cgroup.cgroup_parent())
    return form(process.pid, read_fd, write_fd, log, log_pipe, process, tree, group)


def environment(start: LaunchSpec) -> dict[str, str]:
    """Returns the variables of a plugin without a sandbox. Its output is unbuffered, so its log is always current."""
    allowed = {name: os.environ[name] for name in FORWARDED_VARIABLES if name in os.environ}
    return {**allowed, DATA_VARIABLE: str(start.data), "PYTHONUNBUFFERED": "1"}


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
