"""Stores vectors in Qdrant: a server by its address, or a folder of the data directory."""

import uuid
from collections.abc import Collection, Sequence
from pathlib import Path
from typing import Any

import httpx
from qdrant_client import QdrantClient, models  # type: ignore[import-not-found]
from qdrant_client.http.exceptions import ApiException  # type: ignore[import-not-found]

from parlour.core.knowledge.ports import Vectors

PAGE = 1000
TIMEOUT_SECONDS = 60


class QdrantLibrary:
    """A Qdrant client. The id of a passage is in the payload, since Qdrant takes numbers and UUIDs only."""

    failures: tuple[type[Exception], ...] = (ApiException, httpx.HTTPError, ValueError, RuntimeError, OSError)

    def __init__(self, folder: Path, url: str, api_key: str) -> None:
        self._is_server = bool(url)
        if url:
            self._client = QdrantClient(url=url, api_key=api_key or None, timeout=TIMEOUT_SECONDS)
        else:
            self._client = QdrantClient(path=str(folder))

    def create(self, collection: str, dimension: int) -> int:
        if not self._client.collection_exists(collection):
            vectors = models.VectorParams(size=dimension, distance=models.Distance.COSINE)
            self._client.create_collection(collection, vectors_config=vectors)
            if self._is_server:
                self._client.create_payload_index(collection, "document", models.PayloadSchemaType.KEYWORD)
            return dimension
        there = self._client.get_collection(collection).config.params.vectors
        assert isinstance(there, models.VectorParams)
        return int(there.size)

    def add(self, collection: str, document: str, ids: Sequence[str], vectors: Vectors) -> None:
        points = [
            models.PointStruct(id=_point(each), vector=row, payload={"id": each, "document": document})
            for each, row in zip(ids, vectors.tolist(), strict=True)
        ]
        self._client.upsert(collection, points, wait=True)

    def flush(self, collection: str) -> None:
        """Does nothing: `add` waits until the points are found."""

    def search(
        self, collection: str, vector: Vectors, limit: int, documents: Collection[str] | None
    ) -> list[tuple[str, float]]:
        if not self._client.collection_exists(collection):
            return []
        wanted = None if documents is None else _of_documents(documents)
        found = self._client.query_points(collection, vector.tolist(), query_filter=wanted, limit=limit)
        return [(point.payload["id"], float(point.score)) for point in found.points if point.payload]

    def read(self, collection: str, document: str) -> list[Sequence[float]]:
        if not self._client.collection_exists(collection):
            return []
        points, _ = self._client.scroll(collection, _of_documents([document]), limit=PAGE, with_vectors=True)
        vectors: list[Any] = [point.vector for point in points]
        return vectors

    def delete_document(self, collection: str, document: str) -> None:
        if self._client.collection_exists(collection):
            self._client.delete(collection, models.FilterSelector(filter=_of_documents([document])), wait=True)

    def delete_ids(self, collection: str, ids: Sequence[str]) -> None:
        if self._client.collection_exists(collection):
            self._client.delete(collection, models.PointIdsList(points=[_point(each) for each in ids]), wait=True)

    def drop(self, collection: str) -> None:
        self._client.delete_collection(collection)

    def count(self, collection: str) -> int | None:
        if not self._client.collection_exists(collection):
            return None
        return int(self._client.count(collection, exact=True).count)

    def close(self) -> None:
        self._client.close()


def _point(chunk_id: str) -> str:
    return str(uuid.uuid5(uuid.NAMESPACE_OID, chunk_id))


def _of_documents(documents: Collection[str]) -> models.Filter:
    return models.Filter(must=[models.FieldCondition(key="document", match=models.MatchAny(any=list(documents)))])
