"""Tests what `parlour doctor` says about a PostgreSQL server that does not keep the Host's promises."""

import asyncio
from collections.abc import AsyncIterator, Iterator
from contextlib import AsyncExitStack, asynccontextmanager
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


@asynccontextmanager
async def pooler(server: PostgresServer) -> AsyncIterator[str]:
    """Yields the address of a proxy that tells its clients a number of its own for their server process."""

    async def copy(reader: asyncio.StreamReader, writer: asyncio.StreamWriter, renumber: bool) -> None:
        while data := await reader.read(65536):
            at = data.find(b"K\0\0\0\x0c") if renumber else -1
            if at >= 0:
                data = data[: at + 5] + (7).to_bytes(4) + data[at + 9 :]
            writer.write(data)
        writer.close()

    async def accept(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        from_server, to_server = await asyncio.open_unix_connection(str(server.folder / ".s.PGSQL.5432"))
        await asyncio.gather(copy(reader, to_server, False), copy(from_server, writer, True))

    async with await asyncio.start_server(accept, "127.0.0.1", 0) as listening:
        port = listening.sockets[0].getsockname()[1]
        yield f"postgresql://postgres@127.0.0.1:{port}/postgres"


def sentences(facts: ServerFacts) -> list[str]:
    return [finding.sentence for finding in postgres.find_problems(facts)]


async def test_the_facts_are_those_of_the_server(server: PostgresServer) -> None:
    facts = await read_server_facts(server.url("postgres"))
    assert (facts.flushes, facts.repairs_pages, facts.waits_for_standby, facts.replicas) == (False, True, False, 0)
    assert abs(facts.clock_ahead_seconds) < 1
    assert (facts.commits_wait, facts.is_pooled) == (True, False)
    async with AsyncExitStack() as stack:
        for _ in range(3):
            connection = await asyncpg.connect(server.url("postgres"))
            stack.push_async_callback(connection.close)
        assert (await read_server_facts(server.url("postgres"))).free_connections <= facts.free_connections - 3


async def test_a_pooler_is_noticed_by_its_own_numbers_of_processes(server: PostgresServer) -> None:
    async with pooler(server) as url:
        assert (await read_server_facts(url)).is_pooled


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
        (replace(SOUND, waits_for_standby=True, commits_wait=False), "synchronous_commit is 'local'"),
        (replace(SOUND, commits_wait=False), ""),
        (replace(SOUND, is_pooled=True), "PgBouncer"),
    ],
)
def test_each_broken_promise_is_named(facts: ServerFacts, said: str) -> None:
    assert [said in sentence for sentence in sentences(facts)] == ([True] if said else [])


def test_a_host_without_postgresql_is_not_asked(tmp_path: Path) -> None:
    assert " postgresql  " not in parlour_here("doctor", "--data", tmp_path / "data").stdout
