"""Publishes the status of a running Host's plugins to other processes."""

from collections.abc import Mapping
from dataclasses import asdict
from pathlib import Path

from parlour.core.model.ids import PluginId
from parlour.status_file import StatusFile
from parlour_sdk.values import dataclass


@dataclass(frozen=True, slots=True)
class PluginStatus:
    status: str
    reason: str
    stamp: int
    """Identifies the installation, so that the status of an older version is not mistaken for the new one's."""


class PluginStatusFile:
    def __init__(self, path: Path) -> None:
        self._file = StatusFile(path, "plugins")

    def write(self, plugins: Mapping[str, PluginStatus]) -> None:
        self._file.write({name: asdict(status) for name, status in plugins.items()})

    def all(self, pid: int) -> dict[PluginId, PluginStatus]:
        """Returns what this Host has published; empty if it has published nothing."""
        return {PluginId(name): PluginStatus(**status) for name, status in self._file.read(pid).items()}

    def start_result(self, pid: int, plugin_id: PluginId, stamp: int) -> PluginStatus | None:
        """Returns how this Host's start of exactly this installation ended; None if it is not known yet."""
        status = self.all(pid).get(plugin_id)
        return status if status is not None and status.stamp == stamp and status.status != "starting" else None
