"""Starts a granted program in a sandbox of its own, which shows exactly what its permission names."""

import os
import re
from collections.abc import Mapping, Sequence
from pathlib import Path

from parlour.core.errors import CallRejected
from parlour.core.model.ids import PluginId
from parlour.isolation.mounts import Mount, hide, network_mounts, same_path, system_mounts, with_real_path, writable
from parlour.isolation.process import IsolatedProcess, spawn
from parlour.isolation.sandbox_spec import SandboxSpec
from parlour.isolation.sandboxed_process import SandboxedProcess
from parlour.network.proxies import proxy_environment
from parlour_sdk.protocol.processes import WORKSPACE, ProcessPermission, ProcessStart
from parlour_sdk.values import dataclass

from ..process.launcher import Launcher, PlainLauncher
from ..process.mounts import OWN_SETTINGS
from ..process.sandboxed_launcher import FORWARDED_VARIABLES, BubblewrapLauncher
from .commands import Program, ProgramFinder
from .folders import ProgramFolders

VARIABLE_NAME = re.compile(r"[A-Za-z_][A-Za-z0-9_]{0,99}")
REFUSED_VARIABLES = re.compile(
    r"PATH|HOME|USER|LOGNAME|SHELL|TMPDIR|IFS|ENV|BASH_ENV|NODE_OPTIONS|LD_.*|PYTHON.*|GIT_SSH.*|PARLOUR_.*|DYLD_.*"
)
"""Variables that would change what is executed, or belong to the Host."""
MAX_ARGUMENT_CHARACTERS = 32 * 1024
HOST_NAME = "program"


@dataclass(frozen=True, slots=True)
class ProgramPlan:
    """Everything about one start, checked."""

    program: Program
    permission: ProcessPermission
    arguments: Sequence[str]
    environment: Mapping[str, str]
    workspace: Path
    home: Path | None


def plan_start(
    plugin_id: PluginId,
    permission: ProcessPermission,
    request: ProcessStart,
    finder: ProgramFinder,
    folders: ProgramFolders,
) -> ProgramPlan:
    """Checks a request against its permission. Raises CallRejected."""
    program = finder.resolve(permission, request.command)
    if any("\0" in each or len(each) > MAX_ARGUMENT_CHARACTERS for each in request.arguments):
        raise CallRejected("invalid_argument", "arguments: each has at most 32768 characters and no NUL")
    for name, value in request.environment.items():
        if not VARIABLE_NAME.fullmatch(name) or REFUSED_VARIABLES.fullmatch(name) or "\0" in value:
            raise CallRejected("invalid_argument", f"environment: '{name[:100]}' can't be set for a program")
    if WORKSPACE not in permission.write and request.workspace.startswith("/"):
        raise CallRejected("unauthorized", f"workspace: '{permission.name}' may not write to a folder of the operator")
    workspace = folders.workspace(plugin_id, request.workspace)
    home = folders.home(plugin_id, request.home) if permission.home == "own" else None
    places = {"{home}": str(home or "/tmp"), "{workspace}": str(workspace)}
    given = {name: _with_places(value, places) for name, value in request.environment.items()}
    variables = _environment(finder, program, home, given)
    return ProgramPlan(program, permission, request.arguments, variables, workspace, home)


def _with_places(value: str, places: Mapping[str, str]) -> str:
    for name, path in places.items():
        value = value.replace(name, path)
    return value


async def launch(plan: ProgramPlan, launcher: Launcher) -> IsolatedProcess:
    """Starts the program. Raises CallRejected if there is no sandbox and one is required, or the start fails."""
    command = [str(plan.program.path), *plan.arguments]
    try:
        if isinstance(launcher, BubblewrapLauncher):
            with launcher.bubblewrap.wrap(_sandbox(plan, command, launcher.bubblewrap.hidden)) as boxed:
                return await spawn(boxed.arguments, Path("/"), SandboxedProcess, {}, boxed.descriptors)
        if isinstance(launcher, PlainLauncher):
            return await spawn(command, plan.workspace, IsolatedProcess, plan.environment)
    except OSError as error:
        raise CallRejected("runtime_error", f"{plan.program.path} can't be started ({error.strerror})") from error
    raise CallRejected("not_supported", "programs are to run in a sandbox only, and there is none on this machine")


def _sandbox(plan: ProgramPlan, command: list[str], hidden: Sequence[Path]) -> SandboxSpec:
    return SandboxSpec(
        command,
        list(_mounts(plan, hidden)),
        plan.workspace,
        secret_environment=plan.environment,
        network=plan.permission.network,
        host_name=HOST_NAME,
    )


def _mounts(plan: ProgramPlan, hidden: Sequence[Path]) -> list[Mount]:
    permission = plan.permission
    read = [mount for path in permission.read if os.path.exists(path) for mount in with_real_path(Path(path))]
    write = [writable(Path(path)) for path in permission.write if path != WORKSPACE and os.path.exists(path)]
    own = writable(plan.workspace) if WORKSPACE in permission.write else same_path(plan.workspace)
    return [
        *system_mounts(),
        *(Mount(Path("/etc", file.name), ("--ro-bind", str(file), f"/etc/{file.name}")) for file in _settings()),
        *plan.program.mounts,
        *read,
        *hide(hidden),
        *write,
        *(network_mounts() if permission.network else ()),
        own,
        *([writable(plan.home)] if plan.home is not None else []),
    ]


def _settings() -> list[Path]:
    return sorted(OWN_SETTINGS.iterdir())


def _environment(
    finder: ProgramFinder, program: Program, home: Path | None, requested: Mapping[str, str]
) -> dict[str, str]:
    """Returns the variables of the program: nothing of the Host's own but language and time zone, and its proxies."""
    forwarded = {name: os.environ[name] for name in FORWARDED_VARIABLES if name in os.environ}
    own = {"PATH": finder.inside_path(program), "HOME": str(home or "/tmp"), "TMPDIR": "/tmp", "TERM": "dumb"}
    own |= {"USER": "plugin", "LOGNAME": "plugin", "SHELL": "/bin/sh"}
    return {"LANG": "C.UTF-8", **forwarded, **proxy_environment(), **requested, **own}
