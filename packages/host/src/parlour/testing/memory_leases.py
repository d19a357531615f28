"""Keeps the leases of Hosts in a MemoryDatabase, with a clock that the test supplies."""

from collections.abc import Callable

from parlour.core.cluster.leases import LEASE_SECONDS, HostFacts
from parlour.core.cluster.tables import HOSTS, LEASES, OWNERS
from parlour.core.journal import (
    ANY,
    Delete,
    Increment,
    Insert,
    PreparedCallback,
    Receipt,
    Row,
    Search,
    Select,
    Statement,
    StorageFailed,
    Unit,
    Update,
    below,
    one_of,
    where,
)
from parlour.core.model.ids import HostId, PartId
from parlour.core.store import inbox
from parlour.core.store.tables import INBOX

from .memory_journal import MemoryDatabase, MemoryJournal

SLOTS = range(1, 64)


class MemoryHostLeases:
    """Carries each operation out at once, as a transaction does."""

    def __init__(self, database: MemoryDatabase, now: Callable[[], int]) -> None:
        self._database = database
        self._now = now

    async def join(self, host: HostFacts) -> int:
        used = {row["slot"] for row in self._database.read(Select(LEASES))}
        slot = next((each for each in SLOTS if each not in used), None)
        if slot is None:
            raise StorageFailed("cluster_full", "there is no slot left")
        row: dict[str, str | int] = {"host_id": host.host_id, "name": host.name, "version": host.version}
        row |= {"address": host.address, "draining": 0}
        lease: dict[str, str | int] = {"host_id": host.host_id, "slot": slot, "lease_until": self._lease_end()}
        added = Insert(HOSTS, {**row, "started_at": self._now(), "fenced_at": 0})
        self._database.commit(Unit("host.join", (added, Insert(LEASES, lease))))
        return slot

    async def renew(self, host_id: HostId) -> bool:
        lease = {"lease_until": self._lease_end()}
        renewal = Update(LEASES, {**lease}, where(host_id=host_id), expect=ANY, returning=("slot",))
        [rows] = self._database.commit(Unit("host.renew", (renewal,)))
        return bool(rows)

    async def fence_expired(self) -> list[HostId]:
        expired = self._database.read(Select(LEASES, where(lease_until=below(self._now())), ("host_id",)))
        return self._fence([row["host_id"] for row in expired])

    async def leave(self, host_id: HostId) -> None:
        self._fence([row["host_id"] for row in self._database.read(Select(LEASES, where(host_id=host_id)))])

    async def raise_numbers(self, slot: int) -> None:
        """Does nothing: all Hosts share the numbers of a MemoryDatabase."""

    def _fence(self, hosts: list[HostId]) -> list[HostId]:
        if hosts:
            theirs, now = where(host_id=one_of(*hosts)), self._now()
            freed: dict[str, str | int | Increment] = {"host_id": "", "epoch": Increment(), "moved_at": now}
            statements: tuple[Statement, ...] = (
                *(each for host_id in hosts for each in self._crash_counts(host_id)),
                Delete(LEASES, theirs, expect=ANY),
                Update(HOSTS, {"fenced_at": now}, theirs, expect=ANY),
                Update(OWNERS, {**freed}, theirs, expect=ANY),
            )
            self._database.commit(Unit("host.fence", statements))
        return hosts

    def _crash_counts(self, host_id: HostId) -> list[Update]:
        parts = [row["part"] for row in self._database.read(Select(OWNERS, where(host_id=host_id), ("part",)))]
        in_parts = where(part=one_of(*parts)) if parts else ()
        rows = self._database.read(Select(INBOX, in_parts)) if parts else []
        count = sum(row["in_flight"] == 1 or row["state"] == "control" for row in rows)
        flying = [row["part"] for row in rows if row["in_flight"]]
        return [inbox.count_crash(count == 1, PartId(part)) for part in sorted({*flying})]

    def _lease_end(self) -> int:
        return self._now() + round(LEASE_SECONDS * 1000)


class FencedMemoryJournal:
    """The journal of one Host of a cluster: a fenced Host commits nothing, as `carry_out.sql` decides it."""

    def __init__(self, database: MemoryDatabase, host_id: HostId) -> None:
        self._database = database
        self._journal = MemoryJournal(database)
        self._host_id = host_id

    async def commit(self, unit: Unit, on_prepared: PreparedCallback | None = None) -> Receipt:
        require_unfenced(self._database, self._host_id)
        return await self._journal.commit(unit, on_prepared)

    async def read(self, query: Select) -> list[Row]:
        return await self._journal.read(query)

    async def search(self, query: Search) -> list[Row]:
        return await self._journal.search(query)


def require_unfenced(database: MemoryDatabase, host_id: HostId) -> None:
    """Raises the failure of a commit by a fenced Host."""
    if not database.read(Select(HOSTS, where(host_id=host_id, fenced_at=0), ("host_id",))):
        raise StorageFailed("storage_fenced", "other Hosts have taken over the work of this one")
