"""Chooses how plugins are started: in a sandbox if there is one, and otherwise as the setting says, with a message."""

import asyncio
import contextlib
import os
import platform
import shutil
import sys
import tempfile
from collections.abc import Sequence
from pathlib import Path
from typing import Literal

from parlour_sdk.values import dataclass

from ..packages import subprocesses
from .bubblewrap import BubblewrapLauncher, seccomp
from .launcher import Launcher, LaunchRefused, LaunchSpec, PlainLauncher, PluginProcess

SandboxMode = Literal["auto", "required", "off"]
PROJECT_TOOL = Path(".tools", "bubblewrap", "usr", "bin", "bwrap")
"""Path at which `make sandbox` puts bubblewrap."""
PROBE_SCRIPT = "import importlib.util, sys; sys.exit(importlib.util.find_spec('parlour_sdk') is None)"
PROBE_SECONDS = 30.0
UNKNOWN_OPTION_TEXT = "Unknown option"
INSTALL_COMMANDS = {
    "apt-get": "apt-get install bubblewrap",
    "dnf": "dnf install bubblewrap",
    "pacman": "pacman -S bubblewrap",
    "zypper": "zypper install bubblewrap",
    "apk": "apk add bubblewrap",
}
"""Command that installs bubblewrap, by package manager."""
FORBIDDING_KERNEL_SETTINGS = {
    "/proc/sys/kernel/apparmor_restrict_unprivileged_userns": ("1", "kernel.apparmor_restrict_unprivileged_userns=0"),
    "/proc/sys/kernel/unprivileged_userns_clone": ("0", "kernel.unprivileged_userns_clone=1"),
    "/proc/sys/user/max_user_namespaces": ("0", "user.max_user_namespaces=15000"),
}
"""Kernel settings that forbid user namespaces: the forbidding value, and the setting that allows them."""
INSTALL_REMEDY = "install bubblewrap 0.8 or newer (Debian, Ubuntu: apt-get install bubblewrap) and start Parlour again"
ALLOW_REMEDY = (
    "let the user that runs Parlour make user namespaces, as docs/operate/security.md tells for containers, "
    "AppArmor and sysctl, and start Parlour again"
)
OFF_REMEDY = "or accept plugins without a sandbox by the setting plugins.sandbox: off"


@dataclass(frozen=True, slots=True)
class SandboxState:
    """The sandbox around every plugin; if there is none, the reason and the remedy."""

    kind: Literal["bubblewrap", "none"]
    reason: str = ""
    remedy: str = ""
    required: bool = False
    unfiltered: str = ""
    """Why system calls are not filtered in it; empty if they are."""
    missing: bool = False
    """True if a sandbox is wanted and not available."""
    command: str = ""
    """Command that enables the sandbox on this machine, if it is known."""

    @property
    def notice(self) -> str:
        """Message for the operator who starts the Host; empty if all is well."""
        if self.kind != "none":
            return ""
        what = "No plugin is started" if self.required else "Plugins run without a sandbox"
        typed = f" On this machine: {self.command}" if self.command else ""
        return f"{what}: {self.reason}; {self.remedy}.{typed}"


class SandboxUnavailable(Exception):
    """Raised when no sandbox is available."""

    def __init__(self, reason: str, remedy: str, command: str = "") -> None:
        super().__init__(f"{reason}; {remedy}")
        self.reason = reason
        self.remedy = remedy
        self.command = command


class RefusingLauncher:
    """Starts nothing and raises the reason."""

    def __init__(self, state: SandboxState) -> None:
        self._state = state

    async def launch(self, start: LaunchSpec) -> PluginProcess:
        state = self._state
        raise LaunchRefused(f"plugins are to run in a sandbox only, and {state.reason}; {state.remedy}, {OFF_REMEDY}")


