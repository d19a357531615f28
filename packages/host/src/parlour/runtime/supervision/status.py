"""Tells other processes how the plugins of a running Host are doing: one small file, replaced on every change."""

import json
import logging
import os
from collections.abc import Mapping
from dataclasses import asdict
from pathlib import Path

from parlour_sdk.values import dataclass

logger = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class PluginStatus:
    status: str
    reason: str
    stamp: int
    """Of the folder that is meant, so that an older version's state is not mistaken for the new one's."""


class StatusFile:
    def __init__(self, path: Path) -> None:
        self._path = path

    def write(self, plugins: Mapping[str, PluginStatus]) -> None:
        """A disk that is full keeps no plugin from being kept: what can't be told now is told with the next change."""
        content = {"pid": os.getpid(), "plugins": {name: asdict(status) for name, status in plugins.items()}}
        fresh = self._path.with_suffix(".new")
        try:
            fresh.write_text(json.dumps(content))
            fresh.replace(self._path)
        except OSError as error:
            logger.warning("%s can't be written, so commands may not know of the latest: %s", self._path, error)

    def all(self, pid: int) -> dict[str, PluginStatus]:
        """What this Host has told; nothing when it has not."""
        try:
            content = json.loads(self._path.read_text())
        except (OSError, ValueError):
            return {}
        known = content["plugins"] if content["pid"] == pid else {}
        return {name: PluginStatus(**status) for name, status in known.items()}

    def settled(self, pid: int, plugin_id: str, stamp: int) -> PluginStatus | None:
        """How this Host's start of this very folder went; None when it has not told yet."""
        status = self.all(pid).get(plugin_id)
        return status if status is not None and status.stamp == stamp and status.status != "starting" else None
