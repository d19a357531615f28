"""A knowledge base in the process of the tests: real database, real vectors, no files."""

from collections.abc import AsyncIterator, Mapping, Sequence
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

from parlour.core.journal import Unit
from parlour.core.knowledge import records
from parlour.core.knowledge.collections import ensure_collection
from parlour.core.knowledge.ports import HOST_CONTEXT, Embeddings, VectorStores
from parlour.core.knowledge.retrieval import Retrieval, SearchReport
from parlour.core.model.ids import ArtifactId, KnowledgeBaseId, KnowledgeFileId
from parlour.core.model.knowledge import BaseFile, KnowledgeBase, Passage, RetrievalSettings, StoreName
from parlour.core.model.providers import EmptyProvider
from parlour.providers.knowledge.embeddings import ModelEmbeddings
from parlour.providers.knowledge.stores.catalogue import StoreAccount, StoreCatalogue
from parlour.stores import migrate
from parlour.stores.sqlite.journal import SqliteJournal

NOW = 1_800_000_000_000


class BenchBase:
    """One base with one file."""

    def __init__(self, journal: Any, embeddings: Embeddings, stores: VectorStores, store: StoreName) -> None:
        self.journal = journal
        self.store = stores.of(store)
        self.embeddings = embeddings
        self.base = KnowledgeBase(KnowledgeBaseId("kb"), "bench", store=store)
        self.file = BaseFile(
            KnowledgeFileId("file"),
            self.base.kb_id,
            "bench.txt",
            "text/plain",
            "",
            ArtifactId(""),
            "text",
            0,
            NOW,
            generation=1,
        )
        self.retrieval = Retrieval(journal, embeddings, stores, ModelEmbeddings(EmptyProvider()))
        self.ids: list[str] = []

    async def fill(self, texts: Sequence[str]) -> None:
        await self.journal.commit(
            Unit("fill", (records.insert_base(self.base, NOW), records.insert_file(self.file, NOW)))
        )
        for start in range(0, len(texts), 500):
            batch = [Passage(text, position=start + place) for place, text in enumerate(texts[start : start + 500])]
            vectors = await self.embeddings.embed(
                self.base.embedding_model, [passage.text for passage in batch], HOST_CONTEXT
            )
            await ensure_collection(self.store, self.embeddings, self.base, vectors.shape[1])
            ids = [records.chunk_id(self.file.file_id, 1, passage.position) for passage in batch]
            await self.store.add(self.base.collection, self.file.document, ids, vectors)
            rows = [records.insert_chunk(self.file, 1, passage, NOW) for passage in batch]
            await self.journal.commit(Unit("fill", tuple(rows)))
            self.ids += ids
        await self.journal.commit(Unit("fill", (records.count_change(self.base.kb_id, chunks=len(texts)),)))
        await self.store.flush(self.base.collection)

    async def search(self, query: str, settings: RetrievalSettings) -> SearchReport:
        return await self.retrieval.search(self.base, query, None, HOST_CONTEXT, settings)


@asynccontextmanager
async def open_bench(
    folder: Path,
    embeddings: Embeddings | None = None,
    store: StoreName = "builtin",
    accounts: Mapping[str, StoreAccount] | None = None,
) -> AsyncIterator[BenchBase]:
    """Opens a data directory, in which a Host can be started afterwards."""
    migrate.ensure(folder / "parlour.db")
    async with SqliteJournal(folder / "parlour.db") as journal:
        stores = StoreCatalogue(folder / "knowledge", accounts or {})
        try:
            yield BenchBase(journal, embeddings or ModelEmbeddings(EmptyProvider()), stores, store)
        finally:
            await stores.close()
