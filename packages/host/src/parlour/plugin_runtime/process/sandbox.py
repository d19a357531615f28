"""Chooses how plugins are started: in a sandbox where there is one, and what is done and told where there is none."""

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
from .launcher import Launcher, LaunchRefused, PlainLauncher, PluginProcess, Start

SandboxWish = Literal["auto", "required", "off"]
PROJECT_TOOL = Path(".tools", "bubblewrap", "usr", "bin", "bwrap")
"""Where `make sandbox` puts it."""
NO_OPERATION = "import importlib.util, sys; sys.exit(importlib.util.find_spec('parlour_sdk') is None)"
PROBE_SECONDS = 30.0
OLD = "Unknown option"
INSTALLERS = {
    "apt-get": "apt-get install bubblewrap",
    "dnf": "dnf install bubblewrap",
    "pacman": "pacman -S bubblewrap",
    "zypper": "zypper install bubblewrap",
    "apk": "apk add bubblewrap",
}
"""What installs it, by the package manager."""
FORBIDDEN = {
    "/proc/sys/kernel/apparmor_restrict_unprivileged_userns": ("1", "kernel.apparmor_restrict_unprivileged_userns=0"),
    "/proc/sys/kernel/unprivileged_userns_clone": ("0", "kernel.unprivileged_userns_clone=1"),
    "/proc/sys/user/max_user_namespaces": ("0", "user.max_user_namespaces=15000"),
}
"""Kernel settings that forbid user namespaces: the value that does, and the setting that allows them."""
INSTALL = "install bubblewrap 0.8 or newer (Debian, Ubuntu: apt-get install bubblewrap) and start Parlour again"
ALLOW = (
    "let the user that runs Parlour make user namespaces, as docs/operate/security.md tells for containers, "
    "AppArmor and sysctl, and start Parlour again"
)
WITHOUT = "or accept plugins without a sandbox by the setting plugins.sandbox: off"


@dataclass(frozen=True, slots=True)
class SandboxState:
    """What is around every plugin; if nothing, why, and what to do about it."""

    kind: Literal["bubblewrap", "none"]
    reason: str = ""
    remedy: str = ""
    required: bool = False
    unfiltered: str = ""
    """Why system calls are not filtered in it; empty where they are."""
    missing: bool = False
    """Whether it is wanted and can't be had."""
    command: str = ""
    """What to type on this machine to have it, where that is known."""

    @property
    def notice(self) -> str:
        """What whoever starts the Host should know; empty when all is well."""
        if self.kind != "none":
            return ""
        what = "No plugin is started" if self.required else "Plugins run without a sandbox"
        typed = f" On this machine: {self.command}" if self.command else ""
        return f"{what}: {self.reason}; {self.remedy}.{typed}"


class NoSandbox(Exception):
    """There is no sandbox to be had."""

    def __init__(self, reason: str, remedy: str, command: str = "") -> None:
        super().__init__(f"{reason}; {remedy}")
        self.reason = reason
        self.remedy = remedy
        self.command = command


class RefusingLauncher:
    """Starts nothing and says why."""

    def __init__(self, state: SandboxState) -> None:
        self._state = state

    async def launch(self, start: Start) -> PluginProcess:
        state = self._state
        raise LaunchRefused(f"plugins are to run in a sandbox only, and {state.reason}; {state.remedy}, {WITHOUT}")


async def choose_launcher(
    wish: SandboxWish, program: Path | None, hidden: Sequence[Path]
) -> tuple[Launcher, SandboxState]:
    """`program` is bubblewrap, looked for if it is not named; `hidden` are folders that no plugin may look into."""
    if wish == "off":
        return PlainLauncher(), SandboxState("none", "the setting plugins.sandbox is off", "auto brings it back")
    try:
        launcher, unfiltered = await _proven(_find(program), hidden)
    except NoSandbox as missing:
        required = wish == "required"
        state = SandboxState("none", missing.reason, missing.remedy, required, missing=True, command=missing.command)
        return (RefusingLauncher(state) if state.required else PlainLauncher()), state
    return launcher, SandboxState("bubblewrap", unfiltered=unfiltered)


def _find(program: Path | None) -> Path:
    """The setting, or else the command path, then what `make sandbox` put beside the environment."""
    if sys.platform != "linux":
        raise NoSandbox("the sandbox works on Linux only", "run Parlour on Linux to have it")
    places = ["bwrap", Path(sys.prefix).parent / PROJECT_TOOL] if program is None else [program]
    found = next(filter(None, (shutil.which(str(place)) for place in places)), None)
    if found is not None:
        return Path(found).absolute()
    if program is not None:
        raise NoSandbox(f"the setting plugins.bubblewrap names '{program}', which is no program", "correct it")
    raise NoSandbox("bubblewrap, which makes it, is not installed", INSTALL, _install_command())


async def _proven(program: Path, hidden: Sequence[Path]) -> tuple[BubblewrapLauncher, str]:
    """Returns a launcher that works here, and why it filters no system calls where it does not."""
    if not seccomp.supported():
        plain = BubblewrapLauncher(program, hidden, filtered=False)
        await _probe(plain)
        return plain, f"there is no filter for the processor {platform.machine()}"
    filtering = BubblewrapLauncher(program, hidden)
    try:
        await _probe(filtering)
    except NoSandbox as failure:
        if "seccomp" not in failure.reason.lower():
            raise
        plain = BubblewrapLauncher(program, hidden, filtered=False)
        await _probe(plain)
        return plain, failure.reason
    return filtering, ""


async def _probe(launcher: BubblewrapLauncher) -> None:
    """By really doing it: whether a user may make namespaces can't be told by looking."""
    try:
        with tempfile.TemporaryDirectory(prefix="parlour-probe-") as scratch:
            start = Start("parlour/probe", Path(scratch), Path(scratch))
            async with asyncio.timeout(PROBE_SECONDS):
                with launcher.command(start, [str(start.python), "-c", NO_OPERATION]) as boxed:
                    finished = await subprocesses.run(boxed.arguments, {}, descriptors=boxed.descriptors)
    except TimeoutError:
        raise NoSandbox(f"bubblewrap did not make one within {PROBE_SECONDS:g} s", ALLOW) from None
    except OSError as error:
        raise NoSandbox(f"bubblewrap can't be run ({error.strerror})", INSTALL, _install_command()) from error
    if finished.status != 0:
        last = finished.lines[-1] if finished.lines else f"exit status {finished.status}"
        remedy = (INSTALL, _install_command()) if OLD in last else (ALLOW, _allow_command())
        raise NoSandbox(f"bubblewrap can't make one here ({last[:300]})", *remedy)


def _install_command() -> str:
    """Returns the command that installs bubblewrap here; empty where the package manager is not known."""
    found = next((words for program, words in INSTALLERS.items() if shutil.which(program)), "")
    return found and _as_root(found)


def _allow_command() -> str:
    """Returns the command that allows user namespaces here; empty where no kernel setting forbids them."""
    for file, (forbidding, setting) in FORBIDDEN.items():
        with contextlib.suppress(OSError):
            if Path(file).read_text(encoding="ascii").strip() == forbidding:
                return _as_root(f"sysctl -w {setting}")
    return ""


def _as_root(command: str) -> str:
    return command if os.geteuid() == 0 else f"sudo {command}"
