"""Finds a plugin's process and all its descendants in /proc. On systems other than Linux it finds nothing."""

import contextlib
import os
import signal
import stat
import time

from parlour_sdk.values import dataclass

from .orphan_cleanup import find_marked

_PAGE_BYTES = os.sysconf("SC_PAGE_SIZE")
_BLOCK_BYTES = 512
"""Unit of a file's `st_blocks`."""
_ROUNDS = 100
_PAUSE_SECONDS = 0.01
_PAUSE_FACTOR = 4
"""Length of a pause, as a multiple of the time that the work before it took."""


@dataclass(frozen=True, slots=True)
class ProcessInfo:
    """A running process."""

    pid: int
    start_time: int
    """Start time. Together with the pid it identifies a process: a pid is reused, this time is not."""
    resident_bytes: int


@dataclass(frozen=True, slots=True)
class UnlinkedFile:
    """An open file that has no name in any folder."""

    device: int
    inode: int
    bytes: int
    in_memory: bool


class ProcessTree:
    """Remembers the processes it has found, so that a child is still known after its parent has exited."""

    def __init__(self, pid: int, mark: str) -> None:
        self._mark = mark
        root = _read_process(pid)
        self._start_times: dict[int, int] = {root.pid: root.start_time} if root else {}

    def alive(self) -> list[ProcessInfo]:
        """Returns all running processes of the tree, including newly found ones."""
        processes: dict[int, ProcessInfo] = {}
        to_see = list(self._start_times)
        while to_see:
            process = _read_process(pid := to_see.pop())
            if process is not None and self._start_times.get(pid, process.start_time) == process.start_time:
                processes[pid] = process
                to_see += [child for child in _children(pid) if child not in processes]
        self._start_times = {process.pid: process.start_time for process in processes.values()}
        return list(processes.values())

    def resident_bytes(self) -> int:
        """Returns the memory, quickly and rather too much.

        Memory that processes share counts for each of them, and once more if it is a file.
        """
        alive = self.alive()
        return sum(process.resident_bytes for process in alive) + _memory_file_bytes(alive)

    def proportional_bytes(self) -> int:
        """Returns the memory, with shared memory counted once.

        The kernel takes a while for each process, so there is a pause after each.
        """
        total = shared = 0
        alive = self.alive()
        for process in alive:
            started_at = time.monotonic()
            share, of_files = _proportional_share(process)
            total, shared = total + share, shared + of_files
            time.sleep(_PAUSE_FACTOR * (time.monotonic() - started_at))
        return total + max(0, _memory_file_bytes(alive) - shared)  # a file in memory counts, mapped or not

    def unlinked_bytes(self, device: int) -> int:
        """Returns the bytes of open files on this device that have no name any more."""
        return sum(file.bytes for file in _unlinked_files(self.alive()) if file.device == device)

    def kill(self) -> None:
        """Kills all processes and blocks until they are gone, for a second at most."""
        for _ in range(_ROUNDS):
            alive = {process.pid for process in self.alive()} | find_marked(self._mark)
            if not alive:
                return
            for pid in alive:
                with contextlib.suppress(ProcessLookupError, PermissionError):
                    os.kill(pid, signal.SIGKILL)
            time.sleep(_PAUSE_SECONDS)


def _read_process(pid: int) -> ProcessInfo | None:
    """Returns the process, or None if it has exited or is a zombie."""
    try:
        with open(f"/proc/{pid}/stat", "rb") as file:
            fields = file.read().rpartition(b")")[2].split()  # the name in brackets may contain anything
    except OSError:
        return None
    if len(fields) < 22 or fields[0] in (b"Z", b"X"):
        return None
    return ProcessInfo(pid, int(fields[19]), int(fields[21]) * _PAGE_BYTES)


def _children(pid: int) -> list[int]:
    children: list[int] = []
    with contextlib.suppress(OSError):
        for thread in os.listdir(f"/proc/{pid}/task"):
            with contextlib.suppress(OSError), open(f"/proc/{pid}/task/{thread}/children", "rb") as file:
                children += map(int, file.read().split())
    return children


def _proportional_share(process: ProcessInfo) -> tuple[int, int]:
    """Returns the memory of a process in bytes, and how much of it is mapped files in memory."""
    try:
        with open(f"/proc/{process.pid}/smaps_rollup", "rb") as file:
            values = {line.split()[0]: int(line.split()[1]) * 1024 for line in file if line.startswith(b"Pss")}
    except OSError:
        values = {}
    if b"Pss:" in values:
        return values[b"Pss:"], values.get(b"Pss_Shmem:", values[b"Pss:"])
    # Not permitted, not known to this kernel, or exited since; then its earlier memory does not count any more.
    now = _read_process(process.pid)
    resident = now.resident_bytes if now is not None and now.start_time == process.start_time else 0
    return resident, resident


def _memory_file_bytes(processes: list[ProcessInfo]) -> int:
    return sum(file.bytes for file in _unlinked_files(processes) if file.in_memory)


def _unlinked_files(processes: list[ProcessInfo]) -> set[UnlinkedFile]:
    """Returns the files without a name. They can only be found through the processes that have opened them."""
    files: set[UnlinkedFile] = set()
    for process in processes:
        with contextlib.suppress(OSError):
            for number in os.listdir(f"/proc/{process.pid}/fd"):
                with contextlib.suppress(OSError):  # closed since
                    _add_unlinked_file(files, f"/proc/{process.pid}/fd/{number}")
    return files


def _add_unlinked_file(files: set[UnlinkedFile], path: str) -> None:
    file = os.stat(path)
    if stat.S_ISREG(file.st_mode) and file.st_nlink == 0 and file.st_blocks:
        in_memory = os.readlink(path).startswith("/memfd:")
        files.add(UnlinkedFile(file.st_dev, file.st_ino, file.st_blocks * _BLOCK_BYTES, in_memory))
