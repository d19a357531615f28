"""What a plugin keeps in its own folder: gone when a person asks for that. What it stored in the Host is elsewhere."""

import os
from pathlib import Path

from parlour.core.model.plugin_manager import PluginProblem

from .packages.file_tree import delete


def delete_data(root: Path, plugin_id: str) -> None:
    """Raises PluginProblem when some of it stays."""
    folder = root / plugin_id
    delete(folder)
    if os.path.lexists(folder):
        raise PluginProblem(
            "not_written",
            f"{plugin_id} is not removed yet, since what it keeps in {folder} can't be deleted; delete that folder, "
            "then remove the plugin again",
        )
