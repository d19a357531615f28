"""Copies a whole PostgreSQL database to a SQLite file, and back. Backups are such files on either database."""

import sqlite3
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path
from typing import Any

from parlour.core.cluster.tables import CLUSTER_TABLES
from parlour.core.journal import StorageFailed, Table
from parlour.core.store.tables import TABLES
from parlour.stores import migrate as sqlite_migrate
from parlour.stores.address import redact_password
from parlour.stores.sqlite.connection import connect as connect_file
from parlour.stores.sqlite.fulltext import INDEX_PENDING

from . import migrate
from .connection import PostgresConnection, close, connect
from .errors import ERRORS, storage_failure
from .numbers import PLAIN_SLOT, SLOT_COUNT, counter_reaching
from .text_encoding import decode_text, encode_text

COPIED_TABLES = [table for table in TABLES if table not in CLUSTER_TABLES]
ROWS_PER_BATCH = 500
LOCK_TIMEOUT_SECONDS = 60.0
HIGHEST_NUMBERS = (
    f"SELECT name, max(CASE counter WHEN 0 THEN 0 ELSE counter * {SLOT_COUNT} + slot END) "
    "FROM journal_counters GROUP BY name"
)


async def dump(url: str, file: Path) -> None:
    """Copies the state at one instant without blocking writers."""
    revision = await migrate.current_revision(url)
    if not sqlite_migrate.is_head(revision, redact_password(url)):
        raise StorageFailed("storage_failed", "the database is of an older release: run parlour db upgrade first.")
    sqlite_migrate.ensure(file)
    connection = await connect(url, "parlour backup", LOCK_TIMEOUT_SECONDS)
    try:
        with closing(connect_file(file, "rw", LOCK_TIMEOUT_SECONDS)) as target:
            await _dump(connection, target)
    except ERRORS as error:
        raise storage_failure(error, redact_password(url)) from error
    finally:
        await close(connection)


async def load(file: Path, url: str) -> None:
    """Copies into an empty database, everything or nothing."""
    sqlite_migrate.ensure(file)
    await migrate.ensure(url)
    connection = await connect(url, "parlour restore", LOCK_TIMEOUT_SECONDS)
    try:
        with closing(connect_file(file, "rw", LOCK_TIMEOUT_SECONDS)) as source:
            async with connection.transaction():
                await _require_empty(connection, redact_password(url))
                await _load(source, connection)
    except ERRORS as error:
        raise storage_failure(error, redact_password(url)) from error
    finally:
        await close(connection)


async def _dump(connection: Any, target: sqlite3.Connection) -> None:
    async with connection.transaction(isolation="repeatable_read", readonly=True):
        target.execute("BEGIN IMMEDIATE")
        for table in COPIED_TABLES:
            names = [column.name for column in table.columns]
            insert = f'INSERT INTO "{table.name}" ({_name_list(names)}) VALUES ({", ".join("?" * len(names))})'
            rows = connection.cursor(f'SELECT {_name_list(names)} FROM "{table.name}"', prefetch=ROWS_PER_BATCH)
            batch: list[tuple[Any, ...]] = []
            async for row in rows:
                batch.append(tuple(map(decode_text, row)))
                if len(batch) == ROWS_PER_BATCH:
                    target.executemany(insert, batch)
                    batch.clear()
            target.executemany(insert, batch)
        target.execute(INDEX_PENDING.text)
        for name, last in await connection.fetch(HIGHEST_NUMBERS):
            target.execute("DELETE FROM sqlite_sequence WHERE name = ?", (name,))
            target.execute("INSERT INTO sqlite_sequence (name, seq) VALUES (?, ?)", (name, last))
        target.execute("COMMIT")


async def _load(source: sqlite3.Connection, connection: Any) -> None:
    for table in COPIED_TABLES:
        names = [column.name for column in table.columns]
        await connection.copy_records_to_table(table.name, records=_rows(source, table, names), columns=names)
    counters = [
        (name, PLAIN_SLOT, counter_reaching(number))
        for name, number in source.execute("SELECT name, seq FROM sqlite_sequence")
    ]
    await connection.executemany("INSERT INTO journal_counters (name, slot, counter) VALUES ($1, $2, $3)", counters)


def _rows(source: sqlite3.Connection, table: Table, names: list[str]) -> Iterator[tuple[Any, ...]]:
    for row in source.execute(f'SELECT {_name_list(names)} FROM "{table.name}"'):
        yield tuple(map(encode_text, row))


async def _require_empty(connection: PostgresConnection, name: str) -> None:
    await connection.execute("LOCK TABLE meta IN ACCESS EXCLUSIVE MODE")
    if await connection.fetchval("SELECT EXISTS (SELECT FROM meta) OR EXISTS (SELECT FROM api_keys)"):
        message = f"'{name}' is in use already: name an empty database with database.url."
        raise StorageFailed("storage_not_empty", message)


def _name_list(names: list[str]) -> str:
    return ", ".join(f'"{name}"' for name in names)
