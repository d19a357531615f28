"""Runs the kill -9 tests with PostgreSQL behind the Host: a few points, because both databases have one contract."""

import json
import shutil
from collections.abc import AsyncIterator, Iterator
from pathlib import Path

import pytest

from parlour.core.journal import Row, Select
from parlour.testing.postgres_server import PostgresServer
from tests.crash.conftest import Prepared, RestartableHost, free_port, prepare
from tests.crash.platform import People
from tests.crash.test_kill import kill_at

POINTS = ("run.end:before", "event.accept:after", "event.begin:after", "send:after", "outbox.sent:before")


class Postgres:
    def __init__(self, server: PostgresServer, name: str) -> None:
        self._server = server
        self._name = name

    def read(self, query: Select) -> list[Row]:
        order = ", ".join(query.order or query.table.key)
        lines = self._server.execute(f"SELECT to_json(t) FROM {query.table.name} t ORDER BY {order}", self._name)
        return [json.loads(line) for line in lines]

    def pending_rows(self) -> int:
        unsent = "SELECT seq FROM outbox WHERE state IN ('pending', 'sending', 'streaming')"
        query = f"SELECT count(*) FROM (SELECT event_seq FROM inbox UNION ALL {unsent}) AS pending"
        return int(self._server.execute(query, self._name)[0])


@pytest.fixture(scope="module")
def server() -> Iterator[PostgresServer]:
    with PostgresServer() as server:
        yield server


@pytest.fixture(scope="module")
def template(server: PostgresServer) -> str:
    return server.create()


@pytest.fixture(scope="module")
def prepared(server: PostgresServer, template: str, tmp_path_factory: pytest.TempPathFactory) -> Prepared:
    return prepare(tmp_path_factory.mktemp("prepared"), postgres_settings(server, template))


@pytest.fixture
def database(server: PostgresServer, template: str, prepared: Prepared) -> str:
    name = f"copy_of_{server.create()}"
    server.execute(f"CREATE DATABASE {name} TEMPLATE {template}")
    return name


@pytest.fixture
async def restartable_host(
    prepared: Prepared, people: People, server: PostgresServer, database: str, tmp_path: Path
) -> AsyncIterator[RestartableHost]:
    data = tmp_path / "data"
    shutil.copytree(prepared.data, data)
    restartable_host = RestartableHost(
        data, free_port(), people.port, prepared.echo, postgres_settings(server, database)
    )
    yield restartable_host
    for process in restartable_host.processes:
        process.kill()
        process.wait()


def postgres_settings(server: PostgresServer, name: str) -> dict[str, str]:
    return {"PARLOUR__DATABASE__URL": server.url(name)}


@pytest.mark.parametrize(
    "point", [pytest.param(each, marks=[pytest.mark.long] if number else []) for number, each in enumerate(POINTS)]
)
async def test_nothing_is_lost_or_doubled_on_postgres_when_the_host_is_killed_at(
    point: str,
    restartable_host: RestartableHost,
    prepared: Prepared,
    people: People,
    server: PostgresServer,
    database: str,
) -> None:
    await kill_at(point, restartable_host, prepared, people, Postgres(server, database))
