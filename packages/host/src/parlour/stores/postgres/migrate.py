"""Brings a PostgreSQL database to the schema of this release, with the migrations that SQLite uses too.

Alembic is imported only if there is something to do, and then writes a script; see `migrations/env.py`.
"""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from io import StringIO

from parlour.core.journal import StorageFailed
from parlour.stores.address import redact_password
from parlour.stores.migrate import alembic_config, is_head, phases_after

from .connection import PostgresConnection, close, connect
from .errors import ERRORS, sqlstate, storage_failure
from .session import SERVING_LOCK_ID

UPGRADE_LOCK_ID = 0x7061726C6F7573
"""Advisory lock of the process that upgrades."""
LOCK_SECONDS = 60.0
SERVING_LOCK_SECONDS = 5.0
LOCK_NOT_AVAILABLE = "55P03"
"""SQLSTATE of a lock that another session held for too long."""

_TABLES = """
    SELECT relname FROM pg_class WHERE relkind IN ('r', 'p') AND relnamespace = current_schema()::regnamespace
    AND NOT EXISTS (SELECT FROM pg_depend WHERE objid = pg_class.oid AND deptype = 'e')
"""
"""Tables of this schema, except those of extensions."""


async def current_revision(url: str) -> str | None:
    """Returns the database's revision; None if it is empty. Raises StorageFailed if it is no Parlour database."""
    async with _connect(url) as connection:
        return await _revision(connection, redact_password(url))


async def ensure(url: str) -> None:
    """Creates or upgrades the tables if they are not at HEAD. Any number of processes may do so at the same time."""
    name = redact_password(url)
    async with _connect(url) as connection:
        if is_head(await _revision(connection, name), name):
            return
        async with connection.transaction():
            await connection.execute(f"SELECT pg_advisory_xact_lock({UPGRADE_LOCK_ID})")
            revision = await _revision(connection, name)
            if not is_head(revision, name):
                if revision is not None and "contract" in phases_after(revision):
                    await _require_unserved(connection, name)
                await connection.execute(_script(revision))


async def _require_unserved(connection: PostgresConnection, name: str) -> None:
    """Keeps Hosts off the database until the transaction ends. Waits a moment for a Host that has just ended."""
    await connection.execute(f"SET LOCAL lock_timeout = '{int(1000 * SERVING_LOCK_SECONDS)}ms'")
    try:
        await connection.execute(f"SELECT pg_advisory_xact_lock({SERVING_LOCK_ID})")
    except ERRORS as error:
        if sqlstate(error) != LOCK_NOT_AVAILABLE:
            raise
        raise StorageFailed(
            "storage_served",
            f"'{name}' is served by a Host of an older release, which can't continue after the upgrade of the "
            "database: stop that Host first.",
        ) from error
    await connection.execute(f"SET LOCAL lock_timeout = '{int(1000 * LOCK_SECONDS)}ms'")


async def _revision(connection: PostgresConnection, name: str) -> str | None:
    tables = {table for (table,) in await connection.fetch(_TABLES)}
    if not tables:
        return None
    if "alembic_version" in tables:
        revision = await connection.fetchval("SELECT version_num FROM alembic_version")
        if revision is not None:
            return str(revision)
    raise StorageFailed("storage_foreign", f"'{name}' is a database of another program: name another database.")


def _script(revision: str | None) -> str:
    output = StringIO()
    config = alembic_config(output)
    from alembic import command

    command.upgrade(config, f"{revision or 'base'}:head", sql=True)
    return output.getvalue()


@asynccontextmanager
async def _connect(url: str) -> AsyncIterator[PostgresConnection]:
    connection = await connect(url, "parlour migration", LOCK_SECONDS)
    try:
        yield connection
    except ERRORS as error:
        raise storage_failure(error, redact_password(url)) from error
    finally:
        await close(connection)
