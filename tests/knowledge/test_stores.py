"""Tests the builtin store and PostgreSQL by the contract of vector stores."""

import os
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager
from pathlib import Path

import pytest

from parlour.core.knowledge.ports import KnowledgeFailed, VectorStore
from parlour.providers.knowledge.stores.catalogue import StoreAccount, StoreCatalogue, store_problem
from parlour.providers.knowledge.stores.pgvector import INDEXED_ROWS
from parlour.testing.postgres_server import PostgresServer
from parlour.testing.vector_store_contract import COLLECTION, OpenStore, VectorStoreContract, filled, unit_vectors


def opener(name: str, folder: Path, account: StoreAccount | None = None) -> OpenStore:
    """Returns what opens a store as a Host does."""

    @asynccontextmanager
    async def open_store() -> AsyncIterator[VectorStore]:
        stores = StoreCatalogue(folder, {name: account or StoreAccount()})
        try:
            yield stores.of(name)
        finally:
            await stores.close()

    return open_store


@pytest.fixture(scope="module")
def server() -> Iterator[PostgresServer]:
    with PostgresServer() as server:
        yield server


class TestBuiltinStore(VectorStoreContract):
    @pytest.fixture
    def open_store(self, tmp_path: Path) -> OpenStore:
        return opener("builtin", tmp_path)


def indexes(server: PostgresServer) -> list[str]:
    return server.execute("SELECT indexname FROM pg_indexes WHERE indexname = 'p_contract_1_embedding'")


class TestPgVector(VectorStoreContract):
    @pytest.fixture
    def open_store(self, server: PostgresServer, tmp_path: Path) -> OpenStore:
        return opener("pgvector", tmp_path, StoreAccount(server.url()))

    async def test_a_search_uses_the_index(self, open_store: OpenStore, server: PostgresServer) -> None:
        async with open_store() as store:
            await filled(store)
            assert not indexes(server)
            vectors = unit_vectors(INDEXED_ROWS, 4)
            for start in range(0, INDEXED_ROWS, 500):
                ids = [f"many{start + place}" for place in range(500)]
                await store.add(COLLECTION, "many:1", ids, vectors[start : start + 500])
            await store.flush(COLLECTION)
            assert indexes(server)
            found = await store.search(COLLECTION, vectors[77], 1)
            assert found.scores[0][0] == "many77"
        explained = server.execute(
            "SET enable_seqscan = off; EXPLAIN SELECT id FROM parlour_vectors.p_contract_1 "
            f"ORDER BY embedding <=> '{unit_vectors(1, 1)[0].tolist()}'::halfvec LIMIT 5"
        )
        assert any("p_contract_1_embedding" in line for line in explained)

    async def test_vectors_too_long_for_the_index_are_searched_exactly(self, open_store: OpenStore) -> None:
        async with open_store() as store:
            await store.drop(COLLECTION)
            await store.create(COLLECTION, 4100)
            vectors = unit_vectors(3, 1, 4100)
            await store.add(COLLECTION, "#reference", ["#0", "#1"], unit_vectors(2, 2, 4100))
            await store.add(COLLECTION, "first:1", ["a", "b", "c"], vectors)
            assert (await store.search(COLLECTION, vectors[1], 1)).scores[0][0] == "b"


async def test_a_server_that_is_gone_is_named_and_may_be_tried_again(tmp_path: Path) -> None:
    async with opener("pgvector", tmp_path, StoreAccount(f"postgresql:///x?host={tmp_path}"))() as store:
        with pytest.raises(KnowledgeFailed) as failure:
            await store.count(COLLECTION)
    assert (failure.value.code, failure.value.retryable) == ("store_unavailable", True)
    assert "pgvector" in failure.value.message


def test_with_several_hosts_files_on_one_disk_are_refused(tmp_path: Path) -> None:
    servers = {"pgvector": StoreAccount("postgresql:///x"), "qdrant": StoreAccount("http://127.0.0.1:1")}
    problems = {name: store_problem(name, servers, is_sole=False) for name in ("builtin", "chroma", "pgvector")}
    assert [bool(problem) for problem in problems.values()] == [True, True, False]
    assert "use pgvector, or a store with a server" in problems["builtin"]
    with pytest.raises(KnowledgeFailed) as failure:
        StoreCatalogue(tmp_path, servers, is_sole=False).of("builtin")
    assert failure.value.code == "store_unavailable"
    assert not os.listdir(tmp_path)


async def test_a_store_that_cannot_be_used_says_what_to_do(tmp_path: Path) -> None:
    assert store_problem("builtin", {}) == ""
    assert "database.url" in store_problem("pgvector", {})
    assert "there are builtin" in store_problem("shelf", {})
    with pytest.raises(KnowledgeFailed):
        StoreCatalogue(tmp_path, {}).of("pgvector")
    assert not os.listdir(tmp_path)
