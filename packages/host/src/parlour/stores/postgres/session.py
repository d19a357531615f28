"""A writing connection: it executes batches, and can find out the outcome of a lost connection's last batch.

Each connection has a row in `journal_writers`. Every batch records its number and its outcomes there, in its own
transaction. If a connection is lost during a batch, the next one marks that row as replaced. This waits for a
transaction that is still active and prevents one that has not begun; then the row says what happened.
"""

from collections.abc import Mapping
from contextlib import suppress
from typing import Any
from uuid import uuid4

import asyncpg  # type: ignore[import-untyped]
from pydantic_core import from_json

from parlour.core.cluster.owner_rows import NO_HOST
from parlour.core.journal import StorageFailed
from parlour.core.model.ids import HostId
from parlour.stores.address import redact_password
from parlour.stores.sql import StatementPlan
from parlour_sdk.values import dataclass

from .connection import CLOSE_SECONDS, PostgresConnection, close, connect
from .errors import ERRORS, sqlstate, storage_failure
from .functions import EXECUTE_BATCH_SQL, ServerFunctions
from .numbers import PLAIN_SLOT

REPLACED = "PLW01"
"""SQLSTATE of a batch whose connection was replaced; nothing of it happened."""
FENCED = "PLF01"
"""SQLSTATE of a batch of a Host that other Hosts have fenced; nothing of it happened."""
BATCH_SECONDS = 30.0
SERVING_LOCK_ID = 0x7061726C6F7572
"""Advisory lock of the Host that serves a database: `parlour` in ASCII."""

_CALL = "SELECT pg_temp.carry_out($1, $2, $3, $4, $5, $6)"
_DURABLE = "SELECT set_config('synchronous_commit', 'on', false) WHERE current_setting('synchronous_commit') = 'off'"
_FORGET = "DELETE FROM journal_writers WHERE touched_at < now() - interval '1 day'"
_JOIN = "INSERT INTO journal_writers VALUES ($1, 0, '[]', false, now())"
_LEAVE = "DELETE FROM journal_writers WHERE writer_id = $1"
_END = "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE pid = $1 AND application_name = $2"
_REPLACE = "UPDATE journal_writers SET replaced = true WHERE writer_id = $1 RETURNING batch, outcomes"


@dataclass(frozen=True, slots=True)
class WriterIdentity:
    """Who writes: the slot in which rows are numbered, and what keeps other Hosts from writing."""

    slot: int = PLAIN_SLOT
    exclusive: bool = False
    """True for a Host: no other Host may serve the database, unless both are in the cluster."""
    host_id: HostId = NO_HOST
    """Id of a Host in a cluster; empty for a Host that has its database to itself, and for commands."""


class WriterSession:
    """One writing connection and its row."""

    def __init__(self, connection: PostgresConnection, writer_id: str, identity: WriterIdentity) -> None:
        self.connection = connection
        self.writer_id = writer_id
        self._host_id = identity.host_id
        self._slot = identity.slot
        self.server_pid = connection.get_server_pid()
        self._functions = ServerFunctions(connection, identity.slot)
        self._batch = 0
        """Number of the last batch that was begun."""

    async def execute_batch(self, plans: Mapping[int, StatementPlan], units: str) -> list[Any]:
        """Returns an outcome per unit, as `carry_out.sql` defines it. Raises the driver's errors."""
        self._batch += 1
        await self._functions.ensure(plans, BATCH_SECONDS)
        counters = sorted({plan.table.name for plan in plans.values() if plan.uses_counter})
        parameters = (self.writer_id, self._host_id, self._batch, counters, self._slot, units)
        return list(from_json(await self.connection.fetchval(_CALL, *parameters, timeout=BATCH_SECONDS)))

    async def recover_outcomes(self, lost_session: "WriterSession") -> list[Any] | None:
        """Returns the outcomes of the batch that was active on a lost connection; None if nothing of it happened."""
        row = await self.connection.fetchrow(_REPLACE, lost_session.writer_id)
        return list(from_json(row["outcomes"])) if row is not None and row["batch"] == lost_session._batch else None

    async def close(self) -> None:
        with suppress(*ERRORS):  # otherwise the row is deleted after a day
            await self.connection.execute(_LEAVE, self.writer_id, timeout=CLOSE_SECONDS)
        await close(self.connection)


async def open_session(
    url: str, identity: WriterIdentity, timeout: float, lost_session: WriterSession | None = None
) -> WriterSession:
    """Opens a session. Raises StorageFailed."""
    writer_id = uuid4().hex
    connection = await connect(url, _application(writer_id), timeout, plan_cache_mode="force_generic_plan")
    try:
        if lost_session is not None:  # the server may not have noticed the loss yet
            await connection.fetch(_END, lost_session.server_pid, _application(lost_session.writer_id))
        if identity.exclusive:
            await _take_serving_lock(connection, redact_password(url), shared=bool(identity.host_id))
        await connection.execute(f"{_DURABLE};\n{_FORGET};\n{EXECUTE_BATCH_SQL}")
        await connection.execute(_JOIN, writer_id)
    except ERRORS as error:
        connection.terminate()
        raise storage_failure(error, redact_password(url)) from error
    except BaseException:
        connection.terminate()
        raise
    return WriterSession(connection, writer_id, identity)


async def _take_serving_lock(connection: PostgresConnection, name: str, shared: bool) -> None:
    """Takes the lock of the serving Host, which the Hosts of a cluster share. Waits a moment for one that has just
    ended.
    """
    try:
        await connection.execute(f"SELECT pg_advisory_lock{'_shared' if shared else ''}({SERVING_LOCK_ID})")
    except asyncpg.PostgresError as error:
        if sqlstate(error) != "55P03":
            raise
        raise StorageFailed(
            "storage_served",
            f"'{name}' is already served by another Host"
            + (" that is not in the cluster" if shared else "")
            + ": stop that one first, or name another database.",
        ) from error


def _application(writer_id: str) -> str:
    return f"parlour writer {writer_id}"
