"""Tests the leases of Hosts in memory and on PostgreSQL: who is fenced, when, and what that stops."""

import asyncio
import time
from collections.abc import AsyncIterator
from contextlib import AsyncExitStack
from typing import Any

import asyncpg  # type: ignore[import-untyped]
import pytest

from parlour.core.cluster.leases import BEAT_SECONDS, HostFacts, HostLease
from parlour.core.cluster.tables import CLUSTER_TABLES, LEASES
from parlour.core.journal import Journal, StorageFailed, Unit, Update, where
from parlour.core.model.ids import HostId
from parlour.stores import factory
from parlour.stores.postgres import PostgresJournal
from parlour.stores.postgres.lease_thread import LeaseThread
from parlour.stores.postgres.leases import PostgresHostLeases
from parlour.testing.journal_contract import commit, contents, event
from parlour.testing.leases_contract import ANN, BOB, LeaseRig, LeasesContract, note, notes, take
from parlour.testing.memory_journal import MemoryDatabase
from parlour.testing.memory_leases import FencedMemoryJournal, MemoryHostLeases

from .polling import until


class MemoryRig(LeaseRig):
    def __init__(self) -> None:
        self._database = MemoryDatabase()
        self.leases = MemoryHostLeases(self._database, lambda: 1_000_000)

    async def journal(self, host_id: HostId, slot: int) -> Journal:
        return FencedMemoryJournal(self._database, host_id)

    async def end_lease(self, host_id: HostId) -> None:
        self._database.commit(Unit("test.end", (Update(LEASES, {"lease_until": 1}, where(host_id=host_id)),)))


class PostgresRig(LeaseRig):
    def __init__(self, url: str, stack: AsyncExitStack) -> None:
        self.url = url
        self._stack = stack
        self.leases: PostgresHostLeases = self.new_leases()

    def new_leases(self) -> PostgresHostLeases:
        """Returns another connection; fencing does not wait after the start of the server."""
        leases = PostgresHostLeases(self.url, server_start_seconds=0)
        self._stack.push_async_callback(leases.close)
        return leases

    async def journal(self, host_id: HostId, slot: int) -> PostgresJournal:
        opened = PostgresJournal(self.url, exclusive=True, slot=slot, host_id=host_id)
        return await self._stack.enter_async_context(opened)

    async def end_lease(self, host_id: HostId) -> None:
        await self.execute("UPDATE leases SET lease_until = 1 WHERE host_id = $1", host_id)

    async def execute(self, sql: str, *values: object) -> None:
        connection = await asyncpg.connect(self.url)
        await connection.fetch(sql, *values)
        await connection.close()

    async def lease_until(self, host_id: HostId) -> int:
        connection = await asyncpg.connect(self.url)
        until: int = await connection.fetchval("SELECT lease_until FROM leases WHERE host_id = $1", host_id)
        await connection.close()
        return until


async def until_waiting(connection: Any, count: int) -> None:
    """Waits until this many connections wait for a lock."""

    async def are_waiting() -> bool:
        waiting = "SELECT count(*) FROM pg_stat_activity WHERE wait_event_type = 'Lock'"
        return bool(await connection.fetchval(waiting) >= count)

    await until(are_waiting)


class TestMemory(LeasesContract):
    @pytest.fixture
    def rig(self) -> LeaseRig:
        return MemoryRig()


@pytest.fixture
async def rig(url: str) -> AsyncIterator[PostgresRig]:
    async with AsyncExitStack() as stack:
        yield PostgresRig(url, stack)


class TestPostgres(LeasesContract):
    @pytest.fixture
    async def rig(self, url: str) -> AsyncIterator[PostgresRig]:
        async with AsyncExitStack() as stack:
            yield PostgresRig(url, stack)


async def test_a_host_whose_connection_ended_is_fenced_before_its_lease_is_over_if_it_misses_two_beats(
    rig: PostgresRig,
) -> None:
    for host_id in (ANN, BOB):
        await rig.join(host_id)
    anns, bobs = rig.new_leases(), rig.new_leases()
    assert await anns.renew(ANN)
    assert await bobs.renew(BOB)
    await rig.execute("UPDATE leases SET lease_until = lease_until - 1200")
    assert await rig.leases.fence_expired() == []  # both have their connection
    await anns.close()
    fenced: list[HostId] = []

    async def is_noticed() -> bool:
        fenced.extend(await rig.leases.fence_expired())
        return bool(fenced)

    await until(is_noticed)
    assert fenced == [ANN]


async def test_nobody_is_fenced_right_after_the_server_started(rig: PostgresRig) -> None:
    await rig.join(ANN)
    await rig.end_lease(ANN)
    starting = PostgresHostLeases(rig.url, server_start_seconds=10**6)
    assert await starting.fence_expired() == []
    await starting.close()
    assert await rig.leases.fence_expired() == [ANN]


