"""What plugins listen to, kept for the next start: one small file, replaced when something changes.

A plugin that takes long to come up, or does not for now, is owed what happens meanwhile. Only it could tell what it
wants of that, so what it told last counts until it tells it anew.
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
    """Empty for a file that is not there or was tampered with: plugins are then known when they come up."""
    try:
        told = json.loads(path.read_text("utf-8"))
    except (OSError, ValueError):
        return {}
    lists = told.items() if isinstance(told, dict) else ()
    return {name: each for name, each in lists if isinstance(each, list)}
