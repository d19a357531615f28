"""The contract of `HostLeases`: every implementation passes these tests in a subclass of its own."""

from abc import ABC, abstractmethod

import pytest

from parlour.core.cluster import owner_rows
from parlour.core.cluster.leased_ownership import LeasedOwnership
from parlour.core.cluster.leases import HostFacts, HostLease, HostLeases
from parlour.core.cluster.tables import LEASES
from parlour.core.journal import GuardFailed, Insert, Journal, Select, StorageFailed, Unit
from parlour.core.model.ids import HostId, PartId
from parlour.core.store.tables import META

ANN, BOB, EVE = HostId("ann"), HostId("bob"), HostId("eve")
PART = PartId("bot:b1")


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


async def take(journal: Journal, host_id: HostId) -> LeasedOwnership:
    """Makes a Host the owner of the part."""
    await journal.commit(Unit("part.add", (owner_rows.add(PART),)))
    [part] = await owner_rows.all_parts(journal)
    await journal.commit(Unit("part.take", (owner_rows.take(part, host_id, 1),)))
    ownership = LeasedOwnership(HostLease())
    ownership.add(PART, part.epoch + 1)
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
        assert await owner_rows.live_hosts(bob) == [BOB]
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
