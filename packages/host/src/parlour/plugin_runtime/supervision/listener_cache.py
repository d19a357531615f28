"""Stores the listeners of plugins for the next start: one small file, replaced when something changes.

A plugin that starts slowly, or fails to start for now, must still receive the events of that time. Only the plugin can
say which events it wants, so its last declaration counts until it makes a new one.
"""

import json
from pathlib import Path
from typing import Any

from parlour.status_file import put

Told = list[dict[str, Any]]


class ListenerFile:
    def __init__(self, path: Path) -> None:
        self._path = path
        self._told = _read(path)

    def of(self, plugin_id: str) -> Told:
        return self._told.get(plugin_id, [])

    def keep(self, plugin_id: str, told: Told) -> None:
        if told != self.of(plugin_id):
            self._told[plugin_id] = told
            put(self._path, {name: each for name, each in self._told.items() if each})


def _read(path: Path) -> dict[str, Told]:
    """Returns the stored listeners.

    Empty if the file is missing or was tampered with; plugins then declare their listeners when they start.
    """
    try:
        told = json.loads(path.read_text("utf-8"))
    except (OSError, ValueError):
        return {}
    lists = told.items() if isinstance(told, dict) else ()
    return {name: each for name, each in lists if isinstance(each, list)}
