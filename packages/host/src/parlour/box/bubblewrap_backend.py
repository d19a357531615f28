"""Runs each session in a bubblewrap sandbox with an agent inside, so that all tools see one file system."""

import asyncio
import json
import os
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Final

from parlour.core.box.messages import SessionSpec
from parlour.isolation.availability import SandboxUnavailable, find_bubblewrap, working_bubblewrap
from parlour.isolation.bubblewrap import Bubblewrap
from parlour.isolation.mounts import Mount, network_mounts, read_only, system_mounts
from parlour.isolation.sandbox_spec import SandboxLimits, SandboxSpec

from .backend import BackendInfo, BackendUnavailable, Fields, Problem, SandboxFolders
from .errors import BoxError
from .inside import (
    AGENT,
    AGENT_INSIDE,
    ENVIRONMENT,
    MEBIBYTE,
    PYTHON,
    SHARED_MEMORY_MB,
    SKILL_FOLDER_BYTES,
    SKILLS_INSIDE,
    WORKSPACE_INSIDE,
    ShownPath,
    resource_limits,
    temporary_mb,
)
from .mount_policy import MountPolicy
from .ownership import give
from .process_sandbox import ProcessGroups, ProcessSandbox, start_process_sandbox

SETTINGS: Final = Path(__file__).parent / "etc"
GROUPLESS_NOTICE: Final = "memory is limited per process only: no control group can be created"
PATH: Final = f"/usr/local/bin:/usr/bin:/bin:{PYTHON.parent}"


class BubblewrapBackend:
    """Starts sandboxes with bubblewrap."""

    def __init__(
        self,
        program: Path | None,
        hidden: tuple[Path, ...],
        tools: Sequence[ShownPath] = (),
        mount_roots: Sequence[Path] = (),
    ) -> None:
        """`tools` are shown in every sandbox; below `mount_roots` sessions may show files of the machine."""
        self._mounts = MountPolicy(mount_roots, hidden)
        self._program = program
        self._tools = [read_only(tool.source, tool.target) for tool in tools]
        self._hidden = hidden
        self._groups = ProcessGroups()
        self._bubblewrap: Bubblewrap | None = None

    async def probe(self) -> BackendInfo:
        try:
            program = find_bubblewrap(self._program)
            if program is None:
                reason = f"the setting names '{self._program}', which is no program"
                raise BackendUnavailable(reason, "correct it", problem="not_installed")
            probe = SandboxSpec(["/bin/true"], system_mounts())
            self._bubblewrap, unfiltered = await working_bubblewrap(program, self._hidden, probe)
        except SandboxUnavailable as missing:
            problem: Problem = "not_installed" if missing.is_missing else "failed"
            raise BackendUnavailable(missing.reason, missing.remedy, missing.command, problem) from missing
        await self._groups.probe()
        notices = [
            f"system calls are not filtered: {unfiltered}" if unfiltered else "",
            GROUPLESS_NOTICE if self._groups.kind == "rlimit" else "",
        ]
        return BackendInfo("bubblewrap", str(program), self._groups.kind, "", "; ".join(filter(None, notices)))

    async def remove_orphans(self) -> int:
        return await self._groups.remove_stale()

    async def start(
        self, spec: SessionSpec, folders: SandboxFolders, on_event: Callable[[Fields], None]
    ) -> ProcessSandbox:
        if self._bubblewrap is None:
            raise BoxError("not_ready", "the backend was not probed", retryable=True)
        await asyncio.to_thread(give, folders.workspace, os.geteuid(), os.getegid())
        with self._mounts.open(spec.mounts) as (shown, opened):
            group = self._groups.create(spec)
            wanted = _sandbox_spec(spec, folders, [*self._tools, *shown], group is None)
            with self._bubblewrap.wrap(wanted) as command:
                inherited = (*command.descriptors, *opened)
                return await start_process_sandbox(command.arguments, folders.workspace, group, on_event, inherited)

    async def close(self) -> None:
        await self._groups.remove_stale()


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
    workspace = Mount(WORKSPACE_INSIDE, (bind, str(folders.workspace), str(WORKSPACE_INSIDE)))
    if folders.memory_mb:
        size = ("--size", str(folders.memory_mb * MEBIBYTE))
        workspace = Mount(WORKSPACE_INSIDE, (*size, "--tmpfs", str(WORKSPACE_INSIDE)))
    mounts = [
        *system_mounts(),
        *(network_mounts() if spec.network else [read_only(SETTINGS / "hosts", Path("/etc/hosts"))]),
        *(read_only(SETTINGS / name, Path("/etc", name)) for name in ("passwd", "group", "nsswitch.conf")),
        read_only(AGENT, AGENT_INSIDE),
        workspace,
        *tools,
        *_skill_mounts(folders.skills),
    ]
    limits = {"RLIMIT_CORE": 0}
    if without_group:
        limits |= resource_limits(spec.memory_mb, spec.processes)
    return SandboxSpec(
        [str(PYTHON), "-I", "-S", str(AGENT_INSIDE), json.dumps(limits)],
        mounts,
        WORKSPACE_INSIDE,
        {"PATH": PATH, **ENVIRONMENT},
        network=spec.network,
        host_name="box",
        limits=SandboxLimits(temporary_mb(spec.memory_mb), SHARED_MEMORY_MB),
    )
