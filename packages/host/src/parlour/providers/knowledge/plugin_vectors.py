"""Keeps the vectors of plugins in the table of their storage, and searches them exactly in memory.

A collection has one row that says what is in it. Each change replaces that row in the same unit, guarded by its old
value, so that changes never mix and a search sees by one read whether its copy in memory is outdated.
"""

import asyncio
import json
import secrets
import time
from collections.abc import AsyncIterator, Collection, Mapping, Sequence
from typing import Any

import numpy as np

from parlour.core.encoding import dumps, loads
from parlour.core.journal import (
    ANY,
    Delete,
    GuardFailed,
    Insert,
    Journal,
    Select,
    Statement,
    Unit,
    Update,
    Upsert,
    above,
    one_of,
    starts_with,
    where,
)
from parlour.core.knowledge.filters import RetrievalFilters
from parlour.core.knowledge.ports import KnowledgeFailed
from parlour.core.model.ports import Clock
from parlour.core.model.providers import ProviderFailed
from parlour.core.store.storage import MEBIBYTE, VECTOR_COLLECTIONS, VECTORS
from parlour.core.store.tables import STORAGE
from parlour_sdk.protocol.vectors import FoundVector, VectorPage, VectorRecord
from parlour_sdk.values import dataclass

MAX_COLLECTIONS = 200
MAX_BYTES = 512 * MEBIBYTE
"""Bytes of all vectors and texts of a plugin."""
MAX_ATTEMPTS = 10
"""Attempts of a change that meets changes of the same collection by other calls."""
IDLE_SECONDS = 600.0
"""Seconds after which the copy of a collection that is not searched is dropped."""
PAGE_ROWS = 1000
FIRST_CANDIDATES = 100
"""Nearest vectors whose metadata is read first; with filters that most of them fail, more are read."""
_HEADER_BYTES = 4


@dataclass(frozen=True, slots=True)
class CollectionState:
    """The content of a collection, as its row says."""

    dimension: int
    vectors: int
    size_bytes: int
    token: str
    """Replaced by every change."""

    def encode(self) -> bytes:
        return dumps([self.dimension, self.vectors, self.size_bytes, self.token]).encode()

    @classmethod
    def decode(cls, value: bytes) -> "CollectionState":
        return cls(*json.loads(value))


@dataclass(frozen=True, slots=True)
class LoadedCollection:
    """A collection in memory."""

    token: str
    ids: list[str]
    vectors: Any
    """One row per id, of length 1."""


