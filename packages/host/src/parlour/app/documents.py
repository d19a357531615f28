"""Builds the reader of documents in messages when the first one has to be read."""

import logging
from collections.abc import AsyncIterator, Callable
from pathlib import Path

from parlour.core.model.providers import Documents, NoDocuments

from .knowledge import FOLDER
from .settings import HostSettings

logger = logging.getLogger(__name__)

WORK_FOLDER = ".documents"
"""Folder below that of knowledge bases with the documents that are being read."""
MAX_SECONDS = 30.0
"""Longest time for reading a document, because a person waits for the answer."""


class MessageDocuments:
    """The reader of documents in messages, which is loaded when it is first used."""

    def __init__(self, create: Callable[[], Documents]) -> None:
        self._create = create
        self._reader: Documents | None = None

    async def read(self, key: str, name: str, mime_type: str, open_content: Callable[[], AsyncIterator[bytes]]) -> str:
        if self._reader is None:
            self._reader = self._create()
        return await self._reader.read(key, name, mime_type, open_content)


def open_documents(settings: HostSettings, folder: Callable[[str], Path]) -> Documents:
    """Builds the reader, or one that reads nothing if its libraries are not installed."""
    from parlour.providers.knowledge.installation import INSTALL_COMMAND, is_installed

    if not is_installed():
        logger.warning("documents in messages are not read: run %s, then start Parlour again", INSTALL_COMMAND)
        return NoDocuments()
    from parlour.providers.knowledge.documents import ParsedDocuments
    from parlour.providers.knowledge.parsing.process import ParserLimits, ParserProcesses

    limits, work = settings.knowledge, folder(FOLDER) / WORK_FOLDER
    work.mkdir(mode=0o700, exist_ok=True)
    parser = ParserProcesses(
        ParserLimits(min(MAX_SECONDS, limits.parse_seconds), limits.parse_memory_mb),
        settings.plugins.bubblewrap,
        settings.plugins.sandbox != "off",
    )
    return ParsedDocuments(parser, work)
