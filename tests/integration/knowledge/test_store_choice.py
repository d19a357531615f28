"""Tests that bases keep their vectors in the store that is chosen, and move to another one while they are searched."""

from collections.abc import Iterator

import pytest

from parlour.testing.postgres_server import PostgresServer
from tests.integration.conftest import MakeHost
from tests.support.harness import Host, error_code, eventually

from .test_bases import HANDBOOK, finished, new_base, search, upload

QUESTION = "days of annual leave"


@pytest.fixture(scope="module")
def server() -> Iterator[PostgresServer]:
    with PostgresServer() as server:
        yield server


@pytest.fixture
def database(server: PostgresServer) -> str:
    return server.create()


@pytest.fixture
def pg_host(make_host: MakeHost, server: PostgresServer, database: str) -> Host:
    """A Host on SQLite whose new bases keep their vectors in PostgreSQL."""
    url = server.url(database)
    return make_host(PARLOUR__KNOWLEDGE__STORE="pgvector", PARLOUR__KNOWLEDGE__PGVECTOR__URL=url).start()


def tables(server: PostgresServer, database: str) -> list[str]:
    return server.execute("SELECT tablename FROM pg_tables WHERE schemaname = 'parlour_vectors'", database)


def status(host: Host, kb_id: str) -> str:
    return str(host.http().get(f"/knowledge-bases/{kb_id}").json()["status"])


def test_a_base_moves_between_postgresql_and_the_builtin_store(
    pg_host: Host, server: PostgresServer, database: str
) -> None:
    stores = {each["name"]: each for each in pg_host.http().get("/knowledge-stores").json()["items"]}
    assert (stores["pgvector"]["is_default"], stores["pgvector"]["problem"]) == (True, None)
    kb_id = new_base(pg_host)
    finished(pg_host, kb_id, upload(pg_host, kb_id, "handbook.md", HANDBOOK.encode())["file_id"])
    assert "twenty-six" in search(pg_host, kb_id, QUESTION, mode="vector")[0]["text"]
    assert len(tables(server, database)) == 1

    base = pg_host.http().get(f"/knowledge-bases/{kb_id}").json()
    assert base["store"] == "pgvector"
    moved = pg_host.http().put(f"/knowledge-bases/{kb_id}", json={"name": base["name"], "store": "builtin"})
    assert moved.status_code == 200, moved.text
    eventually(
        lambda: pg_host.http().get(f"/knowledge-bases/{kb_id}").json()["store"] == "builtin", "the vectors have moved"
    )
    assert pg_host.http().get(f"/knowledge-bases/{kb_id}").json()["next_store"] is None
    assert "twenty-six" in search(pg_host, kb_id, QUESTION, mode="vector")[0]["text"]
    eventually(lambda: not tables(server, database), "the vectors in PostgreSQL are deleted")


def test_vectors_that_postgresql_has_lost_are_made_again(pg_host: Host, server: PostgresServer, database: str) -> None:
    kb_id = new_base(pg_host)
    finished(pg_host, kb_id, upload(pg_host, kb_id, "handbook.md", HANDBOOK.encode())["file_id"])
    pg_host.stop()
    server.execute("DROP SCHEMA parlour_vectors CASCADE", database)
    pg_host.start()
    eventually(lambda: status(pg_host, kb_id) == "ready", "the vectors are complete")
    assert "twenty-six" in search(pg_host, kb_id, QUESTION, mode="vector")[0]["text"]
    assert pg_host.http().delete(f"/knowledge-bases/{kb_id}").status_code == 204
    eventually(lambda: not tables(server, database), "the vectors of the deleted base are deleted")


def test_without_its_server_a_base_is_searched_by_words(pg_host: Host, server: PostgresServer, database: str) -> None:
    kb_id = new_base(pg_host)
    finished(pg_host, kb_id, upload(pg_host, kb_id, "handbook.md", HANDBOOK.encode())["file_id"])
    server.execute(f"ALTER DATABASE {database} ALLOW_CONNECTIONS false")
    server.execute(f"SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname = '{database}'")
    answer = pg_host.http().post(f"/knowledge-bases/{kb_id}/search", json={"query": QUESTION}).json()
    assert "twenty-six" in answer["items"][0]["text"]
    assert answer["notes"] == ["vectors_missing"]
    refused = pg_host.http().post(f"/knowledge-bases/{kb_id}/search", json={"query": QUESTION, "mode": "vector"})
    assert (refused.status_code, error_code(refused)) == (503, "store_unavailable")


def test_a_store_that_is_not_installed_is_refused_with_the_command(host: Host) -> None:
    refused = host.http().post("/knowledge-bases", json={"name": "Far", "store": "seekdb"})
    assert refused.status_code == 422
    assert "parlour[seekdb]" in refused.text
    assert host.http().post("/knowledge-bases", json={"name": "Far", "store": "shelf"}).status_code == 422
