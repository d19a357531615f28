"""One share of the processor for a plugin and all that comes from it, wherever it goes: a control group of the kernel.

Niceness alone is not enough: where the kernel shares the processor out by session, every child that opens a session of
its own gets a whole share for it until somebody looks. Where the Host may not make control groups, it has to do.
"""

import contextlib
import os
from collections.abc import Iterable
from functools import cache
from pathlib import Path

from parlour_sdk.values import dataclass

SYSTEM = Path("/sys/fs/cgroup")
OWN = Path("/proc/self/cgroup")
PREFIX = "parlour-"
_LESS_PER_NICENESS = 1.25
"""As the kernel reckons it."""


@dataclass(frozen=True, slots=True)
class Place:
    """Where control groups can be made."""

    folder: Path
    share: str
    """The file that says how much of the processor a group is given."""
    whole: int
    """What is there for a group that nobody has changed."""


class ControlGroup:
    """There once it holds somebody; gone with the last one it held and `close`."""

    def __init__(self, name: str, place: Place | None) -> None:
        self._place = place
        self._folder = place.folder / f"{PREFIX}{os.getpid()}-{name}" if place is not None else None

    def hold(self, pids: Iterable[int], niceness: int) -> None:
        """Whoever of them it does not hold yet. Blocks for some milliseconds at times."""
        if self._place is None or self._folder is None:
            return
        with contextlib.suppress(OSError):  # then niceness has to do
            if not self._folder.exists():
                self._folder.mkdir()
                share = max(2, round(self._place.whole / _LESS_PER_NICENESS**niceness))
                (self._folder / self._place.share).write_text(f"{share}")
            members = self._folder / "cgroup.procs"
            for pid in set(pids).difference(map(int, members.read_text().split())):
                with contextlib.suppress(OSError):  # it has just ended
                    members.write_text(f"{pid}")

    def close(self) -> None:
        if self._folder is not None:
            with contextlib.suppress(OSError):  # somebody is still in it; the next Host takes it away
                self._folder.rmdir()


@cache
def place() -> Place | None:
    """Of this Host. What an earlier one left is taken away."""
    found = find(OWN, SYSTEM)
    if found is not None:
        _sweep(found.folder)
    return found


def find(own: Path, system: Path) -> Place | None:
    """Below this process in a hierarchy of the first version, beside it in one of the second; or nowhere."""
    try:
        lines = [line.split(":", 2) for line in own.read_text().splitlines()]
    except OSError:
        return None
    for _, controllers, path in lines:
        if "cpu" in controllers.split(","):
            found = Place(system / controllers / path.lstrip("/"), "cpu.shares", 1024)
        elif not controllers:
            found = Place((system / path.lstrip("/")).parent, "cpu.weight", 100)
            if path == "/" or "cpu" not in _words(found.folder / "cgroup.subtree_control"):
                continue
        else:
            continue
        if os.access(found.folder, os.W_OK):
            return found
    return None


def _words(file: Path) -> list[str]:
    try:
        return file.read_text().split()
    except OSError:
        return []


def _sweep(folder: Path) -> None:
    """Of Hosts that are gone. A group that holds somebody can't be removed."""
    for left in folder.glob(f"{PREFIX}*"):
        host = left.name.removeprefix(PREFIX).partition("-")[0]
        if host.isdigit() and not Path("/proc", host).exists():
            with contextlib.suppress(OSError):
                left.rmdir()
