"""Hands files over to the engine of a plugin, which keeps the passages of its bases itself."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from parlour.core.jobs.progress import JobProgress
from parlour.core.journal import Journal
from parlour.core.model.ids import KnowledgeBaseId, KnowledgeFileId
from parlour.core.model.knowledge import BaseFile, ChunkSettings, KnowledgeBase
from parlour.core.model.ports import Clock

from .file_versions import FileCancelled, NewVersion, TakenUp, make_visible, mark_processing
from .ingestion import FileContents
from .ports import FileParser, KnowledgeEngines, KnowledgeFailed
from .records import KnowledgeRecords

WHOLE = ChunkSettings(tokens=2000, overlap=0)
"""The engine cuts the text itself, so it gets long pieces without repetition."""


class EngineIngestion:
    """Adds files to engines, and deletes them there."""

    def __init__(
        self, journal: Journal, parser: FileParser, engines: KnowledgeEngines, contents: FileContents, clock: Clock
    ) -> None:
        self._journal = journal
        self._records = KnowledgeRecords(journal)
        self._parser = parser
        self._engines = engines
        self._contents = contents
        self._clock = clock

    async def run(self, base: KnowledgeBase, file: BaseFile, described: BaseFile, progress: JobProgress) -> TakenUp:
        """Adds or replaces a file, and returns the statements that say so. Raises KnowledgeFailed and FileCancelled."""
        await mark_processing(self._journal, file, progress, self._clock.now())
        await progress.report(stage="fetch" if file.source == "url" else "parse", done=0, total=100)
        fetched = described
        try:
            async with self._contents.fetch(base, described) as (path, fetched):
                version, content = NewVersion(0), path
                if self._engines.takes(base.engine) == "text":
                    content = path.with_name("text")
                    version = await self._write_text(base, fetched, path, content)
                if progress.is_cancelled:
                    raise FileCancelled
                await progress.report(stage="engine", done=50)
                count = await self._engines.ingest(base, fetched, content)
        except (KnowledgeFailed, FileCancelled):
            await self._contents.forget(file, fetched)
            raise
        made = NewVersion(count, version.pages, version.parser)
        return make_visible(base, file, fetched, made, self._clock.now())

    async def clean(self, base: KnowledgeBase, file_id: KnowledgeFileId, generations: Sequence[int]) -> None:
        """Deletes a file in the engine that was deleted here, or that was never added to its end."""
        file = await self._records.file(file_id)
        if file is None or (not file.generation and file.state == "failed"):
            await self._engines.delete(base.engine, base.kb_id, base.engine_config, file_id)

    async def drop(self, kb_id: KnowledgeBaseId, engine: str, config: Mapping[str, Any]) -> None:
        """Deletes a base in the engine."""
        await self._engines.delete(engine, kb_id, config)

    async def _write_text(self, base: KnowledgeBase, file: BaseFile, path: Path, target: Path) -> NewVersion:
        pages, parser, is_empty = 0, "", True
        with target.open("w", encoding="utf-8") as text:
            async for part in self._parser.parse(path, file.name, file.mime_type, WHOLE, base.parser_of(file)):
                pages, parser = max(pages, part.pages), part.parser or parser
                for passage in part.passages:
                    text.write("\n".join(filter(None, (passage.heading, passage.text))) + "\n\n")
                    is_empty = False
        if is_empty:
            raise KnowledgeFailed("file.no_text", "the file has no text; a scan needs text recognition (OCR) first")
        return NewVersion(0, pages, parser)
