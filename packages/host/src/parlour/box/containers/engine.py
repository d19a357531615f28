"""Finds a container engine and tries it out. If it can't be used, an error says why and which command helps."""

import asyncio
import getpass
import json
import os
import shutil
from dataclasses import replace
from pathlib import Path
from typing import Any, Final
from uuid import uuid4

from parlour.isolation import subprocesses
from parlour.isolation.availability import as_root, install_command

from ..backend import BackendUnavailable
from .arguments import NAME_PREFIX, SANDBOX_USER, Engine, EngineName, probe_arguments
from .seccomp_profile import write_profile

ENGINE_SECONDS: Final = 60.0
MARKER: Final = "parlour-probe-succeeded"
PROBE_CODE: Final = f"import sys; print('{MARKER}') if sys.version_info >= (3, 10) else sys.exit('Python is too old')"
PACKAGES: Final = {"podman": "podman", "docker": "docker.io"}
GROUP_CONTROLLERS: Final = {"memory", "pids", "cpu"}
DENIED_TEXT: Final = "permission denied"
STOPPED_TEXTS: Final = ("cannot connect", "is the docker daemon running", "connection refused", "no such file")
USER_MAP_TEXTS: Final = ("newuidmap", "subuid", "subgid")


async def command(
    arguments: list[str], on_line: subprocesses.OnLine = subprocesses.ignore_line
) -> subprocesses.ProcessResult:
    """Runs a command of an engine. One that does not end in time counts as failed."""
    try:
        async with asyncio.timeout(ENGINE_SECONDS):
            return await subprocesses.run(arguments, os.environ, on_line)
    except TimeoutError:
        return subprocesses.ProcessResult(-1, (f"it did not answer within {ENGINE_SECONDS:g} s",))
    except OSError as error:
        return subprocesses.ProcessResult(-1, (f"it can't be started: {error.strerror}",))


async def find_engine(name: EngineName, image: str, owner: str, profile: Path) -> Engine:
    """Returns the engine if it starts containers of the image here. Raises BackendUnavailable.

    `profile` is where a profile of system calls may be written.
    """
    program = shutil.which(name)
    if program is None:
        install = install_command(PACKAGES[name])
        raise BackendUnavailable(f"{name} is not installed", f"install {name}", install, "not_installed")
    facts = await _facts(name, program)
    engine = _engine(name, program, facts, image, owner)
    source = str(facts.get("host", {}).get("security", {}).get("seccompProfilePath") or "")
    is_stricter = bool(source) and await asyncio.to_thread(write_profile, Path(source), profile)
    if is_stricter:
        engine = replace(engine, seccomp_profile=str(profile))
    shown = await command([program, "image", "inspect", image])
    if shown.status != 0:
        remedy = f"fetch it, or name another one in box.local.image; {name} fetches none by itself"
        raise BackendUnavailable(f"{name} has no image {image}", remedy, f"{name} pull {image}", "no_image")
    finished = await command(probe_arguments(engine, f"{NAME_PREFIX}probe-{uuid4().hex[:12]}", PROBE_CODE))
    if finished.status != 0 or MARKER not in finished.lines:
        last = _last_line(finished)
        remedy = f"run a container with '{name} run' to see why; the image needs Python 3.10 or newer"
        raise BackendUnavailable(f"{name} does not start containers of {image} ({last})", remedy)
    return engine


async def _facts(name: EngineName, program: str) -> dict[str, Any]:
    lines: list[str] = []
    finished = await command([program, "info", "--format", "{{json .}}"], lines.append)
    facts = _first_object("\n".join(lines))
    problems = [str(each) for each in (facts or {}).get("ServerErrors") or ()]
    if facts is not None and finished.status == 0 and not problems:
        return facts
    raise _unusable(name, problems[0] if problems else _last_line(finished))


def _unusable(name: EngineName, message: str) -> BackendUnavailable:
    """Returns the error for what an engine says if it can't be used."""
    text = message.lower()
    user = getpass.getuser()
    if any(word in text for word in USER_MAP_TEXTS):
        reason = f"{name} has no user ids for containers of {user} ({message[:300]})"
        allow = as_root(f"usermod --add-subuids 100000-165535 --add-subgids 100000-165535 {user}")
        return BackendUnavailable(reason, "install uidmap, and give this user a range of ids", allow, "denied")
    if DENIED_TEXT in text:
        reason = f"{name} runs, but {user} has no right to its socket ({message[:300]})"
        if name == "docker":
            remedy = "add this user to the group docker, whose members can become root, and start Parlour again"
            return BackendUnavailable(reason, remedy, as_root(f"usermod -aG docker {user}"), "denied")
        return BackendUnavailable(reason, "let this user run podman, and start Parlour again", "", "denied")
    if any(word in text for word in STOPPED_TEXTS):
        reason = f"{name} is installed, but its engine does not run ({message[:300]})"
        start = as_root("systemctl start docker") if name == "docker" else "systemctl --user start podman.socket"
        return BackendUnavailable(reason, "start it", start, "stopped")
    return BackendUnavailable(f"{name} does not work ({message[:300]})", f"run '{name} info' to see why")


def _engine(name: EngineName, program: str, facts: dict[str, Any], image: str, owner: str) -> Engine:
    user, group = os.geteuid() or SANDBOX_USER, os.getegid() if os.geteuid() else SANDBOX_USER
    if name == "podman":
        host = facts.get("host", {})
        version = "cgroup2" if host.get("cgroupVersion") == "v2" else "cgroup1"
        limits = version if set(host.get("cgroupControllers") or ()) >= GROUP_CONTROLLERS else "rlimit"
        is_rootless = bool(host.get("security", {}).get("rootless"))
        return Engine(name, program, image, owner, user, group, is_rootless, limits)
    holds = all(facts.get(key) for key in ("MemoryLimit", "PidsLimit", "CpuCfsQuota"))
    version = "cgroup2" if str(facts.get("CgroupVersion")) == "2" else "cgroup1"
    is_rootless = any("rootless" in str(option) for option in facts.get("SecurityOptions") or ())
    if is_rootless:  # root inside is this user outside
        user = group = 0
    return Engine(name, program, image, owner, user, group, is_rootless, version if holds else "rlimit")


def _first_object(output: str) -> dict[str, Any] | None:
    """Returns the object in an output, which may have warnings around it."""
    try:
        found, _ = json.JSONDecoder().raw_decode(output, output.index("{"))
    except ValueError:
        return None
    return found if isinstance(found, dict) else None


def _last_line(finished: subprocesses.ProcessResult) -> str:
    return finished.lines[-1][:300] if finished.lines else f"exit status {finished.status}"
