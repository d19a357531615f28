"""A sandbox that is a child process of the Box, with the agent on its pipes, as bubblewrap and nsjail make it."""

import asyncio
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Final

from parlour.core.box.messages import SessionSpec
from parlour.isolation import resource_group
from parlour.isolation.process import IsolatedProcess, apply_process_limits, spawn
from parlour.isolation.resource_group import GroupHome, GroupLimits, ResourceGroup

from .agent_channel import AgentChannel
from .backend import Fields
from .errors import BoxError
from .inside import OPEN_FILES

START_SECONDS: Final = 30.0
NICENESS: Final = 5


class ProcessSandbox:
    """A sandbox, with the process of its agent and the control group of its processes."""

    def __init__(self, process: IsolatedProcess, group: ResourceGroup | None) -> None:
        self._process = process
        self._group = group
        self._channel: AgentChannel | None = None
        self._log_lines: list[str] = []
        self._kills = self._refused = 0

    @property
    def closed(self) -> asyncio.Event:
        assert self._channel is not None
        return self._channel.closed

    async def connect(self, on_event: Callable[[Fields], None]) -> None:
        """Waits until the agent answers, and puts all processes under their limits before the first command."""
        self._channel = await AgentChannel.open(self._process.read_fd, self._process.write_fd, on_event)
        async with asyncio.timeout(START_SECONDS):
            await self._channel.ready
        pids = [process.pid for process in self._process.tree.alive()]
        for pid in pids:
            apply_process_limits(pid, OPEN_FILES, NICENESS)
        if self._group is not None:
            self._group.add(pids)

    async def request(self, operation: str, fields: Fields) -> Fields:
        assert self._channel is not None
        return await self._channel.request(operation, fields)

    def death_reason(self) -> str:
        if self._group is None:
            return ""
        kills, refused = self._group.out_of_memory_kills(), self._group.refused_processes()
        reason = "memory" if kills > self._kills else "processes" if refused > self._refused else ""
        self._kills, self._refused = kills, refused
        return reason

    async def start_failure(self) -> str:
        """Returns the last words of a sandbox that did not start."""
        try:
            async with asyncio.timeout(1):
                lines = (await self._process.log.read(4096)).decode(errors="replace").strip().splitlines()
        except TimeoutError:
            lines = []
        return lines[-1] if lines else "it gave no reason"

    async def close(self) -> None:
        if self._channel is not None:
            self._channel.close()
        await self._process.kill()
        await self._process.wait()
        if self._group is not None:
            await asyncio.to_thread(self._group.remove)
        self._process.close()


class ProcessGroups:
    """The control groups of the sandboxes of one backend."""

    def __init__(self) -> None:
        self._home: GroupHome | None = resource_group.find_home()
        self._count = 0

    @property
    def kind(self) -> str:
        """What limits sandboxes: cgroup2, cgroup1 or rlimit."""
        return self._home.kind if self._home is not None else "rlimit"

    async def probe(self) -> None:
        """Tries to create a group. If that fails, there are none."""
        group = resource_group.create("probe", GroupLimits(64, 16, 1), self._home)
        if group is None:
            self._home = None
        else:
            await asyncio.to_thread(group.remove)

    async def remove_stale(self) -> int:
        """Removes the groups of processes that are gone, and returns their number."""
        return await asyncio.to_thread(resource_group.remove_stale, self._home)

    def create(self, spec: SessionSpec) -> ResourceGroup | None:
        self._count += 1
        return resource_group.create(
            f"{self._count}", GroupLimits(spec.memory_mb, spec.processes, spec.cpus), self._home
        )


async def start_process_sandbox(
    arguments: list[str],
    folder: Path,
    group: ResourceGroup | None,
    on_event: Callable[[Fields], None],
    descriptors: Sequence[int] = (),
) -> ProcessSandbox:
    """Starts the program that makes the sandbox, and waits for the agent. Raises BoxError."""
    try:
        process = await spawn(arguments, folder, IsolatedProcess, {}, descriptors)
    except OSError as error:
        if group is not None:
            group.remove()
        message = f"{Path(arguments[0]).name} can't be started: {error.strerror}"
        raise BoxError("backend_unavailable", message, retryable=True) from error
    sandbox = ProcessSandbox(process, group)
    try:
        await sandbox.connect(on_event)
    except (BoxError, TimeoutError) as error:
        reason = await sandbox.start_failure()
        await sandbox.close()
        raise BoxError("backend_unavailable", f"the sandbox did not start: {reason}", retryable=True) from error
    except BaseException:
        await sandbox.close()
        raise
    return sandbox
