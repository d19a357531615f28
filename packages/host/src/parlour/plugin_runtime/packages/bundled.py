"""Finds the plugins that come with Parlour. They are only read; one is started when an operator installs it."""

import base64
import logging
from collections.abc import Iterator
from functools import lru_cache
from pathlib import Path

from parlour.core.model.ids import PluginId
from parlour.core.model.plugin_manager import BundledPlugin
from parlour_sdk.plugin import PluginInvalid, read_plugin

logger = logging.getLogger(__name__)

PREFIX = "bundled:"
"""Beginning of a source that names a bundled plugin, such as `bundled:local-agent`."""
BUNDLED_PLUGINS = (
    "local-agent",
    "dify-agent",
    "n8n-agent",
    "coze-agent",
    "dashscope-agent",
    "tbox-agent",
    "langflow-agent",
    "deerflow-agent",
    "weknora-agent",
    "a2a-agent",
    "acp-agent",
    "litellm-agent-platform-agent",
    "dify-datasets",
    "ragflow-datasets",
    "fastgpt-datasets",
)
"""Names of the folders; the same list is in the wheel's build configuration."""
PACKAGE = Path(__file__).parents[2]
LOCATIONS = (PACKAGE / "bundled", PACKAGE / "../../../../plugins")
"""Folders of bundled plugins: in an installed package, and in a clone of the repository."""
MAX_ICON_BYTES = 32 * 1024


def bundled_folder(source: str) -> Path:
    """Returns the folder of `bundled:NAME`. Raises PluginInvalid if there is no such plugin."""
    name = source.removeprefix(PREFIX).rpartition("/")[2]
    folders = (location / name for location in LOCATIONS if name in BUNDLED_PLUGINS)
    folder = next((each for each in folders if each.is_dir()), None)
    if folder is None:
        raise PluginInvalid(f"no plugin '{name}' comes with Parlour; there are {', '.join(BUNDLED_PLUGINS)}")
    return folder


@lru_cache(maxsize=1)
def bundled_plugins() -> tuple[BundledPlugin, ...]:
    """Returns what comes with this release; the files are read once."""
    return tuple(_read_all())


def _read_all() -> Iterator[BundledPlugin]:
    for name in BUNDLED_PLUGINS:
        try:
            folder = bundled_folder(PREFIX + name)
            metadata = read_plugin(folder).manifest.metadata
        except (PluginInvalid, OSError) as error:
            logger.warning("the bundled plugin %s can't be read: %s", name, error)
            continue
        yield BundledPlugin(
            PluginId(f"{metadata.author}/{metadata.name}"),
            PREFIX + name,
            metadata.version,
            metadata.label,
            metadata.description,
            _icon(folder, metadata.icon),
        )


def _icon(folder: Path, name: str | None) -> str:
    """Returns the icon as a data URL, so that the page needs no request for it."""
    file = folder / name if name else None
    if file is None or file.suffix != ".svg" or not file.is_file() or file.stat().st_size > MAX_ICON_BYTES:
        return ""
    return f"data:image/svg+xml;base64,{base64.b64encode(file.read_bytes()).decode()}"
