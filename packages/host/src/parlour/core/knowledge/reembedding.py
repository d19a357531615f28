"""Makes vectors again: all of a base beside those that are searched, or that of one changed passage."""

from dataclasses import replace
from typing import Any

from parlour.core.jobs.job import JobDone, JobFailed, JobResult
from parlour.core.jobs.progress import JobProgress
from parlour.core.journal import Journal, Row, Select, Statement, UnitBuilder, Update, above, where
from parlour.core.model.ids import ChunkId
from parlour.core.model.knowledge import KnowledgeBase, document_name
from parlour.core.model.ports import Clock
from parlour.core.store.tables import KNOWLEDGE_BASES, KNOWLEDGE_CHUNKS

from . import records
from .bases import KnowledgeBases
from .collections import ensure_collection
from .ingestion import EMBEDDED_AT_ONCE
from .ports import HOST_CONTEXT, Embeddings, KnowledgeFailed, VectorStores
from .records import KnowledgeRecords


class Reembedding:
    """Makes vectors of stored passages."""

    def __init__(
        self, journal: Journal, bases: KnowledgeBases, embeddings: Embeddings, stores: VectorStores, clock: Clock
    ) -> None:
        self._journal = journal
        self._bases = bases
        self._records = KnowledgeRecords(journal)
        self._embeddings = embeddings
        self._stores = stores
        self._clock = clock

    async def run(self, base: KnowledgeBase, progress: JobProgress, clean: Statement) -> JobResult:
        """Fills a new collection from the stored passages, then switches to it in the unit that ends the job.

        `clean` enqueues the job that deletes the collection before, in the same unit.
        """
        model = base.embedding_model if base.next_embedding_model is None else base.next_embedding_model
        store = base.next_store or base.store
        after = replace(
            base,
            embedding_model=model,
            next_embedding_model=None,
            store=store,
            next_store=None,
            generation=base.generation + 1,
        )
        row = await self._records.base_row(base.kb_id)
        await self._stores.of(after.store).drop(after.collection)
        done, last = 0, ""
        await progress.report(stage="embed", done=0, total=row["chunks"] if row else 0)
        while rows := await self._page(base, last):
            last = rows[-1]["chunk_id"]
            await self._embed(after, rows)
            done += len(rows)
            await progress.report(done=done)
            if progress.is_cancelled:
                await self._stores.of(after.store).drop(after.collection)
                return JobFailed("an operator cancelled it")
        if done:
            await self._stores.of(after.store).flush(after.collection)
        return JobDone(commit=lambda unit: self._switch(unit, base, after, clean))

    async def lacks_vectors(self, base: KnowledgeBase) -> bool:
        """Returns whether the vectors of a base are lost; false if its store does not answer."""
        try:
            return await self._stores.of(base.store).count(base.collection) is None
        except KnowledgeFailed as failure:
            return failure.code == "vectors_damaged"

    async def embed_chunk(self, base: KnowledgeBase, chunk_id: str) -> None:
        """Makes the vector of one passage again, or deletes it if the passage is switched off or gone."""
        row = await self._records.chunk(ChunkId(chunk_id))
        await self._stores.of(base.store).delete_ids(base.collection, [chunk_id])
        if row is not None and row["enabled"]:
            await self._embed(base, [row])
            await self._stores.of(base.store).flush(base.collection)

    async def _page(self, base: KnowledgeBase, last: str) -> list[Row]:
        conditions = where(kb_id=base.kb_id, chunk_id=above(last))
        query = Select(KNOWLEDGE_CHUNKS, conditions, order=("chunk_id",), limit=EMBEDDED_AT_ONCE)
        return await self._journal.read(query)

    async def _embed(self, base: KnowledgeBase, rows: list[Row]) -> None:
        """Embeds passages that can be found; those of other versions of files are not needed."""
        files = await self._records.files(row["file_id"] for row in rows)
        found = [
            row
            for row in rows
            if row["enabled"] and row["file_id"] in files and files[row["file_id"]].generation == row["generation"]
        ]
        if not found:
            return
        texts = [records.passage_of(row).searchable for row in found]
        vectors = await self._embeddings.embed(base.embedding_model, texts, HOST_CONTEXT)
        store = self._stores.of(base.store)
        await ensure_collection(store, self._embeddings, base, vectors.shape[1])
        for index, row in enumerate(found):
            document = document_name(row["file_id"], row["generation"])
            await self._stores.of(base.store).add(
                base.collection, document, [row["chunk_id"]], vectors[index : index + 1]
            )

    async def drop(self, store: str, collection: str) -> None:
        """Deletes a collection that is not searched any more."""
        await self._stores.of(store).drop(collection)

    async def _switch(self, unit: UnitBuilder, before: KnowledgeBase, after: KnowledgeBase, clean: Statement) -> None:
        current = self._bases.get(before.kb_id)
        if current is None:
            await self._stores.of(after.store).drop(after.collection)
            await self._journal.commit(unit.build())
            return
        wanted, store = current.next_embedding_model, current.next_store
        changed = replace(
            current,
            embedding_model=after.embedding_model,
            next_embedding_model=None if wanted == after.embedding_model else wanted,
            store=after.store,
            next_store=None if store == after.store else store,
            generation=after.generation,
        )
        values: dict[str, Any] = {"definition": changed.encode(), "generation": changed.generation, "state": ""}
        unchanged = where(kb_id=before.kb_id, generation=before.generation)
        unit.add(Update(KNOWLEDGE_BASES, {**values, "updated_at": self._clock.now()}, unchanged), clean)
        await self._journal.commit(unit.build())
        self._bases.cache(changed)
