"""Limits memory, processes and CPU of a group of processes by control groups of the kernel, version 2 or 1.

Where no control group can be created, `create` returns None, and resource limits of single processes have to suffice.
"""

import contextlib
import os
import signal
import time
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Literal

from parlour_sdk.values import dataclass

from .cgroup import CGROUP_ROOT, OWN_CGROUP_FILE

PREFIX = "parlour-box-"
CONTROLLERS = ("memory", "pids", "cpu")
CPU_PERIOD_MICROSECONDS = 100_000
_KILL_ROUNDS = 100
_KILL_PAUSE_SECONDS = 0.01

GroupKind = Literal["cgroup2", "cgroup1"]


@dataclass(frozen=True, slots=True)
class GroupLimits:
    """What the processes of a group may use together."""

    memory_mb: int
    processes: int
    cpus: float


@dataclass(frozen=True, slots=True)
class GroupHome:
    """The folders in which groups can be created: one for all controllers, or one for each."""

    kind: GroupKind
    folders: tuple[Path, ...]


def find_home(own_cgroup_file: Path = OWN_CGROUP_FILE, system: Path = CGROUP_ROOT) -> GroupHome | None:
    """Returns where this process can create groups with all three limits, or None."""
    try:
        lines = [line.split(":", 2) for line in own_cgroup_file.read_text().splitlines()]
    except OSError:
        return None
    by_controller = {name: (controllers, path) for _, controllers, path in lines for name in controllers.split(",")}
    if all(name in by_controller for name in CONTROLLERS):
        places = [by_controller[name] for name in CONTROLLERS]
        folders = tuple(dict.fromkeys(system / controllers / path.lstrip("/") for controllers, path in places))
        return GroupHome("cgroup1", folders) if all(os.access(folder, os.W_OK) for folder in folders) else None
    if "" not in by_controller:
        return None
    folder = (system / by_controller[""][1].lstrip("/")).parent
    with contextlib.suppress(OSError):
        available = (folder / "cgroup.subtree_control").read_text().split()
        if by_controller[""][1] != "/" and set(CONTROLLERS) <= set(available) and os.access(folder, os.W_OK):
            return GroupHome("cgroup2", (folder,))
    return None


def create(name: str, limits: GroupLimits, home: GroupHome | None) -> "ResourceGroup | None":
    """Creates a group, or returns None if that is not possible here."""
    if home is None:
        return None
    group = ResourceGroup(home.kind, tuple(folder / f"{PREFIX}{os.getpid()}-{name}" for folder in home.folders))
    try:
        group.apply(limits)
    except OSError:
        group.remove()
        return None
    return group


def remove_stale(home: GroupHome | None) -> int:
    """Kills and removes the groups of processes that have exited. Returns their number."""
    removed = 0
    for folder in home.folders if home is not None else ():
        for stale in folder.glob(f"{PREFIX}*"):
            owner = stale.name.removeprefix(PREFIX).partition("-")[0]
            if owner.isdigit() and not Path("/proc", owner).exists():
                ResourceGroup("cgroup1", (stale,)).remove()
                removed += 1
    return removed


class ResourceGroup:
    """A control group with limits. `remove` kills its members."""

    def __init__(self, kind: GroupKind, folders: tuple[Path, ...]) -> None:
        self.kind = kind
        self._folders = folders

    def apply(self, limits: GroupLimits) -> None:
        """Creates the group and sets its limits. Raises OSError."""
        memory, quota = limits.memory_mb * 1024 * 1024, round(limits.cpus * CPU_PERIOD_MICROSECONDS)
        for folder in self._folders:
            folder.mkdir(exist_ok=True)
        if self.kind == "cgroup2":
            values = {
                "memory.max": memory,
                "pids.max": limits.processes,
                "cpu.max": f"{quota} {CPU_PERIOD_MICROSECONDS}",
            }
            optional: dict[str, object] = {"memory.swap.max": 0}
        else:
            values = {
                "memory.limit_in_bytes": memory,
                "pids.max": limits.processes,
                "cpu.cfs_period_us": CPU_PERIOD_MICROSECONDS,
                "cpu.cfs_quota_us": quota,
            }
            optional = {"memory.memsw.limit_in_bytes": memory}
        for file, value in values.items():
            self._path(file).write_text(f"{value}")
        for file, value in optional.items():
            with contextlib.suppress(OSError):  # without accounting of swap
                self._path(file).write_text(f"{value}")

    def add(self, pids: Iterable[int]) -> None:
        """Adds processes; their later children belong to the group, too."""
        for pid in pids:
            for folder in self._folders:
                with contextlib.suppress(ProcessLookupError):
                    (folder / "cgroup.procs").write_text(f"{pid}")

    def out_of_memory_kills(self) -> int:
        """Returns how many of its processes were killed because the group had no memory left."""
        file = "memory.events" if self.kind == "cgroup2" else "memory.oom_control"
        return self._counter(file, "oom_kill")

    def refused_processes(self) -> int:
        """Returns how often a process could not be started because of the limit."""
        return self._counter("pids.events", "max")

    def remove(self) -> None:
        """Kills all members and removes the group. May block for about a second, and then gives up without an error."""
        for _ in range(_KILL_ROUNDS):
            members = list(self._members())
            for pid in members:
                with contextlib.suppress(ProcessLookupError):
                    os.kill(pid, signal.SIGKILL)
            if not members and self._remove_folders():
                return
            time.sleep(_KILL_PAUSE_SECONDS)

    def _remove_folders(self) -> bool:
        for folder in self._folders:
            with contextlib.suppress(OSError):
                folder.rmdir()
        return not any(folder.exists() for folder in self._folders)

    def _members(self) -> Iterator[int]:
        for folder in self._folders:
            with contextlib.suppress(OSError):
                yield from map(int, (folder / "cgroup.procs").read_text().split())

    def _path(self, file: str) -> Path:
        """Returns the path of a control file: in the folder of its controller, or in the only one."""
        if self.kind == "cgroup2":
            return self._folders[0] / file
        controller = file.partition(".")[0]
        return next(
            (folder / file for folder in self._folders if (folder / file).exists()), self._folders[0] / controller
        )

    def _counter(self, file: str, name: str) -> int:
        try:
            fields = dict(line.split(" ", 1) for line in self._path(file).read_text().splitlines() if " " in line)
            return int(fields.get(name, 0))
        except (OSError, ValueError):
            return 0
