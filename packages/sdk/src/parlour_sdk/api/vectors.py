"""Keeps and searches vectors in collections of the Host, for engines that have no store of their own."""

from collections.abc import Sequence
from typing import Any

from parlour_sdk.protocol.calls import Done
from parlour_sdk.protocol.limits import PAGE_ITEMS, VECTORS_AT_ONCE
from parlour_sdk.protocol.vectors import (
    FoundVector,
    FoundVectors,
    VectorDelete,
    VectorList,
    VectorPage,
    VectorRecord,
    VectorSearch,
    VectorUpsert,
)

from .calls import Namespace

NUMBERS_AT_ONCE = 64 * 1024
"""Numbers of vectors that one call takes, as digits."""


class VectorsAPI(Namespace):
    async def upsert(self, collection: str, vectors: Sequence[VectorRecord]) -> None:
        """Adds vectors, or replaces those with the same ids. Many are sent in several calls."""
        for some in _batches(vectors):
            await self._calls.call("vector_upsert", VectorUpsert, Done, collection=collection, vectors=some)

    async def search(
        self, collection: str, vector: Sequence[float], top_k: int = 5, filters: dict[str, Any] | None = None
    ) -> list[FoundVector]:
        """Returns the nearest vectors, the best first; none if there is no such collection."""
        answer = await self._calls.call(
            "vector_search",
            VectorSearch,
            FoundVectors,
            collection=collection,
            vector=list(vector),
            top_k=top_k,
            filters=filters,
        )
        return answer.hits

    async def delete(self, collection: str, vector_ids: Sequence[str] | None = None, prefix: str | None = None) -> None:
        """Deletes vectors by their ids or by the start of their ids; without both, the whole collection."""
        ids = None if vector_ids is None else list(vector_ids)
        await self._calls.call(
            "vector_delete", VectorDelete, Done, collection=collection, vector_ids=ids, prefix=prefix
        )

    async def list(
        self, collection: str, prefix: str | None = None, after: str | None = None, limit: int = PAGE_ITEMS
    ) -> VectorPage:
        """Returns a page of ids; `after` is the last id of the page before."""
        return await self._calls.call(
            "vector_list", VectorList, VectorPage, collection=collection, prefix=prefix, after=after, limit=limit
        )


def _batches(vectors: Sequence[VectorRecord]) -> list[list[VectorRecord]]:
    batches: list[list[VectorRecord]] = []
    size = 0
    for each in vectors:
        cost = len(each.vector) + len(each.text)
        if not batches or len(batches[-1]) == VECTORS_AT_ONCE or size + cost > NUMBERS_AT_ONCE:
            batches.append([])
            size = 0
        batches[-1].append(each)
        size += cost
    return batches
