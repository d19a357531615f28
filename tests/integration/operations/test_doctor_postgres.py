"""Tests what `parlour doctor` says about a PostgreSQL server that does not keep the Host's promises."""

from collections.abc import Iterator
from contextlib import AsyncExitStack
from dataclasses import replace
from pathlib import Path

import asyncpg  # type: ignore[import-untyped]
import pytest

from parlour.operations.doctor import postgres
from parlour.stores.postgres.server_facts import ServerFacts, read_server_facts
from parlour.testing.postgres_server import PostgresServer
from tests.support.commands import parlour_here

SOUND = ServerFacts(True, True, False, 0, 90, 0.1)


@pytest.fixture(scope="module")
def server() -> Iterator[PostgresServer]:
    with PostgresServer() as server:  # it does not flush
        yield server


def sentences(facts: ServerFacts) -> list[str]:
    return [finding.sentence for finding in postgres.find_problems(facts)]


async def test_the_facts_are_those_of_the_server(server: PostgresServer) -> None:
    facts = await read_server_facts(server.url("postgres"))
    assert (facts.flushes, facts.repairs_pages, facts.waits_for_standby, facts.replicas) == (False, True, False, 0)
    assert abs(facts.clock_ahead_seconds) < 1
    async with AsyncExitStack() as stack:
        for _ in range(3):
            connection = await asyncpg.connect(server.url("postgres"))
            stack.push_async_callback(connection.close)
        assert (await read_server_facts(server.url("postgres"))).free_connections <= facts.free_connections - 3


def test_a_server_that_does_not_flush_is_reported_with_a_remedy(server: PostgresServer, tmp_path: Path) -> None:
    url = server.url(server.create())
    output = parlour_here("doctor", "--data", tmp_path / "data", environment={"PARLOUR__DATABASE__URL": url}).stdout
    assert "warning  postgresql   fsync is off" in output
    assert "-> set fsync to on" in output


@pytest.mark.parametrize(
    ("facts", "said"),
    [
        (SOUND, ""),
        (replace(SOUND, repairs_pages=False), "full_page_writes is off"),
        (replace(SOUND, replicas=1), "commits wait for none"),
        (replace(SOUND, replicas=1, waits_for_standby=True), ""),
        (replace(SOUND, free_connections=-2), "has 0 connections left"),
        (replace(SOUND, clock_ahead_seconds=-3.0), "3.0 s behind"),
    ],
)
def test_each_broken_promise_is_named(facts: ServerFacts, said: str) -> None:
    assert [said in sentence for sentence in sentences(facts)] == ([True] if said else [])


def test_a_host_without_postgresql_is_not_asked(tmp_path: Path) -> None:
    assert " postgresql  " not in parlour_here("doctor", "--data", tmp_path / "data").stdout
