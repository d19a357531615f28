"""Stores vectors in Milvus: a server by its address, or Milvus Lite in a file of the data directory."""

import json
from collections.abc import Collection, Sequence
from pathlib import Path
from typing import Any

from pymilvus import DataType, MilvusClient, MilvusException  # type: ignore[import-not-found]

from parlour.core.knowledge.ports import Vectors

ID_CHARACTERS = 64
TIMEOUT_SECONDS = 60
PAGE = 1000


class MilvusLibrary:
    """A Milvus client. Searches are strongly consistent: they find what was added before."""

    failures: tuple[type[Exception], ...] = (MilvusException, ValueError, OSError)

    def __init__(self, folder: Path, url: str, token: str) -> None:
        if url:
            self._client = MilvusClient(uri=url, token=token, timeout=TIMEOUT_SECONDS)
        else:
            folder.mkdir(mode=0o700, parents=True, exist_ok=True)
            self._client = MilvusClient(uri=str(folder / "vectors.db"))

    def create(self, collection: str, dimension: int) -> int:
        if self._client.has_collection(collection):
            fields = self._client.describe_collection(collection)["fields"]
            return int(next(field["params"]["dim"] for field in fields if field["name"] == "vector"))
        schema = MilvusClient.create_schema(auto_id=False, enable_dynamic_field=False)
        schema.add_field("id", DataType.VARCHAR, is_primary=True, max_length=ID_CHARACTERS)
        schema.add_field("document", DataType.VARCHAR, max_length=ID_CHARACTERS)
        schema.add_field("vector", DataType.FLOAT_VECTOR, dim=dimension)
        index = MilvusClient.prepare_index_params()
        index.add_index("vector", index_type="AUTOINDEX", metric_type="COSINE")
        self._client.create_collection(collection, schema=schema, index_params=index, consistency_level="Strong")
        return dimension

    def add(self, collection: str, document: str, ids: Sequence[str], vectors: Vectors) -> None:
        rows = zip(ids, vectors.tolist(), strict=True)
        self._client.upsert(collection, [{"id": each, "document": document, "vector": row} for each, row in rows])

    def flush(self, collection: str) -> None:
        if self._client.has_collection(collection):
            self._client.flush(collection)

    def search(
        self, collection: str, vector: Vectors, limit: int, documents: Collection[str] | None
    ) -> list[tuple[str, float]]:
        if not self._client.has_collection(collection):
            return []
        wanted = "" if documents is None else f"document in {_listed(documents)}"
        [found] = self._client.search(collection, data=[vector.tolist()], limit=limit, filter=wanted)
        return [(str(each["id"]), float(each["distance"])) for each in found]

    def read(self, collection: str, document: str) -> list[Sequence[float]]:
        if not self._client.has_collection(collection):
            return []
        wanted = f"document in {_listed([document])}"
        rows: Any = self._client.query(collection, filter=wanted, output_fields=["vector"], limit=PAGE)
        return [row["vector"] for row in rows]

    def delete_document(self, collection: str, document: str) -> None:
        if self._client.has_collection(collection):
            self._client.delete(collection, filter=f"document in {_listed([document])}")

    def delete_ids(self, collection: str, ids: Sequence[str]) -> None:
        if ids and self._client.has_collection(collection):
            self._client.delete(collection, filter=f"id in {_listed(ids)}")

    def drop(self, collection: str) -> None:
        if self._client.has_collection(collection):
            self._client.drop_collection(collection)

    def count(self, collection: str) -> int | None:
        if not self._client.has_collection(collection):
            return None
        rows: Any = self._client.query(collection, filter="", output_fields=["count(*)"])
        return int(rows[0]["count(*)"])

    def close(self) -> None:
        self._client.close()


def _listed(values: Collection[str]) -> str:
    return json.dumps(list(values))
