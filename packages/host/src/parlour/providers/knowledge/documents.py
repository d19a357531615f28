"""Reads the text of documents in messages, each in a process of its own, and keeps the latest texts for a while."""

import asyncio
import os
import tempfile
import time
from collections import OrderedDict
from collections.abc import AsyncIterator, Callable
from pathlib import Path

from parlour.core.knowledge.ports import FileParser, KnowledgeFailed
from parlour.core.model.knowledge import ChunkSettings, Passage
from parlour.core.model.providers import ProviderFailed

WHOLE = ChunkSettings("general", tokens=2000, overlap=0)
"""Settings of the parser that leave sections in one piece, without repetitions."""
HEAD_BYTES = 4096
MAX_TEXT_CHARACTERS = 2_000_000
"""Longest text of one document; the rest is left out."""
MAX_KEPT_CHARACTERS = 4_000_000
"""Characters of all texts that are kept, so that the next request does not read the same document again."""
CONCURRENT_READERS = 2
STALE_SECONDS = 3600.0


class ParsedDocuments:
    """Reads documents with the parser of knowledge bases."""

    def __init__(self, parser: FileParser, folder: Path) -> None:
        self._parser = parser
        self._folder = folder
        self._texts: OrderedDict[str, str | ProviderFailed] = OrderedDict()
        self._slots = asyncio.Semaphore(CONCURRENT_READERS)
        _remove_stale(folder)

    async def read(self, key: str, name: str, mime_type: str, open_content: Callable[[], AsyncIterator[bytes]]) -> str:
        """Returns the text of a document. Raises ProviderFailed with the reason if it can't be read."""
        async with self._slots:
            if key not in self._texts:
                self._texts[key] = await self._parse(name, mime_type, open_content())
            self._texts.move_to_end(key)
            found = self._texts[key]
            while len(self._texts) > 1 and sum(len(str(each)) for each in self._texts.values()) > MAX_KEPT_CHARACTERS:
                self._texts.popitem(last=False)
        if isinstance(found, ProviderFailed):
            raise ProviderFailed(found.code, found.message)
        return found

    async def _parse(self, name: str, mime_type: str, content: AsyncIterator[bytes]) -> str | ProviderFailed:
        """Returns the text, or a failure that would come again. Raises ProviderFailed if the content can't be had."""
        with tempfile.TemporaryDirectory(dir=self._folder) as folder:
            path = Path(folder, "content")
            await asyncio.to_thread(_append, path, b"")
            head = b""
            async for block in content:
                head += block[: HEAD_BYTES - len(head)]
                await asyncio.to_thread(_append, path, block)
            found = self._parser.detect(head, name, mime_type)
            if found is None:
                return ProviderFailed("invalid_argument", "this is no document that can be read")
            try:
                return await self._text(path, name, found)
            except KnowledgeFailed as failure:
                return ProviderFailed("invalid_argument", failure.message)

    async def _text(self, path: Path, name: str, mime_type: str) -> str:
        passages: list[Passage] = []
        characters = 0
        async for part in self._parser.parse(path, name, mime_type, WHOLE):
            passages += part.passages if characters <= MAX_TEXT_CHARACTERS else ()
            characters += sum(len(each.text) for each in part.passages)
        if not passages:
            raise KnowledgeFailed("file.no_text", "the document has no text; it may consist of pictures")
        return _joined(passages)[:MAX_TEXT_CHARACTERS]


def _append(path: Path, block: bytes) -> None:
    with path.open("ab") as file:
        file.write(block)


def _joined(passages: list[Passage]) -> str:
    """Joins passages; a line marks a new page, and another one new headings."""
    lines: list[str] = []
    page, headings = 0, ""
    for passage in passages:
        if passage.page and passage.page != page:
            lines.append(f"[page {passage.page}]")
        if passage.heading and passage.heading != headings:
            lines.append(f"# {passage.heading}")
        page, headings = passage.page, passage.heading
        lines.append(passage.text)
    return "\n".join(lines)


def _remove_stale(folder: Path) -> None:
    """Removes files that a Host left when it was killed; another Host may be reading newer ones."""
    import shutil

    for entry in os.scandir(folder):
        if entry.stat().st_mtime < time.time() - STALE_SECONDS:
            shutil.rmtree(entry.path, ignore_errors=True)
