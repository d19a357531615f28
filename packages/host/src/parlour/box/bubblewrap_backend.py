"""Runs each session in a bubblewrap sandbox with an agent inside, so that all tools see one file system."""

import asyncio
import json
import sys
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Final

from parlour.core.box.messages import SessionSpec
from parlour.isolation import resource_group
from parlour.isolation.availability import SandboxUnavailable, find_bubblewrap, working_bubblewrap
from parlour.isolation.bubblewrap import Bubblewrap
from parlour.isolation.mounts import Mount, network_mounts, read_only, system_mounts
from parlour.isolation.process import IsolatedProcess, apply_process_limits, spawn
from parlour.isolation.resource_group import GroupLimits, ResourceGroup
from parlour.isolation.sandbox_spec import SandboxLimits, SandboxSpec

from .agent_channel import AgentChannel
from .backend import BackendInfo, BackendUnavailable, Fields, SandboxFolders
from .errors import BoxError
from .mount_policy import MountPolicy

AGENT: Final = Path(__file__).parent / "agent"
SETTINGS: Final = Path(__file__).parent / "etc"
AGENT_INSIDE: Final = Path("/run/parlour-agent")
WORKSPACE_INSIDE: Final = Path("/workspace")
SKILLS_INSIDE: Final = WORKSPACE_INSIDE / ".skills"
SKILL_FOLDER_BYTES: Final = 1024 * 1024
UV_INSIDE: Final = Path("/run/parlour-uv")
WHEELS_INSIDE: Final = Path("/run/parlour-wheels")
START_SECONDS: Final = 30.0
OPEN_FILES: Final = 1024
NICENESS: Final = 5
MEBIBYTE: Final = 1024 * 1024
PYTHON: Final = Path(sys.executable).resolve()
PATH: Final = f"/usr/local/bin:/usr/bin:/bin:{PYTHON.parent}"


class BubblewrapSandbox:
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


class BubblewrapBackend:
    """Starts sandboxes with bubblewrap."""

    def __init__(
        self,
        program: Path | None,
        hidden: tuple[Path, ...],
        quota: str,
        tools: Sequence[Mount] = (),
        mount_roots: Sequence[Path] = (),
    ) -> None:
        """`tools` are further mounts of every sandbox; below `mount_roots` sessions may show files of the machine."""
        self._mounts = MountPolicy(mount_roots, hidden)
        self._program = program
        self._tools = tools
        self._hidden = hidden
        self._quota = quota
        self._home = resource_group.find_home()
        self._bubblewrap: Bubblewrap | None = None
        self._count = 0

    async def probe(self) -> BackendInfo:
        try:
            program = find_bubblewrap(self._program)
            if program is None:
                raise BackendUnavailable(f"the setting names '{self._program}', which is no program", "correct it")
            probe = SandboxSpec(["/bin/true"], system_mounts())
            self._bubblewrap, unfiltered = await working_bubblewrap(program, self._hidden, probe)
        except SandboxUnavailable as missing:
            raise BackendUnavailable(missing.reason, missing.remedy, missing.command) from missing
        await asyncio.to_thread(resource_group.remove_stale, self._home)
        group = resource_group.create("probe", GroupLimits(64, 16, 1), self._home)
        if group is None:
            self._home = None
        else:
            await asyncio.to_thread(group.remove)
        limits = self._home.kind if self._home is not None else "rlimit"
        notices = [
            f"system calls are not filtered: {unfiltered}" if unfiltered else "",
            "" if self._home is not None else "memory is limited per process only: no control group can be created",
        ]
        return BackendInfo("bubblewrap", str(program), limits, self._quota, "; ".join(filter(None, notices)))

    async def start(
        self, spec: SessionSpec, folders: SandboxFolders, on_event: Callable[[Fields], None]
    ) -> BubblewrapSandbox:
        if self._bubblewrap is None:
            raise BoxError("not_ready", "the backend was not probed", retryable=True)
        self._count += 1
        limits = GroupLimits(spec.memory_mb, spec.processes, spec.cpus)
        group = resource_group.create(f"{self._count}", limits, self._home)
        try:
            with self._mounts.open(spec.mounts) as (shown, opened):
                wanted = _sandbox_spec(spec, folders, [*self._tools, *shown], group is None)
                with self._bubblewrap.wrap(wanted) as command:
                    inherited = (*command.descriptors, *opened)
                    process = await spawn(command.arguments, folders.workspace, IsolatedProcess, {}, inherited)
        except BoxError:
            if group is not None:
                group.remove()
            raise
        except OSError as error:
            if group is not None:
                group.remove()
            raise BoxError("backend_unavailable", f"bubblewrap can't be started: {error.strerror}", True) from error
        sandbox = BubblewrapSandbox(process, group)
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

    async def close(self) -> None:
        await asyncio.to_thread(resource_group.remove_stale, self._home)


def python_tools(uv: Path | None, wheels: Path | None) -> list[Mount]:
    """Returns mounts of what installs Python packages inside: uv, and wheels that need no network."""
    mounts = [read_only(uv, UV_INSIDE)] if uv is not None else []
    return [*mounts, read_only(wheels, WHEELS_INSIDE)] if wheels is not None and wheels.is_dir() else mounts


def _skill_mounts(skills: Mapping[str, Path]) -> list[Mount]:
    """Returns the mounts of skills, in a folder of their own that covers that of the workspace."""
    if not skills:
        return []
    cover = Mount(SKILLS_INSIDE, ("--size", str(SKILL_FOLDER_BYTES), "--tmpfs", str(SKILLS_INSIDE)), is_sealed=True)
    return [cover, *(read_only(folder, SKILLS_INSIDE / name) for name, folder in skills.items())]


def _sandbox_spec(
    spec: SessionSpec, folders: SandboxFolders, tools: Sequence[Mount], without_group: bool
) -> SandboxSpec:
    bind = "--ro-bind" if spec.read_only else "--bind"
    mounts = [
        *system_mounts(),
        *(network_mounts() if spec.network else [read_only(SETTINGS / "hosts", Path("/etc/hosts"))]),
        *(read_only(SETTINGS / name, Path("/etc", name)) for name in ("passwd", "group", "nsswitch.conf")),
        read_only(AGENT, AGENT_INSIDE),
        Mount(WORKSPACE_INSIDE, (bind, str(folders.workspace), str(WORKSPACE_INSIDE))),
        *tools,
        *_skill_mounts(folders.skills),
    ]
    limits = {"RLIMIT_CORE": 0}
    if without_group:
        limits |= {"RLIMIT_AS": spec.memory_mb * MEBIBYTE, "RLIMIT_NPROC": spec.processes}
    return SandboxSpec(
        [str(PYTHON), "-I", "-S", str(AGENT_INSIDE), json.dumps(limits)],
        mounts,
        WORKSPACE_INSIDE,
        {"PATH": PATH, "HOME": str(WORKSPACE_INSIDE), "TMPDIR": "/tmp", "USER": "box", "LANG": "C.UTF-8"},
        network=spec.network,
        host_name="box",
        limits=SandboxLimits(min(256, spec.memory_mb // 2), 64),
    )
