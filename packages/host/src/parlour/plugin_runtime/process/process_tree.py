"""A plugin's process and all that came from it, as the kernel tells. Elsewhere than on Linux nothing is to be seen."""

import contextlib
import os
import signal
import stat
import time

from parlour_sdk.values import dataclass

from .orphan_cleanup import marked

_PAGE_BYTES = os.sysconf("SC_PAGE_SIZE")
_BLOCK_BYTES = 512
"""The unit in which a file's blocks are told."""
_ROUNDS = 100
_PAUSE_SECONDS = 0.01
_RESTS = 4
"""How much longer than it worked."""


@dataclass(frozen=True, slots=True)
class Seen:
    pid: int
    started: int
    """With the pid it names one process: a pid is used again, this moment is not."""
    resident_bytes: int


@dataclass(frozen=True, slots=True)
class Nameless:
    """A file that is open and in no folder."""

    device: int
    inode: int
    bytes: int
    in_memory: bool


class ProcessTree:
    """Remembers whom it saw, so that a child is still known when its parent is gone."""

    def __init__(self, pid: int, mark: str) -> None:
        self._mark = mark
        root = _look(pid)
        self._known: dict[int, int] = {root.pid: root.started} if root else {}

    def alive(self) -> list[Seen]:
        """Every process of the tree that lives, newly found ones included."""
        found: dict[int, Seen] = {}
        to_see = list(self._known)
        while to_see:
            seen = _look(pid := to_see.pop())
            if seen is not None and self._known.get(pid, seen.started) == seen.started:
                found[pid] = seen
                to_see += [child for child in _children(pid) if child not in found]
        self._known = {seen.pid: seen.started for seen in found.values()}
        return list(found.values())

    def resident_bytes(self) -> int:
        """Quickly told; what processes share is counted for each of them, and once more where it is a file."""
        alive = self.alive()
        return sum(seen.resident_bytes for seen in alive) + _in_memory(alive)

    def proportional_bytes(self) -> int:
        """What processes share is counted once. Takes the kernel a while for each, so it rests between them."""
        total = shared = 0
        alive = self.alive()
        for seen in alive:
            begun = time.monotonic()
            share, of_files = _own_share(seen)
            total, shared = total + share, shared + of_files
            time.sleep(_RESTS * (time.monotonic() - begun))
        return total + max(0, _in_memory(alive) - shared)  # a file in memory is theirs, mapped or not

    def unlinked_bytes(self, device: int) -> int:
        """What files take on this device that are open and have no name any more."""
        return sum(file.bytes for file in _nameless(self.alive()) if file.device == device)

    def kill(self) -> None:
        """Blocks for as long as it takes to see them gone, a second at most."""
        for _ in range(_ROUNDS):
            alive = {seen.pid for seen in self.alive()} | marked(self._mark)
            if not alive:
                return
            for pid in alive:
                with contextlib.suppress(ProcessLookupError, PermissionError):
                    os.kill(pid, signal.SIGKILL)
            time.sleep(_PAUSE_SECONDS)


def _look(pid: int) -> Seen | None:
    """None for one that is gone or only waits to be buried."""
    try:
        with open(f"/proc/{pid}/stat", "rb") as file:
            fields = file.read().rpartition(b")")[2].split()  # its name, in brackets, can hold anything
    except OSError:
        return None
    if len(fields) < 22 or fields[0] in (b"Z", b"X"):
        return None
    return Seen(pid, int(fields[19]), int(fields[21]) * _PAGE_BYTES)


def _children(pid: int) -> list[int]:
    children: list[int] = []
    with contextlib.suppress(OSError):
        for thread in os.listdir(f"/proc/{pid}/task"):
            with contextlib.suppress(OSError), open(f"/proc/{pid}/task/{thread}/children", "rb") as file:
                children += map(int, file.read().split())
    return children


def _own_share(seen: Seen) -> tuple[int, int]:
    """In bytes, and how much of it is mapped files in memory."""
    try:
        with open(f"/proc/{seen.pid}/smaps_rollup", "rb") as file:
            found = {line.split()[0]: int(line.split()[1]) * 1024 for line in file if line.startswith(b"Pss")}
    except OSError:
        found = {}
    if b"Pss:" in found:
        return found[b"Pss:"], found.get(b"Pss_Shmem:", found[b"Pss:"])
    # Refused, or unknown to this kernel, or gone meanwhile: then what it had when it was seen is nobody's any more.
    now = _look(seen.pid)
    resident = now.resident_bytes if now is not None and now.started == seen.started else 0
    return resident, resident


def _in_memory(processes: list[Seen]) -> int:
    return sum(file.bytes for file in _nameless(processes) if file.in_memory)


def _nameless(processes: list[Seen]) -> set[Nameless]:
    """Files that nobody finds by looking for them, since only those who have opened them have them."""
    found: set[Nameless] = set()
    for seen in processes:
        with contextlib.suppress(OSError):
            for number in os.listdir(f"/proc/{seen.pid}/fd"):
                with contextlib.suppress(OSError):  # closed meanwhile
                    _add_nameless(found, f"/proc/{seen.pid}/fd/{number}")
    return found


def _add_nameless(found: set[Nameless], path: str) -> None:
    file = os.stat(path)
    if stat.S_ISREG(file.st_mode) and file.st_nlink == 0 and file.st_blocks:
        in_memory = os.readlink(path).startswith("/memfd:")
        found.add(Nameless(file.st_dev, file.st_ino, file.st_blocks * _BLOCK_BYTES, in_memory))
