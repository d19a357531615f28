"""Imports plugins that Parlour 0.1 installed: their code was where the record is now, and they had no permissions."""

import logging
import os
import shutil
import tempfile
from pathlib import Path

from parlour.core.model.ids import PluginId
from parlour_sdk.plugin import PluginInvalid, read_plugin

from . import permissions
from .records import Version
from .store import RECORD_FILE, PluginStore

logger = logging.getLogger(__name__)


def import_v01_plugins(root: Path, folder: PluginStore, now: int) -> None:
    """Imports each plugin unchanged and grants it everything that it asks for, since 0.1 gave operators no choice."""
    for manifest in sorted(root.glob("*/*/manifest.yaml")):
        home = manifest.parent
        if home.parent.name == ".staging" or (home / RECORD_FILE).exists():
            continue
        try:
            plugin = read_plugin(home)
        except PluginInvalid as error:
            logger.error("can't import a plugin of an earlier release: %s", error)
            continue
        code = Path(tempfile.mkdtemp(prefix=".earlier-", dir=root)) / "code"
        os.rename(home, code)
        requested = permissions.requested_permissions(plugin.manifest)
        version = Version(
            version=plugin.manifest.metadata.version,
            folder="",
            source="an earlier release",
            sha256="",
            installed_at=now,
            granted=requested,
        )
        folder.add(PluginId(plugin.manifest.identity), code, version)
        shutil.rmtree(code.parent, ignore_errors=True)
        logger.info("imported plugin %s of an earlier release", plugin.manifest.identity)
