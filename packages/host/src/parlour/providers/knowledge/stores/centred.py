"""Makes similarities of any vector store comparable with those of the builtin one.

Vectors of texts in one language all point in a similar direction. So each vector is stored from the mean of the
reference texts, and a search says how similar the reference texts are to the query. The mean is computed from the
vectors in the store, so that all Hosts and later starts have the same.
"""

from collections.abc import Collection, Sequence
from typing import Any, Protocol

import numpy as np

from parlour.core.knowledge.fusion import Background
from parlour.core.knowledge.ports import KnowledgeFailed, VectorHits, Vectors, VectorStore
from parlour.core.knowledge.reference_texts import REFERENCE_DOCUMENT, REFERENCE_PREFIX


class ReadableStore(VectorStore, Protocol):
    """A vector store that returns its vectors, too."""

    async def read(self, collection: str, document: str) -> Sequence[Sequence[float]]:
        """Returns the vectors of a document; none if there is no such collection."""
        ...


class CentredStore:
    """A vector store whose vectors are moved before they are stored and searched."""

    def __init__(self, store: ReadableStore) -> None:
        self._store = store
        self._references: dict[str, Any] = {}

    async def create(self, collection: str, dimension: int) -> None:
        await self._store.create(collection, dimension)

    async def add(self, collection: str, document: str, ids: Sequence[str], vectors: Vectors) -> None:
        if document == REFERENCE_DOCUMENT:
            self._references.pop(collection, None)
            await self._store.add(collection, document, ids, np.asarray(vectors, np.float32))
            await self._store.flush(collection)
            return
        references = await self._reference_vectors(collection)
        await self._store.add(collection, document, ids, _moved(vectors, references))

    async def flush(self, collection: str) -> None:
        await self._store.flush(collection)

    async def search(
        self, collection: str, vector: Vectors, limit: int, documents: Collection[str] | None = None
    ) -> VectorHits:
        references = await self._reference_vectors(collection)
        if references is None:
            return VectorHits([], Background(0.0, 0.0))
        if len(vector) != references.shape[1]:
            message = f"the base has vectors of {references.shape[1]} numbers, not {len(vector)}"
            raise KnowledgeFailed("embed.dimension", message)
        query = _moved(np.asarray(vector, np.float32)[None], references)[0]
        similarities = _moved(references, references) @ query
        hits = await self._store.search(collection, query, limit, documents)
        found = [each for each in hits.scores if not each[0].startswith(REFERENCE_PREFIX)]
        return VectorHits(found, Background(float(similarities.mean()), float(similarities.std())))

    async def delete_document(self, collection: str, document: str) -> None:
        await self._store.delete_document(collection, document)

    async def delete_ids(self, collection: str, ids: Collection[str]) -> None:
        await self._store.delete_ids(collection, ids)

    async def drop(self, collection: str) -> None:
        self._references.pop(collection, None)
        await self._store.drop(collection)

    async def count(self, collection: str) -> int | None:
        count = await self._store.count(collection)
        if not count:
            return count
        references = await self._reference_vectors(collection)
        return count - (0 if references is None else len(references))

    async def close(self) -> None:
        self._references.clear()
        await self._store.close()

    async def _reference_vectors(self, collection: str) -> Any:
        """Returns the vectors of the reference texts; None if the collection has none."""
        known = self._references.get(collection)
        if known is None:
            rows = await self._store.read(collection, REFERENCE_DOCUMENT)
            if not len(rows):
                return None
            known = self._references[collection] = np.asarray(rows, np.float32)
        return known


def _moved(vectors: Vectors, references: Any) -> Any:
    """Returns vectors of length 1 from the mean of the reference vectors."""
    moved = np.asarray(vectors, np.float32)
    if references is not None:
        moved = moved - references.mean(axis=0)
    lengths = np.linalg.norm(moved, axis=1, keepdims=True)
    return moved / np.maximum(lengths, 1e-6)
