"""Stores the listeners of plugins for the next start: one small file, replaced when something changes.

A plugin that starts slowly, or fails to start for now, must still receive the events of that time. Only the plugin can
say which events it wants, so its last declaration counts until it makes a new one.
"""

import json
from pathlib import Path
from typing import Any

from parlour.core.model.ids import PluginId
from parlour.status_file import write_atomically

CachedListeners = list[dict[str, Any]]


class ListenerCache:
    def __init__(self, path: Path) -> None:
        self._path = path
        self._listeners = _read(path)

    def get(self, plugin_id: PluginId) -> CachedListeners:
        return self._listeners.get(plugin_id, [])

    def store(self, plugin_id: PluginId, listeners: CachedListeners) -> None:
        if listeners != self.get(plugin_id):
            self._listeners[plugin_id] = listeners
            write_atomically(self._path, {name: each for name, each in self._listeners.items() if each})


def _read(path: Path) -> dict[PluginId, CachedListeners]:
    """Returns the stored listeners.

    Empty if the file is missing or was tampered with; plugins then declare their listeners when they start.
    """
    try:
        content = json.loads(path.read_text("utf-8"))
    except (OSError, ValueError):
        return {}
    lists = content.items() if isinstance(content, dict) else ()
    return {name: each for name, each in lists if isinstance(each, list)}
