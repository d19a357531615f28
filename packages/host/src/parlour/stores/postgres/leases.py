"""Implements the leases of Hosts on PostgreSQL, whose clock decides when a lease is over.

Leases are a table of their own: commits lock the row of their Host in `hosts`, and must not delay a renewal. A Host
also holds an advisory lock while its connection lasts, so that a killed process is noticed before its lease ends.
"""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

from parlour.core.cluster.leases import LEASE_SECONDS, MISSED_BEATS_SECONDS, HostFacts
from parlour.core.journal import StorageFailed
from parlour.core.model.ids import HostId
from parlour.stores.address import redact_password

from .connection import PostgresConnection, close, connect
from .errors import ERRORS, storage_failure
from .numbers import PLAIN_SLOT, SLOT_COUNT

MEMBERS_LOCK_ID = 0x686F737473
"""Advisory lock of transactions that change which Hosts there are."""
HOST_LOCK_CLASS = 0x706172
"""First key of the advisory locks of Hosts; the second one is the slot."""
LOCK_SECONDS = 5.0
SERVER_START_SECONDS = 5.0
"""Seconds after a start of the server in which no Host is fenced: none could renew its lease while it was down."""

_NOW = "(extract(epoch FROM clock_timestamp()) * 1000)::bigint"
_LEASE_END = f"{_NOW} + {round(LEASE_SECONDS * 1000)}"
_FREE_SLOT = f"""
    SELECT min(slot) FROM generate_series({PLAIN_SLOT + 1}, {SLOT_COUNT - 1}) AS slot
    WHERE slot NOT IN (SELECT leases.slot FROM leases)
"""
_FORGET = f"DELETE FROM hosts WHERE fenced_at > 0 AND fenced_at < {_NOW} - 86400000"
_ADD_HOST = f"""
    INSERT INTO hosts (host_id, name, version, address, started_at, fenced_at, draining)
    VALUES ($1, $2, $3, $4, {_NOW}, 0, 0)
"""
_ADD_LEASE = f"INSERT INTO leases (host_id, slot, lease_until) VALUES ($1, $2, {_LEASE_END})"
_HOLD = "SELECT pg_try_advisory_lock($1, $2)"
_RENEW = f"UPDATE leases SET lease_until = {_LEASE_END} WHERE host_id = $1 RETURNING slot"
_END_EXPIRED = f"""
    DELETE FROM leases WHERE pg_postmaster_start_time() < now() - make_interval(secs => $1) AND (
        lease_until < {_NOW}
        OR lease_until < {_LEASE_END} - {round(MISSED_BEATS_SECONDS * 1000)} AND slot NOT IN (
            SELECT objid::bigint FROM pg_locks
            WHERE locktype = 'advisory' AND granted AND objsubid = 2 AND classid = {HOST_LOCK_CLASS}
            AND database = (SELECT oid FROM pg_database WHERE datname = current_database())
        )
    ) RETURNING host_id
"""
_END = "DELETE FROM leases WHERE host_id = $1 RETURNING host_id"
_FENCE = f"UPDATE hosts SET fenced_at = {_NOW} WHERE host_id = ANY ($1)"
_FREE_PARTS = f"UPDATE owners SET host_id = '', epoch = epoch + 1, moved_at = {_NOW} WHERE host_id = ANY ($1)"
_IN_FLIGHT = """
    SELECT count(*) FROM inbox JOIN owners USING (part)
    WHERE owners.host_id = $1 AND (inbox.in_flight = 1 OR inbox.state = 'control')
"""
_COUNT_CRASH = """
    UPDATE inbox SET in_flight = 0, deaths = deaths + 1, lone_deaths = lone_deaths + $2
    WHERE in_flight = 1 AND part IN (SELECT part FROM owners WHERE host_id = $1)
"""
_RAISE = """
    UPDATE journal_counters AS own SET counter = highest.counter
    FROM (SELECT name, max(counter) AS counter FROM journal_counters GROUP BY name) AS highest
    WHERE own.slot = $1 AND own.name = highest.name AND own.counter < highest.counter
"""


