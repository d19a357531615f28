"""Answers plugins that read the file they are asked about."""

import base64

from parlour.core.knowledge.handouts import FileHandouts
from parlour.core.knowledge.ports import KnowledgeFailed
from parlour.core.model.ids import PluginId
from parlour.core.model.knowledge import ChunkSettings
from parlour.core.model.providers import ProviderFailed
from parlour_sdk.protocol.files import FileChunk
from parlour_sdk.protocol.knowledge import ParsedFile, ParsedSection

from .plugins import PluginParsers

SECTIONS = ChunkSettings(tokens=2000, overlap=0)
"""Sections of a parsed file are long and don't repeat each other."""
MAX_CHARACTERS = 1_500_000
"""Characters of text that fit into one answer."""


class PluginFiles:
    """The files that plugins may read now."""

    def __init__(self, handouts: FileHandouts, parsers: PluginParsers) -> None:
        self._handouts = handouts
        self._parsers = parsers

    async def read(self, plugin_id: PluginId, file_key: str, offset: int, length: int) -> FileChunk:
        handout, piece, size = await self._handouts.read(plugin_id, file_key, offset, length)
        return FileChunk(
            file_key=file_key,
            file_name=handout.file.name,
            mime_type=handout.file.mime_type or None,
            size_bytes=size,
            offset=offset,
            content_base64=base64.b64encode(piece).decode(),
            has_more=offset + len(piece) < size,
        )

    async def parse(self, plugin_id: PluginId, file_key: str, parser: str) -> ParsedFile:
        """Reads a file with the named parser, or the one that its base uses. Raises ProviderFailed."""
        handout = self._handouts.find(plugin_id, file_key)
        file, sections, size = handout.file, list[ParsedSection](), 0
        wanted = parser or handout.base.parser_of(file)
        try:
            async for part in self._parsers.parse(handout.original, file.name, file.mime_type, SECTIONS, wanted):
                for passage in part.passages:
                    size += len(passage.text)
                    if size > MAX_CHARACTERS:
                        raise ProviderFailed("payload_too_large", f"the file has more than {MAX_CHARACTERS} characters")
                    section = ParsedSection(text=passage.text, title=passage.heading or None, page=passage.page or None)
                    sections.append(section)
        except KnowledgeFailed as failure:
            raise ProviderFailed("runtime_error", failure.message, failure.retryable) from failure
        return ParsedFile(text="\n\n".join(section.text for section in sections), sections=sections)
