"""Installed plugins: a folder each, below the data directory. Installing replaces one wholly or not at all."""

import contextlib
import os
import shutil
import tempfile
from dataclasses import dataclass
from pathlib import Path

from parlour_sdk.plugin import Plugin, PluginInvalid, read_plugin


@dataclass(frozen=True, slots=True)
class Installed:
    plugin_id: str
    version: str
    folder: Path
    stamp: int
    """Changes when the folder is replaced."""


class PluginFolder:
    def __init__(self, root: Path) -> None:
        self._root = root

    def installed(self) -> dict[str, Installed]:
        found: dict[str, Installed] = {}
        for manifest in sorted(self._root.glob("*/*/manifest.yaml")):
            folder = manifest.parent
            try:
                plugin = read_plugin(folder)
                version = plugin.manifest.metadata.version
            except PluginInvalid:
                version = ""
            plugin_id = f"{folder.parent.name}/{folder.name}"
            with contextlib.suppress(FileNotFoundError):  # an install is replacing it just now, and tells when it has
                found[plugin_id] = Installed(plugin_id, version, folder, folder.stat().st_ino)
        return found

    def install(self, source: Path) -> Plugin:
        """Validates first, copies beside, then swaps; what was there before is there until the last step."""
        plugin = read_plugin(source)
        author, name = _safe(plugin.manifest.metadata.author), _safe(plugin.manifest.metadata.name)
        target = self._root / author / name
        target.parent.mkdir(parents=True, exist_ok=True)
        staging = Path(tempfile.mkdtemp(prefix=".new-", dir=target.parent))
        try:
            fresh, old = staging / "new", staging / "old"
            shutil.copytree(source, fresh, ignore=shutil.ignore_patterns("__pycache__", ".git", ".venv", "tests"))
            if target.exists():
                os.rename(target, old)
            try:
                os.rename(fresh, target)
            except OSError:
                if old.exists():
                    os.rename(old, target)
                raise
        finally:
            shutil.rmtree(staging, ignore_errors=True)
        return plugin


def _safe(part: str) -> str:
    if not part or part.startswith(".") or not all(each.isalnum() or each in "-_." for each in part):
        raise PluginInvalid(f"'{part}' can't be part of a plugin's identity; use letters, digits, '-', '_' and '.'")
    return part
