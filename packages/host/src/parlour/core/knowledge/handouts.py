"""Lends files to plugins for the time of one call: an engine or parser reads a large file in pieces by its key."""

import asyncio
import secrets
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from parlour.core.model.ids import PluginId
from parlour.core.model.knowledge import BaseFile, KnowledgeBase
from parlour.core.model.providers import ProviderFailed
from parlour_sdk.values import dataclass

KEY_BYTES = 16


@dataclass(frozen=True, slots=True)
class Handout:
    """A file that a plugin may read now."""

    plugin_id: PluginId
    content: Path
    """What the plugin reads: the bytes, or the text that the Host has read."""
    base: KnowledgeBase
    file: BaseFile
    original: Path
    """The bytes, for another parser."""


class FileHandouts:
    """The files that plugins may read now, by keys that can't be guessed."""

    def __init__(self) -> None:
        self._handouts: dict[str, Handout] = {}

    @contextmanager
    def lend(self, handout: Handout) -> Iterator[str]:
        """Yields the key, which is valid until the block ends."""
        key = f"kf_{secrets.token_urlsafe(KEY_BYTES)}"
        self._handouts[key] = handout
        try:
            yield key
        finally:
            del self._handouts[key]

    def find(self, plugin_id: PluginId, file_key: str) -> Handout:
        """Returns a file that was lent to this plugin. Raises ProviderFailed."""
        handout = self._handouts.get(file_key)
        if handout is None or handout.plugin_id != plugin_id:
            raise ProviderFailed("not_found", "there is no such file; its key is valid during the call that named it")
        return handout

    async def read(self, plugin_id: PluginId, file_key: str, offset: int, length: int) -> tuple[Handout, bytes, int]:
        """Returns the file, a piece of it, and its size."""
        handout = self.find(plugin_id, file_key)
        piece, size = await asyncio.to_thread(_read, handout.content, offset, length)
        return handout, piece, size


def _read(path: Path, offset: int, length: int) -> tuple[bytes, int]:
    with path.open("rb") as file:
        file.seek(offset)
        return file.read(length), path.stat().st_size
