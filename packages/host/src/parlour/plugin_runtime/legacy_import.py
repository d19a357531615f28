"""Takes up plugins that Parlour 0.1 installed: their code lay where the record is now, and nothing was granted."""

import logging
import os
import shutil
import tempfile
from pathlib import Path

from parlour_sdk.plugin import PluginInvalid, read_plugin

from . import permissions
from .records import Version
from .store import RECORD, PluginFolder

logger = logging.getLogger(__name__)


def take_up(root: Path, folder: PluginFolder, now: int) -> None:
    """Each is as it was, with all that it asks for: whoever installed it had no say in that."""
    for manifest in sorted(root.glob("*/*/manifest.yaml")):
        home = manifest.parent
        if home.parent.name == ".staging" or (home / RECORD).exists():
            continue
        try:
            plugin = read_plugin(home)
        except PluginInvalid as error:
            logger.error("a plugin of an earlier release can't be taken up: %s", error)
            continue
        code = Path(tempfile.mkdtemp(prefix=".earlier-", dir=root)) / "code"
        os.rename(home, code)
        given = permissions.asked(plugin.manifest)
        version = Version(
            version=plugin.manifest.metadata.version,
            folder="",
            source="an earlier release",
            sha256="",
            installed_at=now,
            granted=given,
        )
        folder.add(plugin.manifest.identity, code, version)
        shutil.rmtree(code.parent, ignore_errors=True)
        logger.info("plugin %s was taken up from an earlier release", plugin.manifest.identity)
