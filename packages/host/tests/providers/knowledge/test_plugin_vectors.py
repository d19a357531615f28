"""Tests the vectors that the Host keeps for plugins: exact search, filters, limits, and changes by several callers."""

import asyncio
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from parlour.core.model.providers import ProviderFailed
from parlour.core.system import SystemClock
from parlour.providers.knowledge.plugin_vectors import StoredVectors
from parlour.stores import migrate
from parlour.stores.sqlite.journal import SqliteJournal
from parlour_sdk.protocol.vectors import VectorRecord

OWNER, OTHER = "default:acme/one", "default:acme/other"


@pytest.fixture
async def journal(tmp_path: Path) -> AsyncIterator[SqliteJournal]:
    migrate.ensure(tmp_path / "vectors.db")
    async with SqliteJournal(tmp_path / "vectors.db") as journal:
        yield journal


@pytest.fixture
def vectors(journal: SqliteJournal) -> StoredVectors:
    return StoredVectors(journal, SystemClock())


def record(vector_id: str, *numbers: float, **metadata: Any) -> VectorRecord:
    return VectorRecord(vector_id=vector_id, vector=list(numbers), text=f"text of {vector_id}", metadata=metadata)


async def found(vectors: StoredVectors, *vector: float, owner: str = OWNER, **filters: Any) -> list[str]:
    return [hit.vector_id for hit in await vectors.search(owner, "shelf", vector, 5, filters)]


async def test_the_nearest_vectors_come_first_with_their_texts(vectors: StoredVectors) -> None:
    await vectors.upsert(OWNER, "shelf", [record("a", 1, 0), record("b", 3, 3), record("c", -2, 0)])
    hits = await vectors.search(OWNER, "shelf", [1, 0], 3, None)
    assert [(hit.vector_id, hit.text) for hit in hits] == [(each, f"text of {each}") for each in "abc"]
    assert [hit.score for hit in hits] == pytest.approx([1.0, 0.853553, 0.0], abs=1e-5)


async def test_a_search_is_exact_among_many_vectors(vectors: StoredVectors) -> None:
    random = np.random.default_rng(3)
    every = random.normal(size=(2500, 16))
    for start in range(0, len(every), 250):
        some = every[start : start + 250]
        await vectors.upsert(OWNER, "shelf", [record(f"v{start + at:04}", *row) for at, row in enumerate(some)])
    query = random.normal(size=16)
    cosines = every @ query / np.linalg.norm(every, axis=1)
    best = [f"v{row:04}" for row in np.argsort(-cosines)[:5]]
    assert await found(vectors, *query) == best
    page = await vectors.list_ids(OWNER, "shelf", "v00", "v0097", 100)
    assert (page.vector_ids, page.total, page.has_more) == (["v0098", "v0099"], 2500, False)


async def test_filters_look_beyond_the_nearest_vectors(vectors: StoredVectors) -> None:
    near = [record(f"near{number}", 1, number / 1000, page=1) for number in range(250)]
    await vectors.upsert(OWNER, "shelf", near)
    await vectors.upsert(OWNER, "shelf", [record("far", -1, 0, page=7, name="x")])
    assert await found(vectors, 1, 0, page={"$gte": 2}) == ["far"]
    assert await found(vectors, 1, 0, page=7, name="x") == ["far"]
    assert await found(vectors, 1, 0, name={"$in": ["y"]}) == []
    with pytest.raises(ProviderFailed, match="no operator"):
        await found(vectors, 1, 0, page={"$near": 1})


async def test_vectors_are_replaced_and_deleted_by_id_prefix_and_collection(vectors: StoredVectors) -> None:
    await vectors.upsert(OWNER, "shelf", [record("f1:0", 1, 0), record("f1:1", 0, 1), record("f2:0", 1, 1)])
    await vectors.upsert(OWNER, "shelf", [record("f2:0", -1, 0)])
    assert await found(vectors, 1, 0) == ["f1:0", "f1:1", "f2:0"]
    await vectors.delete(OWNER, "shelf", ["f1:0", "unknown"], None)
    assert await found(vectors, 1, 0) == ["f1:1", "f2:0"]
    await vectors.delete(OWNER, "shelf", None, "f1:")
    assert (await vectors.list_ids(OWNER, "shelf", "", "", 10)).vector_ids == ["f2:0"]
    await vectors.delete(OWNER, "shelf", None, None)
    assert await found(vectors, 1, 0) == []
    await vectors.upsert(OWNER, "shelf", [record("longer", 1, 0, 0)])  # a new collection has a new length
    assert (await vectors.list_ids(OWNER, "shelf", "", "", 10)).total == 1


async def test_changes_of_another_host_are_found(vectors: StoredVectors, journal: SqliteJournal) -> None:
    other_host = StoredVectors(journal, SystemClock())
    await vectors.upsert(OWNER, "shelf", [record("a", 1, 0)])
    assert await found(vectors, 1, 0) == ["a"]
    await other_host.upsert(OWNER, "shelf", [record("b", 1, 0.1)])
    assert await found(vectors, 1, 0) == ["a", "b"]
    await other_host.delete(OWNER, "shelf", ["a"], None)
    assert await found(vectors, 1, 0) == ["b"]


async def test_concurrent_calls_of_several_hosts_are_counted(vectors: StoredVectors, journal: SqliteJournal) -> None:
    hosts = [vectors, StoredVectors(journal, SystemClock())]
    batches = [[record(f"{number}:{place}", 1, place) for place in range(4)] for number in range(8)]
    await asyncio.gather(
        *(hosts[number % 2].upsert(OWNER, "shelf", batch) for number, batch in enumerate(batches)),
    )
    assert (await vectors.list_ids(OWNER, "shelf", "", "", 100)).total == 32


async def test_plugins_have_collections_of_their_own(vectors: StoredVectors) -> None:
    await vectors.upsert(OWNER, "shelf", [record("a", 1, 0)])
    assert await found(vectors, 1, 0, owner=OTHER) == []
    await vectors.delete(OTHER, "shelf", None, None)
    await vectors.upsert(OWNER, "shelf/a", [record("b", 1, 0)])
    await vectors.delete(OWNER, "shelf/a", None, None)
    assert await found(vectors, 1, 0) == ["a"]


async def test_wrong_vectors_and_too_many_are_refused_and_change_nothing(journal: SqliteJournal) -> None:
    vectors = StoredVectors(journal, SystemClock(), max_bytes=200)
    await vectors.upsert(OWNER, "shelf", [record("a", 1, 0)])
    for wrong, code in (
        ([record("b", 1, 0, 0)], "invalid_argument"),
        ([record("b", 1, 0), record("c", 1)], "invalid_argument"),
        ([record("b", float("nan"), 0)], "invalid_argument"),
        ([record("b", 1, 0, text="x" * 200)], "payload_too_large"),
    ):
        with pytest.raises(ProviderFailed) as failure:
            await vectors.upsert(OWNER, "shelf", wrong)
        assert failure.value.code == code
    with pytest.raises(ProviderFailed, match="vectors of 2 numbers, not 3"):
        await found(vectors, 1, 0, 0)
    assert await found(vectors, 1, 0) == ["a"]
