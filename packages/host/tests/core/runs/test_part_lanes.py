"""Lanes of a Host in a cluster: only events of its own parts are handled, and a part that it gives away stops."""

import asyncio

from parlour.core.cluster.ownership import SoleOwner
from parlour.core.cluster.parts import shard_part
from parlour.core.model.ids import PartId
from parlour.core.store.inbox import AttemptCounts

from ..support import entry, settle
from .test_lanes import Work

PART, OTHER = shard_part("a"), shard_part("b")


class OwnedParts(SoleOwner):
    """Owns the parts that a test names."""

    def __init__(self, *owned: PartId) -> None:
        self.owned = {*owned}

    def owns(self, part: PartId) -> bool:
        return part in self.owned


async def test_events_of_parts_of_other_hosts_are_left_to_them() -> None:
    work = Work(ownership=OwnedParts(PART))
    work.enqueue(entry(1, "a"), entry(2, "b"))
    await settle()
    assert work.started == [1]
    assert work.lanes.try_reserve(entry(3, "b").event) is None


async def test_events_that_arrive_during_the_recovery_of_a_part_come_after_recovered_ones() -> None:
    work = Work(ownership=OwnedParts(PART, OTHER))
    work.lanes.hold_part(PART)
    work.enqueue(entry(2, "a"), entry(3, "b"))
    assert work.lanes.try_reserve(entry(4, "a").event) is None
    await settle()
    assert work.started == [3]
    for seq in (1, 2):
        work.finish(seq)
    work.lanes.open_part(PART, [entry(1, "a"), entry(2, "a")])
    await settle()
    assert work.done == [1, 2]


async def test_a_part_that_is_given_away_ends_after_its_active_event() -> None:
    ownership = OwnedParts(PART, OTHER)
    work = Work(ownership=ownership)
    work.enqueue(entry(1, "a"), entry(2, "a"), entry(3, "b"), entry(4, "b"))
    await settle()
    ownership.owned.discard(PART)
    lanes = work.lanes.of_part(PART)
    for seq in (1, 3):
        work.finish(seq)
    await asyncio.wait(lanes)
    await settle()
    assert sorted(work.started) == [1, 3, 4]
    assert not work.lanes.waits("a", 2)
    ownership.owned.add(PART)
    work.lanes.open_part(PART, [entry(2, "a")])
    await settle()
    assert work.started[-1] == 2


async def test_events_that_were_in_flight_at_many_crashes_are_tried_one_at_a_time() -> None:
    work = Work(ownership=OwnedParts(PART, OTHER))
    suspects = [entry(1, "a"), entry(2, "b")]
    for each in suspects:
        each.tries = AttemptCounts(crashes=3)
    work.lanes.open_part(PART, [suspects[0]])
    work.lanes.open_part(OTHER, [suspects[1], entry(3, "b")])
    work.enqueue(entry(4, "c"))
    await settle()
    assert work.started == [1]
    work.finish(1)
    await settle()
    assert work.started == [1, 2]
    work.finish(2)
    await settle()
    assert work.started == [1, 2, 3]
