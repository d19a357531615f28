"""Stores vectors in PostgreSQL with the extension `vector`: one table per collection, half precision, an HNSW index.

A new table has no index: to build one from all rows takes a tenth of the time of adding the rows to it one by one. So
`flush` builds it when the table is large enough to need it; a smaller one is searched exactly.
"""

import asyncio
from collections.abc import AsyncIterator, Collection, Sequence
from contextlib import asynccontextmanager
from typing import Any

import asyncpg  # type: ignore[import-untyped]

from parlour.core.knowledge.ports import KnowledgeFailed, VectorHits, Vectors

from .library import CHANGE_SECONDS, READ_SECONDS

SCHEMA = "parlour_vectors"
MAX_INDEXED_NUMBERS = 4000
"""Largest dimension that the index takes; longer vectors are searched exactly."""
CANDIDATES = 200
"""Vectors that a search of the index looks at; larger is more exact and slower."""
CONNECTIONS = 4
INDEXED_ROWS = 2000
"""Vectors from which a collection has an index."""
INDEX_SECONDS = 3600.0
"""Seconds that building an index may take. Searches go on in the meantime."""
INDEX_MEMORY = "512MB"
"""Memory in which an index is built; one that does not fit takes many times as long."""


class PgVectorStore:
    """A database with one table per collection. A collection's name is safe as the name of a table."""

    def __init__(self, url: str) -> None:
        self._url = url
        self._pool: Any = None
        self._opening = asyncio.Lock()

    async def create(self, collection: str, dimension: int) -> None:
        async with self._connection() as database:
            there = await database.fetchval(
                "SELECT atttypmod FROM pg_attribute WHERE attrelid = to_regclass($1) AND attname = 'embedding'",
                f"{SCHEMA}.{collection}",
            )
            if there is None:
                await self._create_table(database, collection, dimension)
            elif there != dimension:
                message = f"the base has vectors of {there} numbers, and the model gives {dimension}"
                raise KnowledgeFailed("embed.dimension", f"{message}; embed the base again")

    async def _create_table(self, database: Any, collection: str, dimension: int) -> None:
        await database.execute(f"CREATE SCHEMA IF NOT EXISTS {SCHEMA}")
        async with database.transaction():
            await database.execute(
                f"CREATE TABLE IF NOT EXISTS {SCHEMA}.{collection} "
                f"(id text PRIMARY KEY, document text NOT NULL, embedding halfvec({int(dimension)}) NOT NULL)"
            )
            await database.execute(
                f"CREATE INDEX IF NOT EXISTS {collection}_document ON {SCHEMA}.{collection} (document)"
            )

    async def add(self, collection: str, document: str, ids: Sequence[str], vectors: Vectors) -> None:
        texts = [f"[{','.join(map(repr, row))}]" for row in vectors.tolist()]
        async with self._connection() as database:
            await database.execute(
                f"INSERT INTO {SCHEMA}.{collection} (id, document, embedding) "
                "SELECT id, $2, embedding::halfvec FROM unnest($1::text[], $3::text[]) AS new (id, embedding) "
                "ON CONFLICT (id) DO UPDATE SET document = excluded.document, embedding = excluded.embedding",
                list(ids),
                document,
                texts,
            )

    async def flush(self, collection: str) -> None:
        """Builds the index if the collection has grown large enough. Each call above is committed already."""
        async with self._connection(INDEX_SECONDS) as database:
            if await self._needs_index(database, collection):
                try:
                    await self._build_index(database, collection)
                except asyncpg.DiskFullError:  # too little shared memory for several processes, as in a container
                    await self._build_index(database, collection, processes=0)

    async def _needs_index(self, database: Any, collection: str) -> bool:
        if not await _exists(database, collection) or await _exists(database, f"{collection}_embedding"):
            return False
        dimension = await database.fetchval(
            "SELECT atttypmod FROM pg_attribute WHERE attrelid = to_regclass($1) AND attname = 'embedding'",
            f"{SCHEMA}.{collection}",
        )
        query = f"SELECT count(*) FROM (SELECT 1 FROM {SCHEMA}.{collection} LIMIT {INDEXED_ROWS}) AS first_rows"
        return bool(dimension <= MAX_INDEXED_NUMBERS and await database.fetchval(query) == INDEXED_ROWS)

    async def _build_index(self, database: Any, collection: str, processes: int | None = None) -> None:
        async with database.transaction():
            await database.execute(f"SET LOCAL maintenance_work_mem = '{INDEX_MEMORY}'")
            if processes is not None:
                await database.execute(f"SET LOCAL max_parallel_maintenance_workers = {processes}")
            await database.execute(
                f"CREATE INDEX IF NOT EXISTS {collection}_embedding ON {SCHEMA}.{collection} "
                "USING hnsw (embedding halfvec_cosine_ops)"
            )

    async def search(
        self, collection: str, vector: Vectors, limit: int, documents: Collection[str] | None = None
    ) -> VectorHits:
        text = f"[{','.join(map(repr, vector.tolist()))}]"
        condition = "" if documents is None else "WHERE document = ANY($3::text[])"
        values = [text, limit] if documents is None else [text, limit, list(documents)]
        async with self._connection(READ_SECONDS) as database:
            if not await _exists(database, collection):
                return VectorHits([])
            rows = await database.fetch(
                f"SELECT id, 1 - (embedding <=> $1::halfvec) AS similarity FROM {SCHEMA}.{collection} {condition} "
                "ORDER BY embedding <=> $1::halfvec LIMIT $2",
                *values,
            )
        return VectorHits([(row["id"], float(row["similarity"])) for row in rows])

    async def read(self, collection: str, document: str) -> list[Sequence[float]]:
        async with self._connection(READ_SECONDS) as database:
            if not await _exists(database, collection):
                return []
            query = f"SELECT embedding::real[] AS embedding FROM {SCHEMA}.{collection} WHERE document = $1 ORDER BY id"
            return [row["embedding"] for row in await database.fetch(query, document)]

    async def delete_document(self, collection: str, document: str) -> None:
        await self._delete(collection, "document = $1", document)

    async def delete_ids(self, collection: str, ids: Collection[str]) -> None:
        await self._delete(collection, "id = ANY($1::text[])", list(ids))

    async def _delete(self, collection: str, condition: str, value: Any) -> None:
        async with self._connection() as database:
            if await _exists(database, collection):
                await database.execute(f"DELETE FROM {SCHEMA}.{collection} WHERE {condition}", value)

    async def drop(self, collection: str) -> None:
        async with self._connection() as database:
            await database.execute(f"DROP TABLE IF EXISTS {SCHEMA}.{collection}")

    async def count(self, collection: str) -> int | None:
        async with self._connection(READ_SECONDS) as database:
            if not await _exists(database, collection):
                return None
            return int(await database.fetchval(f"SELECT count(*) FROM {SCHEMA}.{collection}"))

    async def close(self) -> None:
        pool, self._pool = self._pool, None
        if pool is not None:
            await pool.close()

    @asynccontextmanager
    async def _connection(self, seconds: float = CHANGE_SECONDS) -> AsyncIterator[Any]:
        try:
            async with asyncio.timeout(seconds):
                async with self._opening:
                    if self._pool is None:
                        self._pool = await self._open()
                async with self._pool.acquire() as connection:
                    yield connection
        except TimeoutError:
            message = f"the vector store pgvector did not answer within {seconds:.0f} seconds"
            raise KnowledgeFailed("store_unavailable", message, retryable=True) from None
        except (OSError, asyncpg.PostgresError, asyncpg.InterfaceError) as error:
            message = f"the vector store pgvector failed: {str(error).strip()[:300]}"
            raise KnowledgeFailed("store_unavailable", message, retryable=True) from error

    async def _open(self) -> Any:
        settings = {
            "application_name": "parlour vectors",
            "hnsw.ef_search": str(CANDIDATES),
            "hnsw.iterative_scan": "relaxed_order",
        }
        first = await asyncpg.connect(self._url)
        try:
            await first.execute("CREATE EXTENSION IF NOT EXISTS vector")
        except asyncpg.PostgresError as error:
            reason = "install pgvector, or run CREATE EXTENSION vector as a superuser"
            raise KnowledgeFailed("store_unavailable", f"PostgreSQL has no extension 'vector': {reason}") from error
        finally:
            await first.close()
        return await asyncpg.create_pool(self._url, min_size=0, max_size=CONNECTIONS, server_settings=settings)


async def _exists(database: Any, collection: str) -> bool:
    return await database.fetchval("SELECT to_regclass($1)", f"{SCHEMA}.{collection}") is not None
