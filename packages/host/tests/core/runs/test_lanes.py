"""Lanes: sequential within a conversation, parallel across conversations, and no queued event is lost."""

import asyncio
import logging
from collections.abc import Awaitable, Callable
from dataclasses import replace

import pytest

from parlour.core.cluster.ownership import Ownership, SoleOwner
from parlour.core.journal import StorageFailed
from parlour.core.runs.lane_result import LaneResult
from parlour.core.runs.lanes import MAX_FAILURES, TRIAL_SECONDS, Lanes
from parlour.core.runs.session import QueuedEvent, StartedRun
from parlour.core.runs.slots import RunSlotPool
from parlour.core.store.inbox import AttemptCounts

from ..support import entry, settle, until

FULL = StorageFailed("storage_full", "the disk is full")


class Work:
    """A handler of entries that the test controls."""

    def __init__(self, slots: int = 8, open_lanes: bool = True, ownership: Ownership | None = None) -> None:
        self.started: list[int] = []
        self.done: list[int] = []
        self.claimed: list[int] = []
        self.takes_claims = False
        self.stored: list[QueuedEvent] = []
        self.results_by_seq: dict[int, list[Callable[[], LaneResult]]] = {}
        self.while_reopening: Callable[[], Awaitable[None]] | None = None
        self._gates: dict[int, asyncio.Event] = {}
        self.given_up: list[int] = []
        self.lanes = Lanes(
            self._handle,
            self._claim,
            self._reopen,
            self._give_up,
            self._prepare,
            RunSlotPool(slots, 8),
            ownership or SoleOwner(),
        )
        if open_lanes:
            self.lanes.open([])

    def enqueue(self, *entries: QueuedEvent) -> None:
        for each in entries:
            self.lanes.enqueue(each)

    def finish(self, seq: int) -> None:
        self._gates.setdefault(seq, asyncio.Event()).set()

    async def _handle(self, each: QueuedEvent) -> LaneResult:
        self.started.append(each.seq)
        gate = self._gates.setdefault(each.seq, asyncio.Event())
        await gate.wait()
        gate.clear()
        self.done.append(each.seq)
        results_by_seq = self.results_by_seq.get(each.seq)
        return results_by_seq.pop(0)() if results_by_seq else LaneResult()

    async def _claim(self, each: QueuedEvent) -> bool:
        await asyncio.sleep(0)
        if self.takes_claims:
            self.claimed.append(each.seq)
        return self.takes_claims

    async def _reopen(self, name: str) -> list[QueuedEvent]:
        found = [each for each in self.stored if each.lane == name]
        if self.while_reopening is not None:
            await self.while_reopening()
        return found

    async def _give_up(self, each: QueuedEvent) -> None:
        self.given_up.append(each.seq)

    async def _prepare(self, started: StartedRun) -> None: ...


def raising(error: Exception) -> Callable[[], LaneResult]:
    def raise_error() -> LaneResult:
        raise error

    return raise_error


async def test_lane_handles_its_entries_in_order_one_at_a_time() -> None:
    work = Work()
    work.enqueue(entry(1), entry(2), entry(3))
    for seq in (1, 2, 3):
        await settle()
        assert work.started[-1] == seq
        work.finish(seq)
    await settle()
    assert work.done == [1, 2, 3]


async def test_out_of_order_entries_are_handled_by_sequence() -> None:
    work = Work()
    for seq in (1, 2, 3, 4):
        work.finish(seq)
    work.enqueue(entry(1), entry(4), entry(2), entry(3))
    await settle()
    assert work.done == [1, 2, 3, 4]


async def test_lanes_run_in_parallel() -> None:
    work = Work()
    work.enqueue(entry(1, "a"), entry(2, "b"), entry(3, "a"))
    await settle()
    assert sorted(work.started) == [1, 2]


async def test_lane_waits_for_a_slot_without_blocking_others() -> None:
    work = Work(slots=1)
    work.enqueue(entry(1, "a"), entry(2, "b"))
    await settle()
    assert work.started == [1]
    work.finish(1)
    await settle()
    assert work.started == [1, 2]


async def test_requeued_entry_is_handled_before_later_ones() -> None:
    work = Work()
    again = entry(1)
    work.results_by_seq[1] = [lambda: LaneResult([again]), LaneResult]
    work.enqueue(entry(1), entry(2))
    await settle()
    work.finish(1)
    await settle()
    assert work.started == [1, 1]
    work.finish(1)
    await settle()
    assert work.started == [1, 1, 2]


async def test_idle_lane_uses_no_memory() -> None:
    work = Work()
    work.finish(1)
    work.enqueue(entry(1))
    await settle()
    assert len(work.lanes) == 0


async def test_further_messages_steer_the_active_run() -> None:
    work = Work()
    work.takes_claims = True
    work.enqueue(entry(1))
    await settle()
    work.enqueue(entry(2), entry(3))
    await settle()
    assert work.claimed == [2, 3]
    work.finish(1)
    await settle()
    assert work.started == [1]


async def test_unclaimed_message_waits_for_its_turn() -> None:
    work = Work()
    work.enqueue(entry(1))
    await settle()
    work.enqueue(entry(2))
    await settle()
    work.finish(1)
    await settle()
    assert work.started == [1, 2]