async def test_fencing_waits_for_a_commit_in_progress_and_a_commit_after_it_fails(rig: PostgresRig) -> None:
    journal = await rig.join(ANN)
    await take(journal, ANN)
    await rig.end_lease(ANN)
    blocker = await asyncpg.connect(rig.url)
    async with blocker.transaction(), asyncio.timeout(20):
        await blocker.execute("INSERT INTO meta VALUES ('1', '')")
        committing = asyncio.create_task(journal.commit(Unit("test.note", (note("1"),))))
        await until_waiting(blocker, 1)
        fencing = asyncio.create_task(rig.leases.fence_expired())
        await until_waiting(blocker, 2)
        assert not fencing.done()
        await blocker.execute("DELETE FROM meta WHERE name = '1'")
    await blocker.close()
    await committing
    assert await fencing == [ANN]
    with pytest.raises(StorageFailed, match="started again"):
        await journal.commit(Unit("test.note", (note("2"),)))
    assert await notes(journal) == ["1"]


async def test_a_renewal_does_not_wait_for_a_commit_in_progress(rig: PostgresRig) -> None:
    journal = await rig.join(ANN)
    blocker = await asyncpg.connect(rig.url)
    async with blocker.transaction(), asyncio.timeout(20):
        await blocker.execute("INSERT INTO meta VALUES ('1', '')")
        committing = asyncio.create_task(journal.commit(Unit("test.note", (note("1"),))))
        await until_waiting(blocker, 1)
        assert await rig.leases.renew(ANN)
        assert not committing.done()
        await blocker.execute("DELETE FROM meta WHERE name = '1'")
    await blocker.close()
    await committing


async def test_hosts_of_a_cluster_serve_a_database_together_and_a_single_host_does_not_join_them(
    rig: PostgresRig,
) -> None:
    await rig.join(ANN)
    await rig.join(BOB)
    single = PostgresJournal(rig.url, exclusive=True, retry_seconds=0.1)
    with pytest.raises(StorageFailed) as failure:
        await single.open()
    assert failure.value.code == "storage_served"


async def test_a_host_of_a_cluster_does_not_join_a_single_host(rig: PostgresRig) -> None:
    async with PostgresJournal(rig.url, exclusive=True):
        slot = await rig.leases.join(HostFacts(ANN, "ann", "1.0"))
        joining = PostgresJournal(rig.url, exclusive=True, slot=slot, host_id=ANN, retry_seconds=0.1)
        with pytest.raises(StorageFailed, match="not in the cluster"):
            await joining.open()


async def test_numbers_of_a_host_grow_beyond_those_of_a_host_whose_part_it_takes(rig: PostgresRig) -> None:
    ann, bob = await rig.join(ANN), await rig.join(BOB)
    [[first_of_bob]] = await commit(bob, event("bob 0"))
    *_, [last] = await commit(ann, *(event(f"ann {number}") for number in range(5)))
    assert first_of_bob["seq"] < last["seq"]
    await rig.leases.raise_numbers(2)
    [[next_of_bob]] = await commit(bob, event("bob 1"))
    assert next_of_bob["seq"] > last["seq"]


async def test_a_busy_event_loop_does_not_end_a_lease(rig: PostgresRig) -> None:
    await rig.join(ANN)
    lease = HostLease()
    with LeaseThread(rig.url, ANN, lease):
        begun = time.monotonic()
        while not lease.is_valid:  # the first renewal
            assert time.monotonic() - begun < 10
        before = await rig.lease_until(ANN)
        begun = time.monotonic()
        while time.monotonic() - begun < 3 * BEAT_SECONDS:
            pass  # nothing else runs in this thread
        assert await rig.lease_until(ANN) >= before + 1000 * BEAT_SECONDS
    assert not lease.is_lost


async def test_the_thread_ends_and_tells_when_the_host_is_fenced(rig: PostgresRig) -> None:
    await rig.join(ANN)
    lost = asyncio.Event()
    loop = asyncio.get_running_loop()
    lease = HostLease(on_lost=lambda: loop.call_soon_threadsafe(lost.set))
    with LeaseThread(rig.url, ANN, lease):
        await rig.leases.leave(ANN)
        async with asyncio.timeout(10):
            await lost.wait()
    assert lease.is_lost


async def test_a_backup_leaves_hosts_and_owners_out(rig: PostgresRig, tmp_path_factory: pytest.TempPathFactory) -> None:
    journal = await rig.join(ANN)
    await take(journal, ANN)
    file = tmp_path_factory.mktemp("copy") / "copy.db"
    await factory.dump(rig.url, file)
    async with factory.open_journal("", file) as copy:
        for table in CLUSTER_TABLES:
            assert await contents(copy, table) == []
