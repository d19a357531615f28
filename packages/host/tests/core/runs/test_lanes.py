"""Lanes: one after the other within a conversation, side by side across, and nothing owed is forgotten."""

import asyncio
import logging
from collections.abc import Awaitable, Callable
from dataclasses import replace

import pytest

from parlour.core.journal import StorageFailed
from parlour.core.runs.lane_result import LaneResult
from parlour.core.runs.lanes import MAX_FAILURES, TRIAL_SECONDS, Lanes
from parlour.core.runs.session import QueuedEvent, StartedRun
from parlour.core.runs.slots import RunSlotPool
from parlour.core.store.inbox import AttemptCounts

from ..support import entry, settle, until

FULL = StorageFailed("storage_full", "the disk is full")


class Work:
    """Handles entries when the test lets it."""

    def __init__(self, slots: int = 8, open_at_once: bool = True) -> None:
        self.begun: list[int] = []
        self.done: list[int] = []
        self.claimed: list[int] = []
        self.takes_claims = False
        self.owed: list[QueuedEvent] = []
        self.turns: dict[int, list[Callable[[], LaneResult]]] = {}
        self.while_reopening: Callable[[], Awaitable[None]] | None = None
        self._gates: dict[int, asyncio.Event] = {}
        self.given_up: list[int] = []
        self.lanes = Lanes(self._handle, self._claim, self._reopen, self._give_up, self._prepare, RunSlotPool(slots, 8))
        if open_at_once:
            self.lanes.open([])

    def offer(self, *entries: QueuedEvent) -> None:
        for each in entries:
            self.lanes.enqueue(each)

    def finish(self, seq: int) -> None:
        self._gates.setdefault(seq, asyncio.Event()).set()

    async def _handle(self, each: QueuedEvent) -> LaneResult:
        self.begun.append(each.seq)
        gate = self._gates.setdefault(each.seq, asyncio.Event())
        await gate.wait()
        gate.clear()
        self.done.append(each.seq)
        turns = self.turns.get(each.seq)
        return turns.pop(0)() if turns else LaneResult()

    async def _claim(self, each: QueuedEvent) -> bool:
        await asyncio.sleep(0)
        if self.takes_claims:
            self.claimed.append(each.seq)
        return self.takes_claims

    async def _reopen(self, name: str) -> list[QueuedEvent]:
        found = [each for each in self.owed if each.lane == name]
        if self.while_reopening is not None:
            await self.while_reopening()
        return found

    async def _give_up(self, each: QueuedEvent) -> None:
        self.given_up.append(each.seq)

    async def _prepare(self, started: StartedRun) -> None: ...


def failing(error: Exception) -> Callable[[], LaneResult]:
    def turn() -> LaneResult:
        raise error

    return turn


async def test_one_lane_handles_its_entries_in_order_one_at_a_time() -> None:
    work = Work()
    work.offer(entry(1), entry(2), entry(3))
    for seq in (1, 2, 3):
        await settle()
        assert work.begun[-1] == seq
        work.finish(seq)
    await settle()
    assert work.done == [1, 2, 3]


async def test_entries_that_are_offered_out_of_order_are_handled_in_the_order_they_came() -> None:
    work = Work()
    for seq in (1, 2, 3, 4):
        work.finish(seq)
    work.offer(entry(1), entry(4), entry(2), entry(3))
    await settle()
    assert work.done == [1, 2, 3, 4]


async def test_lanes_run_side_by_side() -> None:
    work = Work()
    work.offer(entry(1, "a"), entry(2, "b"), entry(3, "a"))
    await settle()
    assert sorted(work.begun) == [1, 2]


async def test_a_lane_waits_for_a_slot_and_holds_up_no_lane_that_has_one() -> None:
    work = Work(slots=1)
    work.offer(entry(1, "a"), entry(2, "b"))
    await settle()
    assert work.begun == [1]
    work.finish(1)
    await settle()
    assert work.begun == [1, 2]


async def test_what_goes_back_is_handled_before_what_came_later() -> None:
    work = Work()
    again = entry(1)
    work.turns[1] = [lambda: LaneResult([again]), LaneResult]
    work.offer(entry(1), entry(2))
    await settle()
    work.finish(1)
    await settle()
    assert work.begun == [1, 1]
    work.finish(1)
    await settle()
    assert work.begun == [1, 1, 2]


async def test_an_idle_lane_costs_nothing() -> None:
    work = Work()
    work.finish(1)
    work.offer(entry(1))
    await settle()
    assert len(work.lanes) == 0


async def test_further_messages_join_the_active_run_when_it_takes_them() -> None:
    work = Work()
    work.takes_claims = True
    work.offer(entry(1))
    await settle()
    work.offer(entry(2), entry(3))
    await settle()
    assert work.claimed == [2, 3]
    work.finish(1)
    await settle()
    assert work.begun == [1]


async def test_what_the_active_run_does_not_take_waits_for_its_own_turn() -> None:
    work = Work()
    work.offer(entry(1))
    await settle()
    work.offer(entry(2))
    await settle()
    work.finish(1)
    await settle()
    assert work.begun == [1, 2]


