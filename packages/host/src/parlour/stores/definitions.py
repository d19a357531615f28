"""Reads the definitions of configured objects from a database of any revision, without changing it."""

import sqlite3
from collections.abc import Iterable
from contextlib import closing
from pathlib import Path

from .sqlite.connection import connect
from .sqlite.errors import storage_failure

LOCK_SECONDS = 5.0
"""Seconds to wait for locks of other processes."""


async def read_definitions(url: str, file: Path, tables: Iterable[str]) -> dict[str, list[str]]:
    """Returns the stored definitions by table; a table that does not exist has none. Raises StorageFailed, and
    ModuleNotFoundError if the driver of PostgreSQL is not installed.
    """
    return await _read_postgres(url, tables) if url else _read_sqlite(file, tables)


def _read_sqlite(file: Path, tables: Iterable[str]) -> dict[str, list[str]]:
    if not file.exists():
        return {table: [] for table in tables}
    try:
        with closing(connect(file, "ro", LOCK_SECONDS)) as connection:
            existing = {name for (name,) in connection.execute("SELECT name FROM sqlite_master WHERE type = 'table'")}
            return {
                table: [text for (text,) in connection.execute(_query(table))] if table in existing else []
                for table in tables
            }
    except sqlite3.Error as error:
        raise storage_failure(error, file) from error


async def _read_postgres(url: str, tables: Iterable[str]) -> dict[str, list[str]]:
    from .address import redact_password
    from .postgres import connection as postgres
    from .postgres import errors

    connection = await postgres.connect(url, "parlour-doctor", LOCK_SECONDS, **postgres.READ_SETTINGS)
    try:
        found: dict[str, list[str]] = {}
        for table in tables:
            exists = await connection.fetchval("SELECT to_regclass($1) IS NOT NULL", table)
            found[table] = [text for (text,) in await connection.fetch(_query(table))] if exists else []
        return found
    except errors.ERRORS as error:
        raise errors.storage_failure(error, redact_password(url)) from error
    finally:
        await postgres.close(connection)


def _query(table: str) -> str:
    return f"SELECT definition FROM {table}"
