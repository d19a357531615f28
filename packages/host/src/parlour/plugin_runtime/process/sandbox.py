"""Chooses how plugins are started: in a sandbox if there is one, and otherwise as the setting says, with a message."""

import tempfile
from collections.abc import Sequence
from pathlib import Path
from typing import Literal

from parlour.core.model.ids import PluginId
from parlour.isolation.availability import SandboxUnavailable, find_bubblewrap, working_bubblewrap
from parlour_sdk.values import dataclass

from .launcher import Launcher, LaunchRefused, LaunchSpec, PlainLauncher, PluginProcess
from .sandboxed_launcher import BubblewrapLauncher, plugin_sandbox

SandboxMode = Literal["auto", "required", "off"]
PROBE_SCRIPT = "import importlib.util, sys; sys.exit(importlib.util.find_spec('parlour_sdk') is None)"
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
        effect = "No plugin is started" if self.required else "Plugins run without a sandbox"
        typed = f" On this machine: {self.command}" if self.command else ""
        return f"{effect}: {self.reason}; {self.remedy}.{typed}"


class RefusingLauncher:
    """Starts nothing and raises the reason."""

    def __init__(self, state: SandboxState) -> None:
        self._state = state

    async def launch(self, start: LaunchSpec) -> PluginProcess:
        state = self._state
        raise LaunchRefused(f"plugins are to run in a sandbox only, and {state.reason}; {state.remedy}, {OFF_REMEDY}")


async def choose_launcher(
    mode: SandboxMode, program: Path | None, hidden: Sequence[Path]
) -> tuple[Launcher, SandboxState]:
    """Returns the launcher to use, and the state of the sandbox.

    `program` is bubblewrap, searched for if it is None; `hidden` are folders that no plugin may see.
    """
    if mode == "off":
        return PlainLauncher(), SandboxState("none", "the setting plugins.sandbox is off", "auto brings it back")
    try:
        launcher, unfiltered = await _working_launcher(_find_program(program), hidden)
    except SandboxUnavailable as missing:
        required = mode == "required"
        state = SandboxState("none", missing.reason, missing.remedy, required, missing=True, command=missing.command)
        return (RefusingLauncher(state) if state.required else PlainLauncher()), state
    return launcher, SandboxState("bubblewrap", unfiltered=unfiltered)


def _find_program(program: Path | None) -> Path:
    found = find_bubblewrap(program)
    if found is None:
        raise SandboxUnavailable(f"the setting plugins.bubblewrap names '{program}', which is no program", "correct it")
    return found


async def _working_launcher(program: Path, hidden: Sequence[Path]) -> tuple[BubblewrapLauncher, str]:
    """Returns a launcher that works here, and the reason if it does not filter system calls."""
    with tempfile.TemporaryDirectory(prefix="parlour-probe-") as scratch:
        start = LaunchSpec(PluginId("parlour/probe"), Path(scratch), Path(scratch))
        probe = plugin_sandbox(start, [str(start.python), "-c", PROBE_SCRIPT], hidden)
        bubblewrap, unfiltered = await working_bubblewrap(program, hidden, probe)
    return BubblewrapLauncher(bubblewrap), unfiltered
