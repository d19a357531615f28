"""A writing connection: it carries out batches, and can tell how the last batch of one that was lost went.

Each connection has a row in `journal_writers`, in which every batch leaves its number and its outcomes in the very
transaction that it is. When a connection is lost with a batch under way, the next one marks that row as replaced: that
waits for a transaction that still goes on, forbids one that has not begun, and then the row says what happened.
"""

from collections.abc import Mapping
from contextlib import suppress
from typing import Any
from uuid import uuid4

import asyncpg  # type: ignore[import-untyped]
from pydantic_core import from_json

from parlour.core.journal import StorageFailed
from parlour.stores.address import told
from parlour.stores.sql import Plan

from .connection import CLOSE_SECONDS, Connection, close, connect
from .errors import ERRORS, state, storage_failure
from .functions import CARRY_OUT, Functions

REPLACED = "PLW01"
"""The SQLSTATE of a batch whose connection was given up meanwhile; nothing of it happened."""
BATCH_SECONDS = 30.0
SERVING = 0x7061726C6F7572
"""The advisory lock of the Host that serves a database: `parlour` in ASCII."""

_CALL = "SELECT pg_temp.carry_out($1, $2, $3, $4)"
_DURABLE = "SELECT set_config('synchronous_commit', 'on', false) WHERE current_setting('synchronous_commit') = 'off'"
_FORGET = "DELETE FROM journal_writers WHERE touched_at < now() - interval '1 day'"
_JOIN = "INSERT INTO journal_writers VALUES ($1, 0, '[]', false, now())"
_LEAVE = "DELETE FROM journal_writers WHERE writer_id = $1"
_END = "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE pid = $1 AND application_name = $2"
_REPLACE = "UPDATE journal_writers SET replaced = true WHERE writer_id = $1 RETURNING batch, outcomes"


class Session:
    def __init__(self, connection: Connection, writer_id: str) -> None:
        self.connection = connection
        self.writer_id = writer_id
        self.server_pid = connection.get_server_pid()
        self._functions = Functions(connection)
        self._batch = 0
        """The number of the last one that was begun."""

    async def carry_out(self, plans: Mapping[int, Plan], units: str) -> list[Any]:
        """An outcome per unit, as `carry_out.sql` has it. Raises the driver's errors."""
        self._batch += 1
        await self._functions.ensure(plans, BATCH_SECONDS)
        counters = sorted({plan.table.name for plan in plans.values() if plan.numbered})
        parameters = (self.writer_id, self._batch, counters, units)
        return list(from_json(await self.connection.fetchval(_CALL, *parameters, timeout=BATCH_SECONDS)))

    async def outcomes_of(self, lost: "Session") -> list[Any] | None:
        """Of the batch that was under way there; None when nothing of it happened."""
        row = await self.connection.fetchrow(_REPLACE, lost.writer_id)
        return list(from_json(row["outcomes"])) if row is not None and row["batch"] == lost._batch else None

    async def leave(self) -> None:
        with suppress(*ERRORS):  # otherwise it is forgotten in a day
            await self.connection.execute(_LEAVE, self.writer_id, timeout=CLOSE_SECONDS)
        await close(self.connection)


async def open_session(url: str, alone: bool, patience: float, lost: Session | None = None) -> Session:
    """`alone` keeps every other such session off the database. Raises StorageFailed."""
    writer_id = uuid4().hex
    connection = await connect(url, _application(writer_id), patience, plan_cache_mode="force_generic_plan")
    try:
        if lost is not None:  # its end of the connection may not know yet
            await connection.fetch(_END, lost.server_pid, _application(lost.writer_id))
        if alone:
            await _keep_others_off(connection, told(url))
        await connection.execute(f"{_DURABLE};\n{_FORGET};\n{CARRY_OUT}")
        await connection.execute(_JOIN, writer_id)
    except ERRORS as error:
        connection.terminate()
        raise storage_failure(error, told(url)) from error
    except BaseException:
        connection.terminate()
        raise
    return Session(connection, writer_id)


async def _keep_others_off(connection: Connection, name: str) -> None:
    """Waits a moment for one that has just ended."""
    try:
        await connection.execute(f"SELECT pg_advisory_lock({SERVING})")
    except asyncpg.PostgresError as error:
        if state(error) != "55P03":
            raise
        raise StorageFailed(
            "storage_served",
            f"'{name}' is already served by another Host: stop that one first, or name another database.",
        ) from error


def _application(writer_id: str) -> str:
    return f"parlour writer {writer_id}"