async def test_after_a_storage_failure_the_lane_is_read_again() -> None:
    work = Work()
    work.turns[1] = [failing(FULL)]
    work.offer(entry(1), entry(2))
    work.owed = [entry(1), entry(2), entry(3)]
    for seq in (1, 2, 3):
        work.finish(seq)
    await settle()
    assert work.begun == [1]
    work.finish(1)
    await until(lambda: len(work.lanes) == 0)
    assert work.begun == [1, 1, 2, 3]


async def test_a_message_that_comes_while_the_lane_is_read_again_is_not_forgotten() -> None:
    work = Work()
    work.turns[1] = [failing(FULL)]
    work.owed = [entry(1)]

    async def late() -> None:
        work.while_reopening = None
        work.offer(entry(2))
        await asyncio.sleep(0)

    work.while_reopening = late
    work.offer(entry(1))
    work.finish(2)
    work.finish(1)
    await settle()
    work.finish(1)
    await until(lambda: len(work.lanes) == 0)
    assert work.done == [1, 1, 2]


async def test_a_message_that_came_and_was_read_again_is_handled_once() -> None:
    work = Work()
    work.turns[1] = [failing(FULL)]
    work.owed = [entry(1), entry(2)]
    work.offer(entry(1))
    work.finish(1)
    work.finish(2)
    await settle()
    work.offer(entry(2))
    work.finish(1)
    await until(lambda: len(work.lanes) == 0)
    assert work.done == [1, 1, 2]


async def test_an_event_whose_handling_keeps_failing_is_given_up_and_those_behind_it_have_their_turn(
    caplog: pytest.LogCaptureFixture,
) -> None:
    work = Work()
    work.turns[1] = [failing(RuntimeError("a bug")) for _ in range(MAX_FAILURES + 5)]
    work.owed = [entry(1), entry(2)]
    work.offer(entry(1), entry(2))
    work.finish(2)
    with caplog.at_level(logging.CRITICAL):
        for _ in range(MAX_FAILURES + 2):
            work.finish(1)
            await asyncio.sleep(2)
    assert work.begun == [1] * (MAX_FAILURES + 1) + [2]
    assert (work.given_up, len(work.lanes)) == ([1], 0)


async def test_faults_of_several_events_are_not_added_up(caplog: pytest.LogCaptureFixture) -> None:
    work = Work()
    work.owed = [entry(seq) for seq in range(1, MAX_FAILURES + 3)]
    for each in work.owed:
        work.turns[each.seq] = [failing(RuntimeError("a bug")), LaneResult]
        work.offer(each)
    with caplog.at_level(logging.CRITICAL):
        for each in list(work.owed):
            work.finish(each.seq)
            await asyncio.sleep(2)
            work.finish(each.seq)
            await settle()
            work.owed.remove(each)
    assert work.done == [each for seq in range(1, MAX_FAILURES + 3) for each in (seq, seq)]
    assert work.given_up == []


async def test_what_comes_before_the_start_is_over_follows_what_was_owed() -> None:
    work = Work(open_at_once=False)
    for seq in (1, 2):
        work.finish(seq)
    work.offer(entry(2))
    await settle()
    assert work.begun == []
    work.lanes.open([entry(1)])
    await settle()
    assert work.done == [1, 2]


async def test_what_was_taken_up_as_owed_and_told_as_new_is_handled_once() -> None:
    work = Work(open_at_once=False)
    work.offer(entry(1))
    work.lanes.open([entry(1)])
    work.finish(1)
    await settle()
    work.finish(1)
    await settle()
    assert work.done == [1]


def suspect(seq: int, lane: str) -> QueuedEvent:
    """An event that was in flight at three deaths of the Host."""
    return replace(entry(seq, lane), tries=AttemptCounts(crashes=3))


async def test_suspects_are_tried_one_at_a_time_before_everything_else() -> None:
    work = Work(open_at_once=False)
    work.lanes.open([suspect(1, "a"), suspect(2, "b"), entry(3, "b"), entry(4, "c")])
    work.offer(entry(5, "d"))
    for seq in (1, 2):
        await settle()
        assert work.begun[-1] == seq
        work.finish(seq)
    await settle()
    assert sorted(work.begun[2:]) == [3, 4, 5]


async def test_other_conversations_wait_for_suspects_for_half_a_minute_only() -> None:
    work = Work(open_at_once=False)
    work.lanes.open([*(suspect(seq, f"suspect {seq}") for seq in range(1, 11)), entry(11, "other")])
    await asyncio.sleep(20)
    work.finish(1)
    await asyncio.sleep(TRIAL_SECONDS - 21)
    assert work.begun == [1, 2]
    await asyncio.sleep(2)
    work.offer(entry(12, "new"), entry(13, "suspect 9"))
    await settle()
    assert sorted(work.begun) == [1, 2, 11, 12]
    for seq in range(2, 11):
        await settle()
        assert [each for each in work.begun if each < 11][-1] == seq
        work.finish(seq)
    await settle()
    assert work.begun[-1] == 13


async def test_after_closing_what_is_active_may_end_and_nothing_new_starts() -> None:
    work = Work()
    work.offer(entry(1), entry(2))
    await settle()
    work.lanes.close()
    work.offer(entry(3, "other"))
    work.finish(1)
    await work.lanes.join()
    assert work.done == work.begun == [1]