async def test_lane_is_reloaded_after_a_storage_failure() -> None:
    work = Work()
    work.results_by_seq[1] = [raising(FULL)]
    work.enqueue(entry(1), entry(2))
    work.stored = [entry(1), entry(2), entry(3)]
    for seq in (1, 2, 3):
        work.finish(seq)
    await settle()
    assert work.started == [1]
    work.finish(1)
    await until(lambda: len(work.lanes) == 0)
    assert work.started == [1, 1, 2, 3]


async def test_message_during_the_reload_is_handled() -> None:
    work = Work()
    work.results_by_seq[1] = [raising(FULL)]
    work.stored = [entry(1)]

    async def late() -> None:
        work.while_reopening = None
        work.enqueue(entry(2))
        await asyncio.sleep(0)

    work.while_reopening = late
    work.enqueue(entry(1))
    work.finish(2)
    work.finish(1)
    await settle()
    work.finish(1)
    await until(lambda: len(work.lanes) == 0)
    assert work.done == [1, 1, 2]


async def test_message_that_is_queued_and_reloaded_is_handled_once() -> None:
    work = Work()
    work.results_by_seq[1] = [raising(FULL)]
    work.stored = [entry(1), entry(2)]
    work.enqueue(entry(1))
    work.finish(1)
    work.finish(2)
    await settle()
    work.enqueue(entry(2))
    work.finish(1)
    await until(lambda: len(work.lanes) == 0)
    assert work.done == [1, 1, 2]


async def test_repeatedly_failing_event_is_given_up_and_the_next_handled(
    caplog: pytest.LogCaptureFixture,
) -> None:
    work = Work()
    work.results_by_seq[1] = [raising(RuntimeError("a bug")) for _ in range(MAX_FAILURES + 5)]
    work.stored = [entry(1), entry(2)]
    work.enqueue(entry(1), entry(2))
    work.finish(2)
    with caplog.at_level(logging.CRITICAL):
        for _ in range(MAX_FAILURES + 2):
            work.finish(1)
            await asyncio.sleep(2)
    assert work.started == [1] * (MAX_FAILURES + 1) + [2]
    assert (work.given_up, len(work.lanes)) == ([1], 0)


async def test_failures_are_counted_per_event(caplog: pytest.LogCaptureFixture) -> None:
    work = Work()
    work.stored = [entry(seq) for seq in range(1, MAX_FAILURES + 3)]
    for each in work.stored:
        work.results_by_seq[each.seq] = [raising(RuntimeError("a bug")), LaneResult]
        work.enqueue(each)
    with caplog.at_level(logging.CRITICAL):
        for each in list(work.stored):
            work.finish(each.seq)
            await asyncio.sleep(2)
            work.finish(each.seq)
            await settle()
            work.stored.remove(each)
    assert work.done == [each for seq in range(1, MAX_FAILURES + 3) for each in (seq, seq)]
    assert work.given_up == []


async def test_new_entries_follow_recovered_ones_at_start() -> None:
    work = Work(open_lanes=False)
    for seq in (1, 2):
        work.finish(seq)
    work.enqueue(entry(2))
    await settle()
    assert work.started == []
    work.lanes.open([entry(1)])
    await settle()
    assert work.done == [1, 2]


async def test_recovered_and_new_entry_is_handled_once() -> None:
    work = Work(open_lanes=False)
    work.enqueue(entry(1))
    work.lanes.open([entry(1)])
    work.finish(1)
    await settle()
    work.finish(1)
    await settle()
    assert work.done == [1]


def suspect(seq: int, lane: str) -> QueuedEvent:
    """Returns an event that was active during three crashes of the Host."""
    return replace(entry(seq, lane), tries=AttemptCounts(crashes=3))


async def test_suspects_are_tried_one_at_a_time_before_all_others() -> None:
    work = Work(open_lanes=False)
    work.lanes.open([suspect(1, "a"), suspect(2, "b"), entry(3, "b"), entry(4, "c")])
    work.enqueue(entry(5, "d"))
    for seq in (1, 2):
        await settle()
        assert work.started[-1] == seq
        work.finish(seq)
    await settle()
    assert sorted(work.started[2:]) == [3, 4, 5]


async def test_other_conversations_wait_for_suspects_only_briefly() -> None:
    work = Work(open_lanes=False)
    work.lanes.open([*(suspect(seq, f"suspect {seq}") for seq in range(1, 11)), entry(11, "other")])
    await asyncio.sleep(20)
    work.finish(1)
    await asyncio.sleep(TRIAL_SECONDS - 21)
    assert work.started == [1, 2]
    await asyncio.sleep(2)
    work.enqueue(entry(12, "new"), entry(13, "suspect 9"))
    await settle()
    assert sorted(work.started) == [1, 2, 11, 12]
    for seq in range(2, 11):
        await settle()
        assert [each for each in work.started if each < 11][-1] == seq
        work.finish(seq)
    await settle()
    assert work.started[-1] == 13


async def test_closing_lets_active_work_end_and_starts_no_other() -> None:
    work = Work()
    work.enqueue(entry(1), entry(2))
    await settle()
    work.lanes.close()
    work.enqueue(entry(3, "other"))
    work.finish(1)
    await work.lanes.join()
    assert work.done == work.started == [1]
