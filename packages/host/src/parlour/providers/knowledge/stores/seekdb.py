"""Stores vectors in SeekDB: a server by its address, or embedded in a folder of the data directory."""

from collections.abc import Collection, Sequence
from pathlib import Path
from typing import Any
from urllib.parse import unquote, urlsplit

import pyseekdb  # type: ignore[import-not-found]

from parlour.core.knowledge.ports import Vectors

DEFAULT_PORT = 2881
DATABASE = "test"
"""The database that each SeekDB has."""


class SeekDbLibrary:
    """A SeekDB client. The library has no errors of its own, so any of them is a failure of the store."""

    failures: tuple[type[Exception], ...] = (Exception,)

    def __init__(self, folder: Path, url: str, password: str) -> None:
        self._client: Any
        if url:
            parts = urlsplit(url)
            self._client = pyseekdb.Client(
                host=parts.hostname or "localhost",
                port=parts.port or DEFAULT_PORT,
                database=parts.path.strip("/") or DATABASE,
                user=unquote(parts.username or "root"),
                password=password,
            )
        else:
            folder.mkdir(mode=0o700, parents=True, exist_ok=True)
            self._client = pyseekdb.Client(path=str(folder), database=DATABASE)

    def create(self, collection: str, dimension: int) -> int:
        if self._client.has_collection(collection):
            return int(self._collection(collection).dimension)
        how = pyseekdb.HNSWConfiguration(dimension=dimension, distance="cosine")
        self._client.create_collection(collection, configuration=how, embedding_function=None)
        return dimension

    def add(self, collection: str, document: str, ids: Sequence[str], vectors: Vectors) -> None:
        metadata = [{"document": document} for _ in ids]
        self._collection(collection).upsert(ids=list(ids), embeddings=vectors.tolist(), metadatas=metadata)

    def flush(self, collection: str) -> None:
        """Lets the index catch up; until then a search may return worse neighbours."""
        if self._client.has_collection(collection):
            self._collection(collection).refresh_index()

    def search(
        self, collection: str, vector: Vectors, limit: int, documents: Collection[str] | None
    ) -> list[tuple[str, float]]:
        if not self._client.has_collection(collection):
            return []
        wanted = None if documents is None else {"document": {"$in": list(documents)}}
        found = self._collection(collection).query(
            query_embeddings=vector.tolist(), n_results=limit, where=wanted, include=["distances"]
        )
        pairs = zip(found["ids"][0], found["distances"][0], strict=True)
        return [(each, 1.0 - float(distance)) for each, distance in pairs]

    def read(self, collection: str, document: str) -> list[Sequence[float]]:
        if not self._client.has_collection(collection):
            return []
        found = self._collection(collection).get(where={"document": document}, include=["embeddings"])
        return list(found["embeddings"])

    def delete_document(self, collection: str, document: str) -> None:
        if self._client.has_collection(collection):
            self._collection(collection).delete(where={"document": document})

    def delete_ids(self, collection: str, ids: Sequence[str]) -> None:
        if ids and self._client.has_collection(collection):
            self._collection(collection).delete(ids=list(ids))

    def drop(self, collection: str) -> None:
        if self._client.has_collection(collection):
            self._client.delete_collection(collection)

    def count(self, collection: str) -> int | None:
        return int(self._collection(collection).count()) if self._client.has_collection(collection) else None

    def close(self) -> None:
        """Does nothing: connections end with their threads."""

    def _collection(self, collection: str) -> Any:
        return self._client.get_collection(collection, embedding_function=None)
