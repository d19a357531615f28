"""Builds the command lines of podman and docker."""

import csv
import io
import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Final, Literal

from parlour.core.box.messages import SessionSpec
from parlour_sdk.values import dataclass

from ..backend import SandboxFolders
from ..inside import (
    AGENT,
    AGENT_INSIDE,
    ENVIRONMENT,
    MEBIBYTE,
    OPEN_FILES,
    SHARED_MEMORY_MB,
    SKILL_FOLDER_BYTES,
    SKILLS_INSIDE,
    WORKSPACE_INSIDE,
    ShownPath,
    temporary_mb,
)

EngineName = Literal["podman", "docker"]
OWNER_LABEL: Final = "parlour.box"
NAME_PREFIX: Final = "parlour-box-"
SOCKET_FOLDER_INSIDE: Final = Path("/run/parlour-socket")
SOCKET_NAME: Final = "s"
SOCKET_INSIDE: Final = SOCKET_FOLDER_INSIDE / SOCKET_NAME
SANDBOX_USER: Final = 10001
"""User and group inside if the Box runs as root: no user of the machine."""
MAX_PROCESSES: Final = 8192
"""Processes of the user inside, in all containers together."""


@dataclass(frozen=True, slots=True)
class Engine:
    """A container engine as it works on this machine."""

    name: EngineName
    program: str
    image: str
    owner: str
    """Label of the containers of one Box."""
    user: int
    """User inside, who owns the workspaces outside, too."""
    group: int
    is_rootless: bool = False
    limits: str = "cgroup2"
    """What limits a container: cgroup2, cgroup1, or rlimit if the engine can't."""
    seccomp_profile: str = ""
    """File with the profile of system calls; empty for that of the engine."""

    @property
    def has_groups(self) -> bool:
        return self.limits != "rlimit"


@dataclass(frozen=True, slots=True)
class ContainerPaths:
    """The files that one container shows."""

    folders: SandboxFolders
    socket: Path
    """Folder of the socket on which the Box waits for the agent."""
    tools: Sequence[ShownPath] = ()
    mounts: Sequence[str] = ()


def run_arguments(
    engine: Engine, name: str, spec: SessionSpec, paths: ContainerPaths, limits: Mapping[str, int]
) -> list[str]:
    """Returns the command that starts a session's container in the background."""
    labels = [f"--name={name}", f"--label={OWNER_LABEL}={engine.owner}"]
    mounts = [*_workspace(engine, spec, paths.folders), _bind(paths.socket, SOCKET_FOLDER_INSIDE)]
    mounts += [_bind(tool.source, tool.target) for tool in paths.tools]
    mounts += [_bind(Path(path), Path(path)) for path in paths.mounts]
    mounts += _skills(engine, paths.folders.skills)
    agent = ["-I", "-S", str(AGENT_INSIDE), json.dumps(dict(limits)), str(SOCKET_INSIDE)]
    options = [*_isolation(engine, spec), *_limits(engine, spec), *mounts, "--entrypoint=python3"]
    return [engine.program, "run", "--detach", "--rm", *labels, *options, engine.image, *agent]


def probe_arguments(engine: Engine, name: str, code: str) -> list[str]:
    """Returns the command that runs a line of Python in a container as hardened as that of a session."""
    spec = SessionSpec(session_id="probe", cpus=1, memory_mb=128, processes=32)
    labels = [f"--name={name}", f"--label={OWNER_LABEL}={engine.owner}"]
    options = [*_isolation(engine, spec), *_limits(engine, spec), "--entrypoint=python3"]
    return [engine.program, "run", "--rm", *labels, *options, engine.image, "-I", "-S", "-c", code]


def list_arguments(engine: Engine) -> list[str]:
    """Returns the command that prints the ids of all containers of this Box."""
    return [engine.program, "ps", "--all", "--quiet", f"--filter=label={OWNER_LABEL}={engine.owner}"]


def remove_arguments(engine: Engine, names: Sequence[str]) -> list[str]:
    """Returns the command that kills and removes containers."""
    return [engine.program, "rm", "--force", *names]


def _isolation(engine: Engine, spec: SessionSpec) -> list[str]:
    options = [
        *("--pull=never", "--cap-drop=ALL", "--security-opt=no-new-privileges", "--read-only"),
        *("--stop-signal=KILL", "--log-driver=none", "--hostname=box", f"--user={engine.user}:{engine.group}"),
        *([] if spec.network else ["--network=none"]),
        *(f"--env={name}={value}" for name, value in ENVIRONMENT.items()),
        _bind(AGENT, AGENT_INSIDE),
    ]
    if engine.seccomp_profile:
        options.append(f"--security-opt=seccomp={engine.seccomp_profile}")
    if engine.name == "podman":
        options += ["--read-only-tmpfs=false", *(["--userns=keep-id"] if engine.is_rootless else [])]
    return options


def _limits(engine: Engine, spec: SessionSpec) -> list[str]:
    memory = f"{spec.memory_mb}m"
    groups = []
    if engine.has_groups:
        groups = [f"--memory={memory}", f"--memory-swap={memory}"]
        groups += [f"--pids-limit={spec.processes}", f"--cpus={spec.cpus:g}"]
    if engine.name == "podman":  # which else sets a limit that it may not be allowed to set
        processes = _allowed_processes()
        groups.append(f"--ulimit=nproc={processes}:{processes}")
    return [
        *groups,
        *("--ulimit=core=0:0", f"--ulimit=nofile={OPEN_FILES}:{OPEN_FILES}", f"--shm-size={SHARED_MEMORY_MB}m"),
        _memory_folder(engine, "/tmp", "1777", temporary_mb(spec.memory_mb) * MEBIBYTE),
    ]


def _allowed_processes() -> int:
    import resource  # Windows has no such module

    hard = resource.getrlimit(resource.RLIMIT_NPROC)[1]
    return MAX_PROCESSES if hard == resource.RLIM_INFINITY else min(hard, MAX_PROCESSES)


def _workspace(engine: Engine, spec: SessionSpec, folders: SandboxFolders) -> list[str]:
    if folders.memory_mb:
        size = folders.memory_mb * MEBIBYTE
        return [_memory_folder(engine, str(WORKSPACE_INSIDE), "1777", size)]
    return [_bind(folders.workspace, WORKSPACE_INSIDE, is_writable=not spec.read_only)]


def _skills(engine: Engine, skills: Mapping[str, Path]) -> list[str]:
    """Returns the mounts of skills, in a folder of their own that covers that of the workspace."""
    if not skills:
        return []
    cover = _memory_folder(engine, str(SKILLS_INSIDE), "0755", SKILL_FOLDER_BYTES)
    return [cover, *(_bind(folder, SKILLS_INSIDE / name) for name, folder in skills.items())]


def _memory_folder(engine: Engine, target: str, mode: str, size: int) -> str:
    """Returns the option for a folder in memory. Podman would give it contents and mode of the image's folder."""
    own = ",notmpcopyup" if engine.name == "podman" else ""
    return f"--tmpfs={target}:rw,nosuid,nodev,mode={mode},size={size}{own}"


def _bind(source: Path, target: Path, is_writable: bool = False) -> str:
    """Returns the option that shows a path. Its value is a line of CSV, since a path may have a comma."""
    line = io.StringIO()
    fields = ["type=bind", f"source={source}", f"target={target}", *([] if is_writable else ["readonly"])]
    csv.writer(line, lineterminator="").writerow(fields)
    return f"--mount={line.getvalue()}"
