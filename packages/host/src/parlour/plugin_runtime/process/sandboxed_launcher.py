"""Starts a plugin's process in a bubblewrap sandbox with its own code and data."""

import os
from collections.abc import Sequence
from contextlib import AbstractContextManager
from pathlib import Path

from parlour.isolation.bubblewrap import Bubblewrap
from parlour.isolation.mounts import prefix
from parlour.isolation.process import spawn
from parlour.isolation.sandbox_spec import SandboxedCommand, SandboxLimits, SandboxSpec
from parlour.isolation.sandboxed_process import SandboxedProcess
from parlour.network.proxies import proxy_environment
from parlour_sdk.values import dataclass

from .launcher import DATA_VARIABLE, LaunchSpec, PluginProcess, StdioWire, command
from .mounts import plugin_mounts

FORWARDED_VARIABLES = ("LANG", "LC_ALL", "TZ")
"""The only variables of the Host's environment that a plugin in the sandbox sees, besides proxies if it has network."""
HOST_NAME = "plugin"


@dataclass(slots=True)
class SandboxedPluginProcess(StdioWire, SandboxedProcess):
    """A plugin's process in a sandbox."""


class BubblewrapLauncher:
    """Starts plugins in sandboxes, and makes the commands of other programs that see what a plugin sees."""

    def __init__(self, bubblewrap: Bubblewrap) -> None:
        self.bubblewrap = bubblewrap

    async def launch(self, start: LaunchSpec) -> PluginProcess:
        with self.wrap_plugin(start, command(start)) as boxed:
            # Bubblewrap's environment is empty: the plugin can read it as that of its process 1.
            return await spawn(boxed.arguments, start.folder, SandboxedPluginProcess, {}, boxed.descriptors)

    def wrap_plugin(self, start: LaunchSpec, inside: Sequence[str]) -> AbstractContextManager[SandboxedCommand]:
        """Yields the command that runs `inside` in a plugin's sandbox. Start it once, within the block."""
        return self.bubblewrap.wrap(plugin_sandbox(start, inside, self.bubblewrap.hidden))


def plugin_sandbox(start: LaunchSpec, inside: Sequence[str], hidden: Sequence[Path]) -> SandboxSpec:
    """Returns the sandbox of a plugin, with any command in it."""
    default = SandboxLimits()
    return SandboxSpec(
        inside,
        plugin_mounts(start, hidden),
        start.folder if start.folder.is_dir() else start.data,
        _environment(start),
        proxy_environment() if start.network else {},
        network=bool(start.network),
        host_name=HOST_NAME,
        limits=SandboxLimits(min(start.limits.memory_mb, default.temporary_mb), default.shared_memory_mb),
    )


def _environment(start: LaunchSpec) -> dict[str, str]:
    path = f"{prefix(start.python) / 'bin'}:/usr/local/bin:/usr/bin:/bin"
    variables = {"PATH": path, "HOME": str(start.data), "TMPDIR": "/tmp", "USER": "plugin", "LOGNAME": "plugin"}
    variables[DATA_VARIABLE] = str(start.data)
    variables["PYTHONUNBUFFERED"] = "1"  # unbuffered, so its log is always current
    forwarded = {name: os.environ[name] for name in FORWARDED_VARIABLES if name in os.environ}
    return {**variables, **forwarded}