class StoredVectors:
    """The vectors of all plugins. Implements the port `PluginVectors`."""

    def __init__(self, journal: Journal, clock: Clock, max_bytes: int = MAX_BYTES) -> None:
        self._journal = journal
        self._clock = clock
        self._max_bytes = max_bytes
        self._loaded: dict[tuple[str, str], tuple[float, LoadedCollection]] = {}
        """Collections by owner and name, with the time of their last search."""
        self._loading = asyncio.Lock()
        self._changing = asyncio.Lock()

    async def upsert(self, owner: str, collection: str, records: Sequence[VectorRecord]) -> None:
        values = await asyncio.to_thread(lambda: {each.vector_id: _encode(each) for each in records})
        async with self._changing:
            await self._upsert(owner, collection, records, values)

    async def _upsert(
        self, owner: str, collection: str, records: Sequence[VectorRecord], values: Mapping[str, bytes]
    ) -> None:
        [dimension, *others] = {len(each.vector) for each in records}
        for _ in range(MAX_ATTEMPTS):
            before = await self._state(owner, collection)
            if others or (before is not None and before.dimension != dimension):
                wanted = f"{before.dimension} numbers" if before is not None else "the same length"
                raise ProviderFailed("invalid_argument", f"vectors: all vectors of a collection have {wanted}")
            replaced = await self._sizes(owner, collection, list(values))
            grown = sum(map(len, values.values())) - sum(replaced.values())
            await self._check_quota(owner, before is None, grown)
            state = CollectionState(
                dimension,
                (before.vectors if before else 0) + len(values) - len(replaced),
                (before.size_bytes if before else 0) + grown,
                secrets.token_hex(8),
            )
            rows = [self._insert(VECTORS, owner, _name(collection, name), value) for name, value in values.items()]
            if await self._commit("vectors.upsert", self._replace(owner, collection, before, state), rows):
                return
        raise _busy(collection)

    async def search(
        self, owner: str, collection: str, vector: Sequence[float], top_k: int, filters: Mapping[str, Any] | None
    ) -> Sequence[FoundVector]:
        try:
            conditions = RetrievalFilters.parse(filters)
        except KnowledgeFailed as failure:
            raise ProviderFailed(failure.code, failure.message) from failure
        loaded = await self._load(owner, collection)
        if loaded is None or not loaded.ids:
            return []
        if len(vector) != loaded.vectors.shape[1]:
            message = f"vector: the collection has vectors of {loaded.vectors.shape[1]} numbers, not {len(vector)}"
            raise ProviderFailed("invalid_argument", message)
        order, scores = await asyncio.to_thread(_nearest, loaded, vector)
        hits: list[FoundVector] = []
        start, size = 0, max(FIRST_CANDIDATES, top_k)
        while len(hits) < top_k and start < len(order):
            some = order[start : start + size]
            stored = await self._read(owner, collection, [loaded.ids[row] for row in some])
            for row in some:
                text, metadata = stored.get(loaded.ids[row], (None, {}))
                if text is not None and conditions.accepts_metadata(metadata):
                    score = min(1.0, max(0.0, float(scores[row])))
                    hits.append(FoundVector(vector_id=loaded.ids[row], score=score, text=text, metadata=metadata))
            start, size = start + size, min(2 * size, PAGE_ROWS)
        return hits[:top_k]

    async def delete(self, owner: str, collection: str, vector_ids: Collection[str] | None, prefix: str | None) -> None:
        for _ in range(MAX_ATTEMPTS):
            before = await self._state(owner, collection)
            if before is None:
                return
            if vector_ids is None and prefix is None:
                whole = Delete(STORAGE, _where(VECTORS, owner, starts_with(_name(collection))), expect=ANY)
                state: CollectionState | None = None
                changes = [whole]
            else:
                doomed = await self._sizes(owner, collection, list(vector_ids or ()))
                if prefix is not None:
                    doomed |= await self._sizes_below(owner, collection, prefix)
                state = CollectionState(
                    before.dimension,
                    before.vectors - len(doomed),
                    before.size_bytes - sum(doomed.values()),
                    secrets.token_hex(8),
                )
                names = sorted(doomed)
                changes = [
                    Delete(STORAGE, _where(VECTORS, owner, one_of(*names[start : start + PAGE_ROWS])), expect=ANY)
                    for start in range(0, len(names), PAGE_ROWS)
                ]
            if await self._commit("vectors.delete", self._replace(owner, collection, before, state), changes):
                return
        raise _busy(collection)

    async def list_ids(self, owner: str, collection: str, prefix: str, after: str, limit: int) -> VectorPage:
        state = await self._state(owner, collection)
        if state is None:
            return VectorPage(vector_ids=[])
        names = [_id_of(name) async for name in self._names(owner, collection, prefix, after, limit + 1)]
        return VectorPage(vector_ids=names[:limit], total=state.vectors, has_more=len(names) > limit)

    async def _load(self, owner: str, collection: str) -> LoadedCollection | None:
        """Returns the collection as it is now, from memory if nothing has changed."""
        key, now = (owner, collection), time.monotonic()
        state = await self._state(owner, collection)
        if state is None:
            self._loaded.pop(key, None)
            return None
        self._loaded = {each: loaded for each, loaded in self._loaded.items() if now - loaded[0] < IDLE_SECONDS}
        _, known = self._loaded.get(key, (0.0, None))
        if known is None or known.token != state.token:
            async with self._loading:
                known = await self._read_all(owner, collection, state)
        self._loaded[key] = (now, known)
        return known

    async def _read_all(self, owner: str, collection: str, state: CollectionState) -> LoadedCollection:
        ids: list[str] = []
        parts: list[Any] = [np.empty((0, state.dimension), np.float32)]
        last = _name(collection)
        while True:
            condition = (*_where(VECTORS, owner, starts_with(_name(collection))), *where(name=above(last)))
            rows = await self._journal.read(
                Select(STORAGE, condition, ("name", "value"), order=("name",), limit=PAGE_ROWS)
            )
            if not rows:
                break
            ids += [_id_of(row["name"]) for row in rows]
            parts.append(await asyncio.to_thread(_vectors_of, rows, state.dimension))
            last = rows[-1]["name"]
        return LoadedCollection(state.token, ids, np.concatenate(parts))

    async def _state(self, owner: str, collection: str) -> CollectionState | None:
        query = Select(STORAGE, _where(VECTOR_COLLECTIONS, owner, collection), ("value",), limit=1, point_read=True)
        rows = await self._journal.read(query)
        return CollectionState.decode(bytes(rows[0]["value"])) if rows else None

    async def _sizes(self, owner: str, collection: str, ids: Sequence[str]) -> dict[str, int]:
        """Returns the sizes of the rows with these ids, by the names of the rows."""
        names = [_name(collection, each) for each in ids]
        sizes: dict[str, int] = {}
        for start in range(0, len(names), PAGE_ROWS):
            condition = _where(VECTORS, owner, one_of(*names[start : start + PAGE_ROWS]))
            rows = await self._journal.read(Select(STORAGE, condition, ("name", "size_bytes")))
            sizes |= {row["name"]: int(row["size_bytes"]) for row in rows}
        return sizes

    async def _sizes_below(self, owner: str, collection: str, prefix: str) -> dict[str, int]:
        condition = _where(VECTORS, owner, starts_with(_name(collection, prefix)))
        rows = await self._journal.read(Select(STORAGE, condition, ("name", "size_bytes")))
        return {row["name"]: int(row["size_bytes"]) for row in rows}

    async def _names(self, owner: str, collection: str, prefix: str, after: str, limit: int) -> AsyncIterator[str]:
        condition = _where(VECTORS, owner, starts_with(_name(collection, prefix)))
        later = where(name=above(_name(collection, after)))
        query = Select(STORAGE, (*condition, *later), ("name",), order=("name",), limit=limit)
        for row in await self._journal.read(query):
            yield row["name"]

    async def _read(self, owner: str, collection: str, ids: Sequence[str]) -> dict[str, tuple[str, dict[str, Any]]]:
        """Returns text and metadata by id."""
        found: dict[str, tuple[str, dict[str, Any]]] = {}
        for start in range(0, len(ids), PAGE_ROWS):
            names = [_name(collection, each) for each in ids[start : start + PAGE_ROWS]]
            condition = _where(VECTORS, owner, one_of(*names))
            for row in await self._journal.read(Select(STORAGE, condition, ("name", "value"))):
                text, metadata, _ = _decode(bytes(row["value"]))
                found[_id_of(row["name"])] = (text, metadata)
        return found

    async def _check_quota(self, owner: str, is_new: bool, grown: int) -> None:
        rows = await self._journal.read(Select(STORAGE, where(area=VECTOR_COLLECTIONS, owner=owner), ("value",)))
        if is_new and len(rows) >= MAX_COLLECTIONS:
            message = f"a plugin has at most {MAX_COLLECTIONS} collections of vectors"
            raise ProviderFailed("payload_too_large", f"{message}; delete one first")
        used = sum(CollectionState.decode(bytes(row["value"])).size_bytes for row in rows)
        if grown > 0 and used + grown > self._max_bytes:
            message = f"the vectors of a plugin have at most {self._max_bytes // MEBIBYTE} MiB"
            raise ProviderFailed("payload_too_large", f"{message}; delete some first")

    def _insert(self, area: str, owner: str, name: str, value: bytes, is_new: bool = False) -> Statement:
        row: dict[str, str | int | bytes] = {"area": area, "owner": owner, "name": name, "value": value}
        row |= {"size_bytes": len(value), "updated_at": self._clock.now()}
        upsert = Upsert(("area", "owner", "name"), ("value", "size_bytes", "updated_at"))
        return Insert(STORAGE, {**row}, conflict="fail" if is_new else upsert)

    def _replace(
        self, owner: str, collection: str, before: CollectionState | None, state: CollectionState | None
    ) -> Statement:
        """Replaces the row of a collection; the unit fails if another call has replaced it first."""
        if before is None:
            assert state is not None
            return self._insert(VECTOR_COLLECTIONS, owner, collection, state.encode(), is_new=True)
        condition = (*_where(VECTOR_COLLECTIONS, owner, collection), *where(value=before.encode()))
        if state is None:
            return Delete(STORAGE, condition)
        return Update(STORAGE, {"value": state.encode(), "updated_at": self._clock.now()}, condition)

    async def _commit(self, name: str, guard: Statement, changes: Sequence[Statement]) -> bool:
        try:
            await self._journal.commit(Unit(name, (guard, *changes)))
        except GuardFailed:
            return False
        return True


