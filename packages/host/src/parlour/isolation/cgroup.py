"""Gives a plugin and all its descendants one share of the CPU, with a control group of the kernel.

Niceness alone is not enough: where the kernel divides the CPU by session, every child that opens a session of its own
gets a whole share until the next check. Where the Host may not create control groups, niceness has to suffice.
"""

import contextlib
import os
from collections.abc import Iterable
from functools import cache
from pathlib import Path

from parlour_sdk.values import dataclass

CGROUP_ROOT = Path("/sys/fs/cgroup")
OWN_CGROUP_FILE = Path("/proc/self/cgroup")
PREFIX = "parlour-"
_SHARE_FACTOR_PER_NICENESS = 1.25
"""Factor by which one step of niceness reduces a share, as in the kernel."""


@dataclass(frozen=True, slots=True)
class CgroupParent:
    """A folder in which control groups can be created."""

    folder: Path
    share_file: str
    """Name of the file that sets a group's share of the CPU."""
    default_share: int
    """Share of a group that was not changed."""


class ControlGroup:
    """A control group. It is created with its first member, and removed by `close` once the last member has exited."""

    def __init__(self, name: str, parent: CgroupParent | None) -> None:
        self._parent = parent
        self._folder = parent.folder / f"{PREFIX}{os.getpid()}-{name}" if parent is not None else None

    def add(self, pids: Iterable[int], niceness: int) -> None:
        """Adds the processes that are not members yet. May block for some milliseconds."""
        if self._parent is None or self._folder is None:
            return
        with contextlib.suppress(OSError):  # niceness has to suffice then
            if not self._folder.exists():
                self._folder.mkdir()
                share = max(2, round(self._parent.default_share / _SHARE_FACTOR_PER_NICENESS**niceness))
                (self._folder / self._parent.share_file).write_text(f"{share}")
            members = self._folder / "cgroup.procs"
            for pid in set(pids).difference(map(int, members.read_text().split())):
                with contextlib.suppress(OSError):  # it has just ended
                    members.write_text(f"{pid}")

    def close(self) -> None:
        if self._folder is not None:
            with contextlib.suppress(OSError):  # it still has members; the next Host removes it
                self._folder.rmdir()


@cache
def cgroup_parent() -> CgroupParent | None:
    """Returns the place for this Host's control groups, or None. Removes groups that earlier Hosts have left."""
    parent = find_cgroup_parent(OWN_CGROUP_FILE, CGROUP_ROOT)
    if parent is not None:
        _remove_stale_groups(parent.folder)
    return parent


def find_cgroup_parent(own_cgroup_file: Path, system: Path) -> CgroupParent | None:
    """Returns the place for control groups: below this process with cgroup v1, beside it with v2, or None."""
    try:
        lines = [line.split(":", 2) for line in own_cgroup_file.read_text().splitlines()]
    except OSError:
        return None
    for _, controllers, path in lines:
        if "cpu" in controllers.split(","):
            parent = CgroupParent(system / controllers / path.lstrip("/"), "cpu.shares", 1024)
        elif not controllers:
            parent = CgroupParent((system / path.lstrip("/")).parent, "cpu.weight", 100)
            if path == "/" or "cpu" not in _read_fields(parent.folder / "cgroup.subtree_control"):
                continue
        else:
            continue
        if os.access(parent.folder, os.W_OK):
            return parent
    return None


def _read_fields(file: Path) -> list[str]:
    try:
        return file.read_text().split()
    except OSError:
        return []


def _remove_stale_groups(folder: Path) -> None:
    """Removes the groups of Hosts that have exited. A group with members can't be removed."""
    for stale in folder.glob(f"{PREFIX}*"):
        host = stale.name.removeprefix(PREFIX).partition("-")[0]
        if host.isdigit() and not Path("/proc", host).exists():
            with contextlib.suppress(OSError):
                stale.rmdir()
