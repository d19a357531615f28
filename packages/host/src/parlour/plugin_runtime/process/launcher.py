"""The port that starts a plugin's process, and its plain implementation. `sandboxed_launcher` has the other one."""

import asyncio
import os
import sys
from dataclasses import field
from pathlib import Path
from typing import Protocol

from parlour.core.model.ids import PluginId
from parlour.isolation.process import IsolatedProcess, spawn
from parlour.network.proxies import proxy_environment
from parlour_sdk.protocol.manifest import PluginLimits
from parlour_sdk.values import dataclass
from parlour_sdk.wire import StdioTransport, Transport, WireLimits

FORWARDED_VARIABLES = ("PATH", "HOME", "LANG", "LC_ALL", "TZ", "TMPDIR", "VIRTUAL_ENV", "SYSTEMROOT", "PYTHONPATH")
"""Variables of the Host's environment that a plugin sees; none of them is a secret."""
DATA_VARIABLE = "PARLOUR_PLUGIN_DATA"
"""Variable that names the folder that a plugin may write to."""


@dataclass(frozen=True, slots=True)
class LaunchSpec:
    """Everything that is needed to start one plugin's process."""

    plugin_id: PluginId
    folder: Path
    """Its code, which it may read."""
    data: Path
    """Its own folder, which it may write to."""
    python: Path = Path(sys.executable)
    """The interpreter of its environment."""
    limits: PluginLimits = field(default_factory=PluginLimits)
    network: tuple[str, ...] = ()
    """Hosts that it was granted; empty means no network."""


class LaunchRefused(OSError):
    """Raised when the process can't be started and another attempt would not change that."""


class PluginProcess(Protocol):
    """A started process: its wire, its log, its end, and its use of resources."""

    pid: int
    log: asyncio.StreamReader

    def wire(self, limits: WireLimits) -> Transport:
        """Opens the wire. Called once; the caller closes it."""
        ...

    async def apply_limits(self, open_files: int, niceness: int) -> int:
        """Applies limits to all current processes of the plugin and returns their number."""
        ...

    async def uses_more_than(self, memory_bytes: int) -> bool:
        """Returns whether it and all its descendants use more memory than this."""
        ...

    async def unlinked_bytes(self, folder: Path) -> int:
        """Returns the bytes of its open files that have no name any more, on the disk of this folder."""
        ...

    async def wait(self) -> int: ...

    async def terminate(self) -> None:
        """Asks its process group to end."""
        ...

    async def kill(self) -> None:
        """Kills the process and all its descendants, including those that left its process group."""
        ...

    def close(self) -> None:
        """Closes its log, even if another process has the other end open, and removes its control group."""
        ...


class Launcher(Protocol):
    """Starts plugin processes."""

    async def launch(self, start: LaunchSpec) -> PluginProcess: ...


class StdioWire:
    """Adds the wire over the pipes of a process."""

    __slots__ = ()
    read_fd: int
    write_fd: int

    def wire(self, limits: WireLimits) -> Transport:
        return StdioTransport(self.read_fd, self.write_fd, limits)


@dataclass(slots=True)
class PlainProcess(StdioWire, IsolatedProcess):
    """A plugin's process without a sandbox."""


class PlainLauncher:
    """Starts a child process in its own group, with an allowlisted environment and no other restrictions."""

    async def launch(self, start: LaunchSpec) -> PluginProcess:
        return await spawn(command(start), start.folder, PlainProcess, environment(start))


def command(start: LaunchSpec) -> list[str]:
    return [str(start.python), "-m", "parlour_sdk.worker", str(start.folder)]


def environment(start: LaunchSpec) -> dict[str, str]:
    """Returns the variables of a plugin without a sandbox. Its output is unbuffered, so its log is always current."""
    allowed = {name: os.environ[name] for name in FORWARDED_VARIABLES if name in os.environ}
    proxies = proxy_environment() if start.network else {}
    return {**allowed, **proxies, DATA_VARIABLE: str(start.data), "PYTHONUNBUFFERED": "1"}
