"""Shared fixtures for the tests of the stores."""

import asyncio
import os
import shutil
import tempfile
from collections.abc import AsyncIterator, Iterator
from contextlib import AsyncExitStack
from pathlib import Path

import pytest

from parlour.core.journal import Journal
from parlour.stores.migrate import ensure
from parlour.stores.postgres import PostgresJournal, migrate
from parlour.stores.sqlite import SqliteJournal
from parlour.testing.postgres_server import PostgresServer


@pytest.fixture(scope="session")
def template(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("template") / "parlour.db"
    ensure(path)
    return path


@pytest.fixture
def database(template: Path, tmp_path: Path) -> Path:
    """An empty database with all tables, at a path with characters that are special in a URI."""
    folder = tmp_path / "a b?c#d%20é"
    folder.mkdir()
    return Path(shutil.copy(template, folder))


@pytest.fixture
def unprivileged(template: Path) -> Iterator[Path]:
    """A read-only database in a read-only folder; the test does not run with root privileges."""
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        path = Path(shutil.copy(template, folder))
        path.chmod(0o444)
        folder.chmod(0o555)
        previous = os.geteuid()
        if previous == 0:
            os.seteuid(65534)
        yield path
        os.seteuid(previous)
        folder.chmod(0o755)


@pytest.fixture(scope="session")
def postgres() -> Iterator[PostgresServer]:
    """One server for all tests of this process."""
    with PostgresServer() as server:
        yield server


@pytest.fixture(scope="session")
def shared_database(postgres: PostgresServer) -> str:
    """A database with all tables, shared by the tests one after another."""
    name = postgres.create()
    asyncio.run(migrate.ensure(postgres.url(name)))
    return name


@pytest.fixture
def postgres_database(postgres: PostgresServer, shared_database: str) -> str:
    """A database with all tables, and nothing in them."""
    postgres.empty(shared_database)
    return shared_database


@pytest.fixture
def url(postgres: PostgresServer, postgres_database: str) -> str:
    return postgres.url(postgres_database)


@pytest.fixture
def new_database(postgres: PostgresServer) -> Iterator[str]:
    """A database without tables, for one test."""
    name = postgres.create()
    yield name
    postgres.drop(name)


@pytest.fixture
async def on_postgres(url: str) -> AsyncIterator[list[Journal]]:
    """Two journals of one database, like those of two Hosts."""
    async with PostgresJournal(url) as one, PostgresJournal(url) as other:
        yield [one, other]


@pytest.fixture
async def on_sqlite(database: Path) -> AsyncIterator[list[Journal]]:
    async with AsyncExitStack() as stack:
        yield [await stack.enter_async_context(SqliteJournal(database)) for _ in range(2)]
