"""Tests that every vector store must pass. An implementation joins by a subclass that provides `open_store`.

`open_store` opens the store of the Host's next process, which finds what the one before has added. The tests need
pytest and pytest-asyncio in auto mode.
"""

from collections.abc import Callable
from contextlib import AbstractAsyncContextManager
from typing import Any

import numpy as np
import pytest

from parlour.core.knowledge.ports import KnowledgeFailed, VectorStore
from parlour.core.knowledge.reference_texts import REFERENCE_DOCUMENT, REFERENCE_PREFIX

OpenStore = Callable[[], AbstractAsyncContextManager[VectorStore]]
COLLECTION, OTHER = "p_contract_1", "p_contract_2"
DIMENSION = 32
REFERENCES = 60


def unit_vectors(count: int, seed: int, dimension: int = DIMENSION) -> Any:
    """Returns random vectors of length 1 that all point in a similar direction, as those of texts do."""
    rows = np.random.default_rng(seed).normal(size=(count, dimension)) + 0.5
    return (rows / np.linalg.norm(rows, axis=1, keepdims=True)).astype(np.float32)


def names(prefix: str, count: int) -> list[str]:
    return [f"{prefix}{number:04}" for number in range(count)]


async def filled(store: VectorStore, collection: str = COLLECTION) -> None:
    """Creates a collection with references and two documents of 40 passages each."""
    await store.drop(collection)
    await store.create(collection, DIMENSION)
    references = [f"{REFERENCE_PREFIX}{number}" for number in range(REFERENCES)]
    await store.add(collection, REFERENCE_DOCUMENT, references, unit_vectors(REFERENCES, 9))
    await store.add(collection, "first:1", names("a", 40), unit_vectors(40, 1))
    await store.add(collection, "second:1", names("b", 40), unit_vectors(40, 2))
    await store.flush(collection)


class VectorStoreContract:
    async def test_the_same_vector_is_found_first(self, open_store: OpenStore) -> None:
        async with open_store() as store:
            await filled(store)
            for place in (0, 17, 39):
                hits = await store.search(COLLECTION, unit_vectors(40, 1)[place], 5)
                assert hits.scores[0][0] == names("a", 40)[place]
                assert hits.scores[0][1] == pytest.approx(1.0, abs=0.01)
                assert [score for _, score in hits.scores] == sorted((each for _, each in hits.scores), reverse=True)

    async def test_the_background_is_that_of_unrelated_vectors(self, open_store: OpenStore) -> None:
        async with open_store() as store:
            await filled(store)
            hits = await store.search(COLLECTION, unit_vectors(1, 77)[0], 5)
            assert hits.background is not None
            assert abs(hits.background.mean) < 0.1
            assert hits.background.deviation == pytest.approx(DIMENSION**-0.5, rel=0.5)
            same = await store.search(COLLECTION, unit_vectors(40, 2)[3], 1)
            assert same.background is not None
            assert same.background.score(same.scores[0][1]) > 0.7

    async def test_reference_texts_are_never_found_nor_counted(self, open_store: OpenStore) -> None:
        async with open_store() as store:
            await filled(store)
            hits = await store.search(COLLECTION, unit_vectors(REFERENCES, 9)[0], 200)
            assert {found[0] for found, _ in hits.scores} <= {"a", "b"}
            assert await store.count(COLLECTION) == 80

    async def test_a_search_may_be_limited_to_documents(self, open_store: OpenStore) -> None:
        async with open_store() as store:
            await filled(store)
            query = unit_vectors(40, 1)[5]
            hits = await store.search(COLLECTION, query, 40, ["second:1", "none:1"])
            assert {each for each, _ in hits.scores} == set(names("b", 40))
            assert (await store.search(COLLECTION, query, 40, ["none:1"])).scores == []

    async def test_what_was_flushed_is_found_by_the_next_process(self, open_store: OpenStore) -> None:
        async with open_store() as store:
            await filled(store)
        async with open_store() as store:
            assert await store.count(COLLECTION) == 80
            hits = await store.search(COLLECTION, unit_vectors(40, 2)[7], 1)
            assert hits.scores[0][0] == names("b", 40)[7]
            assert hits.background is not None
            assert hits.background.deviation > 0

    async def test_a_deleted_document_is_not_found_any_more(self, open_store: OpenStore) -> None:
        async with open_store() as store:
            await filled(store)
            await store.delete_document(COLLECTION, "first:1")
            await store.delete_document(COLLECTION, "none:1")
            await store.flush(COLLECTION)
            hits = await store.search(COLLECTION, unit_vectors(40, 1)[0], 200)
            assert {each for each, _ in hits.scores} == set(names("b", 40))
            assert await store.count(COLLECTION) == 40

    async def test_single_vectors_are_deleted_and_added_again(self, open_store: OpenStore) -> None:
        async with open_store() as store:
            await filled(store)
            await store.delete_ids(COLLECTION, ["a0003", "a0004", "missing"])
            assert await store.count(COLLECTION) == 78
            await store.add(COLLECTION, "first:1", ["a0003"], unit_vectors(40, 5)[:1])
            await store.flush(COLLECTION)
            hits = await store.search(COLLECTION, unit_vectors(40, 5)[0], 1)
            assert hits.scores[0][0] == "a0003"

    async def test_creating_twice_changes_nothing_and_another_dimension_is_refused(self, open_store: OpenStore) -> None:
        async with open_store() as store:
            await filled(store)
            await store.create(COLLECTION, DIMENSION)
            assert await store.count(COLLECTION) == 80
            with pytest.raises(KnowledgeFailed) as failure:
                await store.create(COLLECTION, DIMENSION + 1)
            assert failure.value.code == "embed.dimension"
            with pytest.raises(KnowledgeFailed) as failure:
                await store.search(COLLECTION, unit_vectors(1, 1, DIMENSION + 1)[0], 5)
            assert failure.value.code == "embed.dimension"

    async def test_collections_are_apart_and_one_that_is_gone_is_empty(self, open_store: OpenStore) -> None:
        async with open_store() as store:
            await filled(store)
            await filled(store, OTHER)
            await store.delete_ids(OTHER, names("a", 40))
            assert (await store.count(COLLECTION), await store.count(OTHER)) == (80, 40)
            for collection in (COLLECTION, OTHER, OTHER):
                await store.drop(collection)
            assert await store.count(COLLECTION) is None
            assert (await store.search(COLLECTION, unit_vectors(1, 1)[0], 5)).scores == []
            await store.delete_document(COLLECTION, "first:1")
            await store.delete_ids(COLLECTION, ["a0001"])
