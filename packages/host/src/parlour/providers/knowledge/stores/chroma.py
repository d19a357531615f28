"""Stores vectors in Chroma: a server by its address, or a folder of the data directory."""

from collections.abc import Collection, Sequence
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import chromadb  # type: ignore[import-not-found]
import httpx
from chromadb.errors import ChromaError, NotFoundError  # type: ignore[import-not-found]

from parlour.core.knowledge.ports import Vectors

DEFAULT_PORT = 8000


class ChromaLibrary:
    """A Chroma client without any embedding function: Parlour embeds."""

    failures: tuple[type[Exception], ...] = (ChromaError, httpx.HTTPError, ValueError, OSError)

    def __init__(self, folder: Path, url: str, token: str) -> None:
        settings = chromadb.Settings(anonymized_telemetry=False)
        if url:
            parts = urlsplit(url)
            self._client = chromadb.HttpClient(
                host=parts.hostname or "localhost",
                port=parts.port or (443 if parts.scheme == "https" else DEFAULT_PORT),
                ssl=parts.scheme == "https",
                headers={"Authorization": f"Bearer {token}"} if token else None,
                settings=settings,
            )
        else:
            self._client = chromadb.PersistentClient(folder, settings)

    def create(self, collection: str, dimension: int) -> int:
        there = self._find(collection)
        if there is None:
            self._client.create_collection(
                collection,
                embedding_function=None,
                configuration={"hnsw": {"space": "cosine"}},
                metadata={"dimension": dimension},
            )
            return dimension
        return int((there.metadata or {})["dimension"])

    def add(self, collection: str, document: str, ids: Sequence[str], vectors: Vectors) -> None:
        metadata: Any = [{"document": document}] * len(ids)
        self._client.get_collection(collection, embedding_function=None).upsert(list(ids), vectors, metadata)

    def flush(self, collection: str) -> None:
        """Does nothing: each change is written to the log of the store before it returns."""

    def search(
        self, collection: str, vector: Vectors, limit: int, documents: Collection[str] | None
    ) -> list[tuple[str, float]]:
        there = self._find(collection)
        if there is None or not (size := there.count()):
            return []
        wanted: Any = None if documents is None else _of_documents(documents)
        query: Any = [vector.tolist()]
        found = there.query(query, n_results=min(limit, size), where=wanted, include=["distances"])
        distances: Any = found["distances"]
        return [(each, 1.0 - float(distance)) for each, distance in zip(found["ids"][0], distances[0], strict=True)]

    def read(self, collection: str, document: str) -> list[Sequence[float]]:
        there = self._find(collection)
        if there is None:
            return []
        vectors: Any = there.get(where={"document": document}, include=["embeddings"])["embeddings"]
        return list(vectors)

    def delete_document(self, collection: str, document: str) -> None:
        there = self._find(collection)
        if there is not None:
            there.delete(where={"document": document})

    def delete_ids(self, collection: str, ids: Sequence[str]) -> None:
        there = self._find(collection)
        if there is not None and ids:
            there.delete(list(ids))

    def drop(self, collection: str) -> None:
        if self._find(collection) is not None:
            self._client.delete_collection(collection)

    def count(self, collection: str) -> int | None:
        there = self._find(collection)
        return None if there is None else there.count()

    def close(self) -> None:
        self._client.close()

    def _find(self, collection: str) -> Any:
        try:
            return self._client.get_collection(collection, embedding_function=None)
        except NotFoundError:
            return None


def _of_documents(documents: Collection[str]) -> dict[str, Any]:
    return {"document": {"$in": list(documents)}}
