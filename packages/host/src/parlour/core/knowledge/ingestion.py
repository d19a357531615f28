"""Takes up one file: parse, cut, embed, and make the result visible at once.

Passages are written in small units under a new version number of the file, and are found only after the unit that ends
the job has raised the file's own number. So a stopped Host leaves nothing that can be found by half, and a repeated
attempt first deletes what the one before has written.
"""

from collections.abc import Sequence
from contextlib import AbstractAsyncContextManager
from pathlib import Path
from typing import Protocol

from parlour.core.jobs.progress import JobProgress
from parlour.core.journal import GuardFailed, Journal, Unit, Update, where
from parlour.core.model.ids import KnowledgeBaseId, KnowledgeFileId
from parlour.core.model.knowledge import BaseFile, ChunkSettings, KnowledgeBase, Passage, document_name
from parlour.core.model.ports import Clock
from parlour.core.store.tables import KNOWLEDGE_FILES

from . import records
from .collections import ensure_collection
from .file_versions import (
    FileCancelled,
    LeaseLost,
    NewVersion,
    TakenUp,
    check_lease,
    is_unchanged,
    keep_visible,
    make_visible,
    mark_processing,
)
from .ports import HOST_CONTEXT, Embeddings, FileParser, KnowledgeFailed, VectorStores
from .records import KnowledgeRecords

EMBEDDED_AT_ONCE = 64
"""Passages that are embedded and written together."""


class FileContents(Protocol):
    """Brings the content of files to the disk."""

    def fetch(self, base: KnowledgeBase, file: BaseFile) -> AbstractAsyncContextManager[tuple[Path, BaseFile]]:
        """Writes the content to a temporary file; a web page is downloaded first and stored.

        Yields the path, and the file as it is described now. Raises KnowledgeFailed.
        """
        ...

    async def forget(self, file: BaseFile, fetched: BaseFile) -> None:
        """Deletes content that was stored for a version that did not become visible."""
        ...


class Ingestion:
    """Makes the passages and vectors of files."""

    def __init__(
        self,
        journal: Journal,
        parser: FileParser,
        embeddings: Embeddings,
        stores: VectorStores,
        contents: FileContents,
        clock: Clock,
        max_chunks: int,
    ) -> None:
        self._journal = journal
        self._records = KnowledgeRecords(journal)
        self._parser = parser
        self._embeddings = embeddings
        self._stores = stores
        self._clock = clock
        self._contents = contents
        self._max_chunks = max_chunks
        """Largest number of passages of a base."""

    async def run(self, base: KnowledgeBase, file: BaseFile, described: BaseFile, progress: JobProgress) -> TakenUp:
        """Makes a new version of a file, and returns the statements that make it visible.

        `described` is the file with its new content. Raises KnowledgeFailed with the reason, and FileCancelled.
        """
        try:
            await mark_processing(self._journal, file, progress, self._clock.now())
            await self.discard(base, file)
            await progress.report(stage="fetch" if file.source == "url" else "parse", done=0, total=100)
            async with self._contents.fetch(base, described) as (path, fetched):
                described = fetched
                if is_unchanged(file, fetched):
                    await self._contents.forget(file, fetched)
                    return keep_visible(file, self._clock.now())
                return await self._take_up(base, file, fetched, path, progress)
        except LeaseLost:
            raise
        except (KnowledgeFailed, FileCancelled):
            await check_lease(self._journal, progress)
            await self.discard(base, file)
            await self._contents.forget(file, described)
            raise

    async def discard(self, base: KnowledgeBase, file: BaseFile) -> None:
        """Deletes the passages and vectors of a version that is not visible."""
        generation = file.generation + 1
        await self._stores.of(base.store).delete_document(base.collection, document_name(file.file_id, generation))
        await self._records.delete_chunks(file_id=file.file_id, generation=generation)

    async def clean(self, base: KnowledgeBase, file_id: KnowledgeFileId, generations: Sequence[int]) -> None:
        """Deletes versions of a file that can't be found any more."""
        for generation in generations:
            await self._stores.of(base.store).delete_document(base.collection, document_name(file_id, generation))
            await self._records.delete_chunks(file_id=file_id, generation=generation)

    async def drop(self, kb_id: KnowledgeBaseId, stores: Sequence[str], collections: Sequence[str]) -> None:
        """Deletes the passages and vectors of a deleted base."""
        await self._records.delete_chunks(kb_id=kb_id)
        for store in stores:
            for collection in collections:
                await self._stores.of(store).drop(collection)

    async def _take_up(
        self, base: KnowledgeBase, before: BaseFile, file: BaseFile, path: Path, progress: JobProgress
    ) -> TakenUp:
        await progress.report(stage="parse")
        generation = before.generation + 1
        pages, parser, count, waiting = 0, "", 0, list[Passage]()
        settings, parser_name = _chunk_settings(base, file), base.parser_of(file)
        async for part in self._parser.parse(path, file.name, file.mime_type, settings, parser_name):
            pages, parser = max(pages, part.pages), part.parser or parser
            waiting += part.passages
            while len(waiting) >= EMBEDDED_AT_ONCE:
                count += await self._write(base, file, generation, waiting[:EMBEDDED_AT_ONCE], progress)
                waiting = waiting[EMBEDDED_AT_ONCE:]
                await self._check_limit(base, file, count)
            await progress.report(stage="embed", done=min(99, part.percent))
            if progress.is_cancelled:
                raise FileCancelled
        if waiting:
            count += await self._write(base, file, generation, waiting, progress)
        if not count:
            raise KnowledgeFailed("file.no_text", "the file has no text; a scan needs text recognition (OCR) first")
        await self._check_limit(base, file, count)
        await self._stores.of(base.store).flush(base.collection)
        await progress.report(stage="switch", done=100)
        return make_visible(base, before, file, NewVersion(count, pages, parser), self._clock.now())

    async def _write(
        self,
        base: KnowledgeBase,
        file: BaseFile,
        generation: int,
        passages: Sequence[Passage],
        progress: JobProgress,
    ) -> int:
        document = document_name(file.file_id, generation)
        texts = [passage.searchable for passage in passages]
        vectors = await self._embeddings.embed(base.embedding_model, texts, HOST_CONTEXT)
        await ensure_collection(self._stores.of(base.store), self._embeddings, base, vectors.shape[1])
        ids = [records.chunk_id(file.file_id, generation, passage.position) for passage in passages]
        await check_lease(self._journal, progress)
        await self._stores.of(base.store).add(base.collection, document, ids, vectors)
        now = self._clock.now()
        still_there = Update(KNOWLEDGE_FILES, {"updated_at": now}, where(file_id=file.file_id, job_id=file.job_id))
        rows = [records.insert_chunk(file, generation, passage, now) for passage in passages]
        try:
            await self._journal.commit(Unit("knowledge.chunks", (still_there, *progress.guards, *rows), can_batch=True))
        except GuardFailed:
            raise FileCancelled from None
        return len(passages)

    async def _check_limit(self, base: KnowledgeBase, file: BaseFile, count: int) -> None:
        row = await self._records.base_row(base.kb_id)
        if row is None:
            raise FileCancelled
        if row["chunks"] - file.chunks + count > self._max_chunks:
            advice = "delete files, or divide them among several bases"
            raise KnowledgeFailed("quota", f"the base would have more than {self._max_chunks} passages; {advice}")


def _chunk_settings(base: KnowledgeBase, file: BaseFile) -> ChunkSettings:
    chunker = file.options.get("chunker") or base.chunks.chunker
    return ChunkSettings(chunker, base.chunks.tokens, base.chunks.overlap)
