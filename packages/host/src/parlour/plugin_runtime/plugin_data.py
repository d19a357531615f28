"""Deletes a plugin's data folder when an operator asks for it.

What the plugin stored in the Host is deleted elsewhere.
"""

import os
from pathlib import Path

from parlour.core.model.ids import PluginId
from parlour.core.model.plugin_manager import PluginError

from .packages.file_tree import delete


def delete_data(root: Path, plugin_id: PluginId) -> None:
    """Deletes the data folder of a plugin. Raises PluginError if a part of it remains."""
    folder = root / plugin_id
    delete(folder)
    if os.path.lexists(folder):
        raise PluginError(
            "not_written",
            f"{plugin_id} is not removed yet, since what it keeps in {folder} can't be deleted; delete that folder, "
            "then remove the plugin again",
        )
