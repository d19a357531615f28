"""The databases that a Host can be measured on: settings for the Host, direct access, and their own baseline."""

import sqlite3
from collections.abc import AsyncIterator, Callable, Mapping, Sequence
from contextlib import AbstractAsyncContextManager, asynccontextmanager, closing
from itertools import count
from pathlib import Path
from re import sub
from typing import Any, Protocol

import asyncpg

from parlour.stores.postgres import migrate
from parlour.testing.postgres_server import PostgresServer

Statement = tuple[str, tuple[Any, ...]]
"""A statement with `?` as the placeholder of parameters, and the parameters."""
Transaction = list[Statement]
Row = dict[str, Any]


class Ledger(Protocol):
    """An empty database with the schema and kind of the Host's, and the simplest way to write to it."""

    async def commit(self, transaction: Transaction) -> None: ...

    async def tidy(self) -> None: ...

    async def close(self) -> None: ...


class Database(Protocol):
    settings: Mapping[str, str]
    """Settings with which a Host uses this database."""

    async def rows(self, query: str, *parameters: Any) -> list[Row]: ...

    async def write(self, transaction: Sequence[Statement]) -> None:
        """Writes directly to the database, bypassing the Host."""
        ...

    async def floor(self, file: Path) -> Ledger: ...

    def cpu_seconds(self) -> float:
        """Returns the CPU seconds that a separate database server has used so far."""
        ...


OpenDatabase = Callable[[Path], AbstractAsyncContextManager[Database]]


class SqliteLedger:
    """A SQLite database with the Host's pragmas, used from one thread."""

    def __init__(self, file: Path, schema: list[str]) -> None:
        self._connection = sqlite3.connect(file, isolation_level=None, cached_statements=512)
        for pragma in ("journal_mode=WAL", "synchronous=FULL", "wal_autocheckpoint=0"):
            self._connection.execute(f"PRAGMA {pragma}").fetchall()
        for statement in schema:
            self._connection.execute(statement)

    async def commit(self, transaction: Transaction) -> None:
        execute = self._connection.execute
        execute("BEGIN IMMEDIATE")
        for text, parameters in transaction:
            execute(text, parameters)
        execute("COMMIT")

    async def tidy(self) -> None:
        self._connection.execute("PRAGMA wal_checkpoint(PASSIVE)").fetchall()

    async def close(self) -> None:
        self._connection.close()


class SqliteDatabase:
    def __init__(self, file: Path) -> None:
        self.settings: Mapping[str, str] = {}
        self._file = file

    async def rows(self, query: str, *parameters: Any) -> list[Row]:
        with closing(sqlite3.connect(f"file:{self._file}?mode=ro", uri=True, timeout=10)) as connection:
            connection.row_factory = sqlite3.Row
            return [dict(row) for row in connection.execute(query, parameters)]

    async def write(self, transaction: Sequence[Statement]) -> None:
        with closing(sqlite3.connect(self._file, timeout=30, isolation_level=None)) as connection:
            connection.execute("BEGIN IMMEDIATE")
            for text, parameters in transaction:
                connection.execute(text, parameters)
            connection.execute("COMMIT")

    async def floor(self, file: Path) -> Ledger:
        schema = (
            "SELECT sql FROM sqlite_master WHERE sql IS NOT NULL AND type IN ('table', 'index') "
            "AND name NOT LIKE 'sqlite_%' AND name NOT LIKE 'transcript_words%' ORDER BY type DESC"
        )
        return SqliteLedger(file, [row["sql"] for row in await self.rows(schema)])

    def cpu_seconds(self) -> float:
        return 0.0


@asynccontextmanager
async def sqlite(data: Path) -> AsyncIterator[Database]:
    yield SqliteDatabase(data / "parlour.db")


class PostgresLedger:
    """One asyncpg connection with prepared statements: a round trip for each statement, and for BEGIN and COMMIT."""

    def __init__(self, connection: Any) -> None:
        self._connection = connection

    async def rows(self, query: str, *parameters: Any) -> list[Row]:
        return [dict(row) for row in await self._connection.fetch(_numbered(query), *parameters)]

    async def commit(self, transaction: Sequence[Statement]) -> None:
        async with self._connection.transaction():
            for text, parameters in transaction:
                await self._connection.execute(_numbered(text), *parameters)

    async def tidy(self) -> None:
        """Does nothing: the server does this itself."""

    async def close(self) -> None:
        await self._connection.close()


class PostgresDatabase:
    def __init__(self, server: PostgresServer, name: str) -> None:
        self.settings: Mapping[str, str] = {"PARLOUR__DATABASE__URL": server.url(name)}
        self._server = server
        self._name = name

    async def rows(self, query: str, *parameters: Any) -> list[Row]:
        async with self._ledger(self._name) as ledger:
            return await ledger.rows(query, *parameters)

    async def write(self, transaction: Sequence[Statement]) -> None:
        async with self._ledger(self._name) as ledger:
            await ledger.commit(transaction)

    async def floor(self, file: Path) -> Ledger:
        name = self._server.create()
        await migrate.ensure(self._server.url(name))
        return PostgresLedger(await asyncpg.connect(self._server.url(name)))

    def cpu_seconds(self) -> float:
        main, *children = [process.cpu_times() for process in self._server.processes()]
        ended_seconds = main.children_user + main.children_system
        return float(ended_seconds + sum(each.user + each.system for each in (main, *children)))

    @asynccontextmanager
    async def _ledger(self, name: str) -> AsyncIterator[PostgresLedger]:
        ledger = PostgresLedger(await asyncpg.connect(self._server.url(name)))
        try:
            yield ledger
        finally:
            await ledger.close()


@asynccontextmanager
async def postgres(data: Path) -> AsyncIterator[Database]:
    with PostgresServer(durable=True, parent="/var/tmp") as server:
        yield PostgresDatabase(server, server.create())


DATABASES: dict[str, OpenDatabase] = {"sqlite": sqlite, "postgres": postgres}


def _numbered(text: str) -> str:
    numbers = count(1)
    return sub(r"\?", lambda _: f"${next(numbers)}", text)
