"""Finds bubblewrap and tries it out. If no sandbox can be made here, an error has the reason and the remedy."""

import asyncio
import contextlib
import os
import platform
import shutil
import sys
from collections.abc import Sequence
from pathlib import Path

from . import seccomp, subprocesses
from .bubblewrap import Bubblewrap
from .sandbox_spec import SandboxSpec

PROJECT_TOOL = Path(".tools", "bubblewrap", "usr", "bin", "bwrap")
"""Path at which `make sandbox` puts bubblewrap."""
PROBE_SECONDS = 30.0
UNKNOWN_OPTION_TEXT = "Unknown option"
INSTALL_COMMANDS = {
    "apt-get": "apt-get install",
    "dnf": "dnf install",
    "pacman": "pacman -S",
    "zypper": "zypper install",
    "apk": "apk add",
}
"""Command that installs a package, by package manager."""
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


class SandboxUnavailable(Exception):
    """Raised when no sandbox is available."""

    def __init__(self, reason: str, remedy: str, command: str = "", is_missing: bool = False) -> None:
        super().__init__(f"{reason}; {remedy}")
        self.reason = reason
        self.remedy = remedy
        self.command = command
        self.is_missing = is_missing
        """True if bubblewrap is not installed."""


def find_bubblewrap(program: Path | None = None) -> Path | None:
    """Returns the named program or, without a name, the one on PATH or where `make sandbox` puts it.

    Returns None if the name is not that of a program. Raises SandboxUnavailable if bubblewrap is not installed.
    """
    if sys.platform != "linux":
        raise SandboxUnavailable("the sandbox works on Linux only", "run Parlour on Linux to have it")
    candidates = ["bwrap", Path(sys.prefix).parent / PROJECT_TOOL] if program is None else [program]
    path = next(filter(None, (shutil.which(str(candidate)) for candidate in candidates)), None)
    if path is not None:
        return Path(path).absolute()
    if program is not None:
        return None
    reason = "bubblewrap, which makes it, is not installed"
    raise SandboxUnavailable(reason, INSTALL_REMEDY, install_command("bubblewrap"), is_missing=True)


async def working_bubblewrap(program: Path, hidden: Sequence[Path], probe: SandboxSpec) -> tuple[Bubblewrap, str]:
    """Returns bubblewrap as it works here, and the reason if it does not filter system calls.

    The probe has to exit with status 0 in its sandbox.
    """
    if not seccomp.is_supported():
        unfiltered = Bubblewrap(program, hidden, filtered=False)
        await _run_probe(unfiltered, probe)
        return unfiltered, f"there is no filter for the processor {platform.machine()}"
    filtering = Bubblewrap(program, hidden)
    try:
        await _run_probe(filtering, probe)
    except SandboxUnavailable as failure:
        if "seccomp" not in failure.reason.lower():
            raise
        unfiltered = Bubblewrap(program, hidden, filtered=False)
        await _run_probe(unfiltered, probe)
        return unfiltered, failure.reason
    return filtering, ""


async def _run_probe(bubblewrap: Bubblewrap, probe: SandboxSpec) -> None:
    """Raises SandboxUnavailable unless a sandbox starts.

    Only a real attempt shows whether a user may create namespaces.
    """
    try:
        async with asyncio.timeout(PROBE_SECONDS):
            with bubblewrap.wrap(probe) as boxed:
                finished = await subprocesses.run(boxed.arguments, {}, descriptors=boxed.descriptors)
    except TimeoutError:
        raise SandboxUnavailable(f"bubblewrap did not make one within {PROBE_SECONDS:g} s", ALLOW_REMEDY) from None
    except OSError as error:
        raise SandboxUnavailable(
            f"bubblewrap can't be run ({error.strerror})", INSTALL_REMEDY, install_command("bubblewrap")
        ) from error
    if finished.status != 0:
        last = finished.lines[-1] if finished.lines else f"exit status {finished.status}"
        remedy = (
            (INSTALL_REMEDY, install_command("bubblewrap"))
            if UNKNOWN_OPTION_TEXT in last
            else (ALLOW_REMEDY, _allow_command())
        )
        raise SandboxUnavailable(f"bubblewrap can't make one here ({last[:300]})", *remedy)


def install_command(package: str) -> str:
    """Returns the command that installs a package here; empty where the package manager is not known."""
    command = next((text for program, text in INSTALL_COMMANDS.items() if shutil.which(program)), "")
    return command and as_root(f"{command} {package}")


def _allow_command() -> str:
    """Returns the command that allows user namespaces here; empty where no kernel setting forbids them."""
    for file, (forbidding, setting) in FORBIDDING_KERNEL_SETTINGS.items():
        with contextlib.suppress(OSError):
            if Path(file).read_text(encoding="ascii").strip() == forbidding:
                return as_root(f"sysctl -w {setting}")
    return ""


def as_root(command: str) -> str:
    """Returns a command as this user has to enter it to run it as root."""
    return command if os.geteuid() == 0 else f"sudo {command}"
