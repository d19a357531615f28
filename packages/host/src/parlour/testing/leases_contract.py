"""The contract of `HostLeases`: every implementation passes these tests in a subclass of its own."""

from abc import ABC, abstractmethod

import pytest

from parlour.core.cluster import owner_rows
from parlour.core.cluster.leased_ownership import LeasedOwnership
from parlour.core.cluster.leases import HostFacts, HostLease, HostLeases
from parlour.core.cluster.tables import LEASES
from parlour.core.journal import GuardFailed, Insert, Journal, Select, StorageFailed, Unit, Update, where
from parlour.core.model.ids import HostId, PartId
from parlour.core.store.tables import INBOX, META

ANN, BOB, EVE = HostId("ann"), HostId("bob"), HostId("eve")
PART, OTHER_PART = PartId("bot:b1"), PartId("shard:07")


class LeaseRig(ABC):
    """One implementation, with the journal of each Host on the same database."""

    leases: HostLeases

    @abstractmethod
    async def journal(self, host_id: HostId, slot: int) -> Journal:
        """Returns the journal that a Host commits through."""

    @abstractmethod
    async def end_lease(self, host_id: HostId) -> None:
        """Sets the end of a lease to a time that is over."""

    async def join(self, host_id: HostId) -> Journal:
        """Adds a Host and returns its journal."""
        return await self.journal(host_id, await self.leases.join(HostFacts(host_id, f"host {host_id}", "1.0")))


def note(name: str) -> Insert:
    return Insert(META, {"name": name, "value": ""})


async def notes(journal: Journal) -> list[str]:
    return sorted(row["name"] for row in await journal.read(Select(META)))


def in_flight(event_seq: int, part: str) -> Insert:
    numbers = {"event_seq": event_seq, "in_flight": 1, "attempts": 1, "transcribed": 0}
    counts = {"failures": 0, "deaths": 0, "lone_deaths": 0}
    return Insert(INBOX, {"lane": f"c{event_seq}", "part": part, "state": "running", "run_id": "", **numbers, **counts})


async def crashes(journal: Journal) -> dict[int, tuple[int, int, int]]:
    """Returns whether each event is in flight, its crashes, and those at which it was alone."""
    rows = await journal.read(Select(INBOX))
    return {row["event_seq"]: (row["in_flight"], row["deaths"], row["lone_deaths"]) for row in rows}


async def take(journal: Journal, host_id: HostId, name: PartId = PART) -> LeasedOwnership:
    """Makes a Host the owner of a part."""
    await journal.commit(Unit("part.add", (owner_rows.add(name),)))
    [part] = [each for each in await owner_rows.all_parts(journal) if each.part == name]
    await journal.commit(Unit("part.take", (owner_rows.take(part, host_id, 1),)))
    ownership = LeasedOwnership(HostLease())
    ownership.add(name, part.epoch + 1)
    return ownership


class LeasesContract:
    """Subclasses supply the fixture `rig`."""

    async def test_hosts_have_slots_of_their_own_and_a_fenced_one_gives_its_slot_back(self, rig: LeaseRig) -> None:
        journal = await rig.join(ANN)
        await rig.join(BOB)
        slots = {row["host_id"]: row["slot"] for row in await journal.read(Select(LEASES))}
        assert sorted(slots.values()) == [1, 2]
        await rig.leases.leave(ANN)
        assert await rig.leases.join(HostFacts(EVE, "eve", "1.0")) == slots[ANN]

    async def test_a_host_that_does_not_renew_its_lease_is_fenced_and_one_that_does_is_not(self, rig: LeaseRig) -> None:
        ann, bob = await rig.join(ANN), await rig.join(BOB)
        await rig.end_lease(ANN)
        await rig.end_lease(BOB)
        assert await rig.leases.renew(BOB)
        assert await rig.leases.fence_expired() == [ANN]
        assert await rig.leases.fence_expired() == []
        assert not await rig.leases.renew(ANN)
        assert await owner_rows.live_hosts(bob) == ([BOB], set())
        with pytest.raises(StorageFailed) as failure:
            await ann.commit(Unit("test.note", (note("late"),)))
        assert failure.value.code == "storage_fenced"
        await bob.commit(Unit("test.note", (note("early"),)))
        assert await notes(bob) == ["early"]

    async def test_fencing_frees_the_parts_of_a_host_and_of_no_other(self, rig: LeaseRig) -> None:
        ann = await rig.join(ANN)
        await rig.join(BOB)
        await take(ann, ANN)
        await rig.leases.leave(BOB)
        [part] = await owner_rows.all_parts(ann)
        assert (part.host_id, part.epoch) == (ANN, 1)
        await rig.leases.leave(ANN)
        [part] = await owner_rows.all_parts(ann)
        assert (part.host_id, part.epoch) == ("", 2)

    async def test_the_end_of_a_host_is_counted_once_for_all_its_events_in_flight(self, rig: LeaseRig) -> None:
        """Two parts of one Host are recovered by different Hosts, and neither event was alone at the crash."""
        ann = await rig.join(ANN)
        await take(ann, ANN)
        await take(ann, ANN, OTHER_PART)
        await ann.commit(Unit("test.begin", tuple(in_flight(*each) for each in ((1, PART), (2, OTHER_PART), (3, "x")))))
        await rig.end_lease(ANN)
        await rig.leases.fence_expired()
        assert await crashes(ann) == {1: (0, 1, 0), 2: (0, 1, 0), 3: (1, 0, 0)}
        bob = await rig.join(BOB)
        await take(bob, BOB)
        await bob.commit(Unit("test.begin", (Update(INBOX, {"in_flight": 1}, where(event_seq=1)),)))
        await rig.end_lease(BOB)
        await rig.leases.fence_expired()
        assert (await crashes(bob))[1] == (0, 2, 1)

    async def test_a_free_part_is_taken_by_one_host_only(self, rig: LeaseRig) -> None:
        ann, bob = await rig.join(ANN), await rig.join(BOB)
        await ann.commit(Unit("part.add", (owner_rows.add(PART),)))
        [part] = await owner_rows.all_parts(ann)
        await ann.commit(Unit("part.take", (owner_rows.take(part, ANN, 1),)))
        with pytest.raises(GuardFailed):
            await bob.commit(Unit("part.take", (owner_rows.take(part, BOB, 1),)))

    async def test_a_guarded_unit_fails_after_the_part_has_moved_even_if_it_has_come_back(self, rig: LeaseRig) -> None:
        journal = await rig.join(ANN)
        before = await take(journal, ANN)
        await journal.commit(Unit("test.act", (note("1"), *before.guards(PART))))
        await journal.commit(Unit("part.release", (owner_rows.release(PART, before.epoch(PART), 2),)))
        with pytest.raises(GuardFailed):
            await journal.commit(Unit("test.act", (note("2"), *before.guards(PART))))
        after = await take(journal, ANN)
        with pytest.raises(GuardFailed):
            await journal.commit(Unit("test.act", (note("3"), *before.guards(PART))))
        await journal.commit(Unit("test.act", (note("4"), *after.guards(PART))))
        assert await notes(journal) == ["1", "4"]

    async def test_a_unit_for_a_part_that_this_host_does_not_own_fails_even_without_a_row(self, rig: LeaseRig) -> None:
        journal = await rig.join(ANN)
        with pytest.raises(GuardFailed):
            await journal.commit(Unit("test.act", (note("1"), *LeasedOwnership(HostLease()).guards(PART))))