async def choose_launcher(
    wish: SandboxMode, program: Path | None, hidden: Sequence[Path]
) -> tuple[Launcher, SandboxState]:
    """Returns the launcher to use, and the state of the sandbox.

    `program` is bubblewrap, searched for if it is None; `hidden` are folders that no plugin may see.
    """
    if wish == "off":
        return PlainLauncher(), SandboxState("none", "the setting plugins.sandbox is off", "auto brings it back")
    try:
        launcher, unfiltered = await _working_launcher(_find_bubblewrap(program), hidden)
    except SandboxUnavailable as missing:
        required = wish == "required"
        state = SandboxState("none", missing.reason, missing.remedy, required, missing=True, command=missing.command)
        return (RefusingLauncher(state) if state.required else PlainLauncher()), state
    return launcher, SandboxState("bubblewrap", unfiltered=unfiltered)


def _find_bubblewrap(program: Path | None) -> Path:
    """Returns bubblewrap: from the setting, or from PATH, or where `make sandbox` puts it beside the environment."""
    if sys.platform != "linux":
        raise SandboxUnavailable("the sandbox works on Linux only", "run Parlour on Linux to have it")
    places = ["bwrap", Path(sys.prefix).parent / PROJECT_TOOL] if program is None else [program]
    found = next(filter(None, (shutil.which(str(place)) for place in places)), None)
    if found is not None:
        return Path(found).absolute()
    if program is not None:
        raise SandboxUnavailable(f"the setting plugins.bubblewrap names '{program}', which is no program", "correct it")
    raise SandboxUnavailable("bubblewrap, which makes it, is not installed", INSTALL_REMEDY, _install_command())


async def _working_launcher(program: Path, hidden: Sequence[Path]) -> tuple[BubblewrapLauncher, str]:
    """Returns a launcher that works here, and the reason if it does not filter system calls."""
    if not seccomp.is_supported():
        plain = BubblewrapLauncher(program, hidden, filtered=False)
        await _probe(plain)
        return plain, f"there is no filter for the processor {platform.machine()}"
    filtering = BubblewrapLauncher(program, hidden)
    try:
        await _probe(filtering)
    except SandboxUnavailable as failure:
        if "seccomp" not in failure.reason.lower():
            raise
        plain = BubblewrapLauncher(program, hidden, filtered=False)
        await _probe(plain)
        return plain, failure.reason
    return filtering, ""


async def _probe(launcher: BubblewrapLauncher) -> None:
    """Raises SandboxUnavailable unless a sandbox starts.

    Only a real attempt shows whether a user may create namespaces.
    """
    try:
        with tempfile.TemporaryDirectory(prefix="parlour-probe-") as scratch:
            start = LaunchSpec("parlour/probe", Path(scratch), Path(scratch))
            async with asyncio.timeout(PROBE_SECONDS):
                with launcher.wrap_plugin(start, [str(start.python), "-c", PROBE_SCRIPT]) as boxed:
                    finished = await subprocesses.run(boxed.arguments, {}, descriptors=boxed.descriptors)
    except TimeoutError:
        raise SandboxUnavailable(f"bubblewrap did not make one within {PROBE_SECONDS:g} s", ALLOW_REMEDY) from None
    except OSError as error:
        raise SandboxUnavailable(
            f"bubblewrap can't be run ({error.strerror})", INSTALL_REMEDY, _install_command()
        ) from error
    if finished.status != 0:
        last = finished.lines[-1] if finished.lines else f"exit status {finished.status}"
        remedy = (
            (INSTALL_REMEDY, _install_command()) if UNKNOWN_OPTION_TEXT in last else (ALLOW_REMEDY, _allow_command())
        )
        raise SandboxUnavailable(f"bubblewrap can't make one here ({last[:300]})", *remedy)


def _install_command() -> str:
    """Returns the command that installs bubblewrap here; empty where the package manager is not known."""
    found = next((words for program, words in INSTALL_COMMANDS.items() if shutil.which(program)), "")
    return found and _as_root(found)


def _allow_command() -> str:
    """Returns the command that allows user namespaces here; empty where no kernel setting forbids them."""
    for file, (forbidding, setting) in FORBIDDING_KERNEL_SETTINGS.items():
        with contextlib.suppress(OSError):
            if Path(file).read_text(encoding="ascii").strip() == forbidding:
                return _as_root(f"sysctl -w {setting}")
    return ""


def _as_root(command: str) -> str:
    return command if os.geteuid() == 0 else f"sudo {command}"