def _where(area: str, owner: str, name: Any) -> tuple[Any, ...]:
    return where(area=area, owner=owner, name=name)


def _name(collection: str, vector_id: str = "") -> str:
    """Returns the name of a vector's row. A slash in the name of the collection must not look like its end."""
    return f"{collection.replace('%', '%25').replace('/', '%2F')}/{vector_id}"


def _id_of(name: str) -> str:
    return name.partition("/")[2]


def _encode(record: VectorRecord) -> bytes:
    numbers = np.asarray(record.vector, np.float32)
    if not np.isfinite(numbers).all():
        raise ProviderFailed("invalid_argument", f"vectors: '{record.vector_id}' has a number that is not finite")
    header = dumps([record.text, record.metadata]).encode()
    return len(header).to_bytes(_HEADER_BYTES, "little") + header + numbers.astype("<f4").tobytes()


def _decode(value: bytes) -> tuple[str, dict[str, Any], bytes]:
    length = int.from_bytes(value[:_HEADER_BYTES], "little") + _HEADER_BYTES
    text, metadata = loads(value[_HEADER_BYTES:length].decode())
    return text, metadata, value[length:]


def _vectors_of(rows: Sequence[Mapping[str, Any]], dimension: int) -> Any:
    """Returns the vectors of rows with length 1; a vector of zeros stays one."""
    numbers = b"".join(bytes(row["value"])[-4 * dimension :] for row in rows)
    vectors = np.frombuffer(numbers, "<f4").reshape(len(rows), dimension)
    return vectors / np.maximum(np.linalg.norm(vectors, axis=1, keepdims=True), 1e-12)


def _nearest(loaded: LoadedCollection, vector: Sequence[float]) -> tuple[list[int], Any]:
    """Returns all rows, nearest first, and their scores."""
    query = np.asarray(vector, np.float32)
    scores = (1 + loaded.vectors @ (query / max(float(np.linalg.norm(query)), 1e-12))) / 2
    return np.argsort(-scores, kind="stable").tolist(), scores


def _busy(collection: str) -> ProviderFailed:
    message = f"the collection '{collection}' is being changed by other calls; try again"
    return ProviderFailed("runtime_error", message, retryable=True)
