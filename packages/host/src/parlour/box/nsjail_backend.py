"""Runs each session in a sandbox of nsjail, with the agent inside, where its program is installed."""

import asyncio
import json
import os
import shutil
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Final

from parlour.core.box.messages import SessionSpec
from parlour.isolation import subprocesses
from parlour.isolation.mounts import SETTINGS as SYSTEM_SETTINGS
from parlour.isolation.mounts import SYSTEM

from .backend import BackendInfo, BackendUnavailable, Fields, SandboxFolders
from .bubblewrap_backend import GROUPLESS_NOTICE, PATH, SETTINGS
from .errors import BoxError
from .inside import (
    AGENT,
    AGENT_INSIDE,
    ENVIRONMENT,
    MEBIBYTE,
    OPEN_FILES,
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

PROBE_SECONDS: Final = 30.0
DEVICES: Final = ("/dev/null", "/dev/zero", "/dev/full", "/dev/random", "/dev/urandom")
NETWORK_SETTINGS: Final = ("/etc/resolv.conf", "/etc/hosts")
SYSTEM_CALLS: Final = (
    "ERRNO(1) { mount, umount, pivot_root, unshare, setns, bpf, keyctl, add_key, request_key, perf_event_open, "
    "userfaultfd, kexec_load } DEFAULT ALLOW"
)
"""Policy in nsjail's language."""


class NsjailBackend:
    """Starts sandboxes with nsjail."""

    def __init__(self, tools: Sequence[ShownPath] = (), mounts: MountPolicy | None = None) -> None:
        self._tools = tools
        self._mounts = mounts or MountPolicy((), ())
        self._program = ""
        self._groups = ProcessGroups()

    async def probe(self) -> BackendInfo:
        program = shutil.which("nsjail")
        if program is None:
            remedy = "install it from github.com/google/nsjail; distributions have no package of it"
            raise BackendUnavailable("nsjail is not installed", remedy, problem="not_installed")
        await self._groups.probe()
        spec = SessionSpec(session_id="probe", cpus=1, memory_mb=128, processes=32)
        arguments = [program, *isolation_arguments(spec), *system_arguments(spec.network), "--", "/bin/true"]
        try:
            async with asyncio.timeout(PROBE_SECONDS):
                finished = await subprocesses.run(arguments, {})
        except (OSError, TimeoutError) as error:
            reason = f"nsjail can't be run ({error})"
            raise BackendUnavailable(reason, "run it by hand to see why") from error
        if finished.status != 0:
            last = finished.lines[-1][:300] if finished.lines else f"exit status {finished.status}"
            raise BackendUnavailable(f"nsjail can't make a sandbox here ({last})", "run it by hand to see why")
        self._program = program
        notice = GROUPLESS_NOTICE if self._groups.kind == "rlimit" else ""
        return BackendInfo("nsjail", program, self._groups.kind, "", notice)

    async def remove_orphans(self) -> int:
        return await self._groups.remove_stale()

    async def start(
        self, spec: SessionSpec, folders: SandboxFolders, on_event: Callable[[Fields], None]
    ) -> ProcessSandbox:
        if not self._program:
            raise BoxError("not_ready", "the backend was not probed", retryable=True)
        await asyncio.to_thread(give, folders.workspace, os.geteuid(), os.getegid())
        with self._mounts.open(spec.mounts) as (_, opened):
            shown = [
                ShownPath(Path(f"/proc/{os.getpid()}/fd/{descriptor}"), Path(path))
                for path, descriptor in zip(spec.mounts, opened, strict=True)
            ]
            group = self._groups.create(spec)
            arguments = session_arguments(spec, folders, [*self._tools, *shown], group is None)
            return await start_process_sandbox([self._program, *arguments], folders.workspace, group, on_event)

    async def close(self) -> None:
        await self._groups.remove_stale()


def session_arguments(
    spec: SessionSpec, folders: SandboxFolders, shown: Sequence[ShownPath], without_group: bool
) -> list[str]:
    """Returns the arguments of nsjail that start a session's sandbox. Raises BoxError."""
    limits = {"RLIMIT_CORE": 0}
    if without_group:
        limits |= resource_limits(spec.memory_mb, spec.processes)
    agent = [str(PYTHON), "-I", "-S", str(AGENT_INSIDE), json.dumps(limits)]
    return [
        *isolation_arguments(spec),
        *system_arguments(spec.network),
        *_bind(ShownPath(AGENT, AGENT_INSIDE)),
        *_workspace(spec, folders),
        *(option for each in shown for option in _bind(each)),
        *_skills(folders),
        *("--cwd", str(WORKSPACE_INSIDE)),
        "--",
        *agent,
    ]


def isolation_arguments(spec: SessionSpec) -> list[str]:
    """Returns what separates a sandbox from the machine. Memory, processes and CPU are limited from outside."""
    environment = {"PATH": PATH, **ENVIRONMENT}
    options = ["--mode", "o", "--quiet", "--time_limit", "0", "--hostname", "box"]
    options += ["--user", f"1000:{os.geteuid()}:1", "--group", f"1000:{os.getegid()}:1"]
    options += ["--seccomp_string", SYSTEM_CALLS, "--rlimit_core", "0", "--rlimit_nofile", str(OPEN_FILES)]
    options += [word for name in ("as", "fsize", "nproc", "stack", "cpu") for word in (f"--rlimit_{name}", "soft")]
    options += ["--disable_clone_newnet"] if spec.network else []
    options += [word for name, value in environment.items() for word in ("--env", f"{name}={value}")]
    return [*options, *_memory("/tmp", temporary_mb(spec.memory_mb) * MEBIBYTE, "1777")]


def system_arguments(network: bool) -> list[str]:
    """Returns the programs, libraries and settings of the machine that a sandbox shows."""
    python = [str(PYTHON.parent.parent)] if not PYTHON.is_relative_to("/usr") else []
    settings = [path for path in (*SYSTEM_SETTINGS, *(NETWORK_SETTINGS if network else ())) if os.path.exists(path)]
    options = []
    for path in [*SYSTEM, *python, *settings]:
        if os.path.islink(path) and path in SYSTEM:
            options += ["--symlink", f"{os.readlink(path)}:{path}"]
        elif os.path.exists(path):
            options += _bind(ShownPath(Path(path), Path(path)))
    own = ("passwd", "group", "nsswitch.conf", *(() if network else ("hosts",)))
    options += [word for name in own for word in _bind(ShownPath(SETTINGS / name, Path("/etc", name)))]
    options += [word for device in DEVICES for word in ("--bindmount", device)]
    return [*options, *_memory("/dev/shm", SHARED_MEMORY_MB * MEBIBYTE, "1777")]


def _workspace(spec: SessionSpec, folders: SandboxFolders) -> list[str]:
    if folders.memory_mb:
        return _memory(str(WORKSPACE_INSIDE), folders.memory_mb * MEBIBYTE, "0777")
    return _bind(ShownPath(folders.workspace, WORKSPACE_INSIDE), is_writable=not spec.read_only)


def _skills(folders: SandboxFolders) -> list[str]:
    if not folders.skills:
        return []
    shown = [ShownPath(folder, SKILLS_INSIDE / name) for name, folder in folders.skills.items()]
    return [
        *_memory(str(SKILLS_INSIDE), SKILL_FOLDER_BYTES, "0555"),
        *(word for each in shown for word in _bind(each)),
    ]


def _bind(shown: ShownPath, is_writable: bool = False) -> list[str]:
    """Returns the option that shows a path. nsjail separates the two paths with a colon."""
    if ":" in f"{shown.source}{shown.target}":
        raise BoxError("mount_refused", f"nsjail can't show {shown.source}: its path has a colon")
    return ["--bindmount" if is_writable else "--bindmount_ro", f"{shown.source}:{shown.target}"]


def _memory(target: str, size: int, mode: str) -> list[str]:
    return ["--mount", f"none:{target}:tmpfs:size={size},mode={mode}"]