class PostgresHostLeases:
    """Works on a connection of its own, which is opened again when it is lost. Use one object per event loop."""

    def __init__(
        self, url: str, lock_seconds: float = LOCK_SECONDS, server_start_seconds: float = SERVER_START_SECONDS
    ) -> None:
        self._url = url
        self._name = redact_password(url)
        self._lock_seconds = lock_seconds
        self._server_start_seconds = server_start_seconds
        self._connection: PostgresConnection | None = None
        self._turn = asyncio.Lock()
        """Serializes the use of the connection."""
        self._held_slots: set[int] = set()
        """Slots whose advisory lock this connection holds."""

    async def join(self, host: HostFacts) -> int:
        async with self._transaction() as connection:
            await connection.execute(f"SELECT pg_advisory_xact_lock({MEMBERS_LOCK_ID})")
            await connection.execute(_FORGET)
            slot = await connection.fetchval(_FREE_SLOT)
            if slot is None:
                raise StorageFailed(
                    "cluster_full", f"'{self._name}' has {SLOT_COUNT - 1} Hosts already: stop one first."
                )
            await connection.fetch(_ADD_HOST, host.host_id, host.name, host.version, host.address)
            await connection.fetch(_ADD_LEASE, host.host_id, slot)
        return int(slot)

    async def renew(self, host_id: HostId) -> bool:
        async with self._connected() as connection:
            slot = await connection.fetchval(_RENEW, host_id)
            is_held = slot is None or slot in self._held_slots
            if not is_held and await connection.fetchval(_HOLD, HOST_LOCK_CLASS, slot):
                self._held_slots.add(slot)
        return slot is not None

    async def fence_expired(self) -> list[HostId]:
        async with self._transaction() as connection:
            if not await connection.fetchval(f"SELECT pg_try_advisory_xact_lock({MEMBERS_LOCK_ID})"):
                return []  # another Host is at it
            return await self._fence(connection, await connection.fetch(_END_EXPIRED, self._server_start_seconds))

    async def leave(self, host_id: HostId) -> None:
        async with self._transaction() as connection:
            await self._fence(connection, await connection.fetch(_END, host_id))

    async def raise_numbers(self, slot: int) -> None:
        async with self._connected() as connection:
            await connection.fetch(_RAISE, slot)

    async def close(self) -> None:
        connection, self._connection = self._connection, None
        if connection is not None:
            await close(connection)

    async def _fence(self, connection: PostgresConnection, ended: Any) -> list[HostId]:
        hosts = [HostId(row["host_id"]) for row in ended]
        if hosts:
            await connection.fetch(_FENCE, hosts)  # waits for a commit in progress
            for host_id in hosts:  # as a start of a single Host counts it: once for all events that were in flight
                in_flight = await connection.fetchval(_IN_FLIGHT, host_id)
                if in_flight:
                    await connection.fetch(_COUNT_CRASH, host_id, int(in_flight == 1))
            await connection.fetch(_FREE_PARTS, hosts)
        return hosts

    @asynccontextmanager
    async def _transaction(self) -> AsyncIterator[PostgresConnection]:
        async with self._connected() as connection, connection.transaction():
            yield connection

    @asynccontextmanager
    async def _connected(self) -> AsyncIterator[PostgresConnection]:
        async with self._turn, self._open() as connection:
            yield connection

    @asynccontextmanager
    async def _open(self) -> AsyncIterator[PostgresConnection]:
        if self._connection is None or self._connection.is_closed():
            self._held_slots = set()
            self._connection = await connect(self._url, "parlour leases", self._lock_seconds)
        connection = self._connection
        try:
            yield connection
        except ERRORS as error:
            raise storage_failure(error, self._name) from error
        except BaseException as error:
            if not isinstance(error, StorageFailed):
                connection.terminate()  # cancelled in the middle of an exchange
            raise
