"""One lane per conversation: its events are handled in order, lanes run concurrently, and an idle lane costs
nothing.
"""

import asyncio
import logging
from bisect import bisect_left
from collections.abc import Awaitable, Callable

from parlour.core.asyncio_utils import BackgroundTasks
from parlour.core.cluster.ownership import Ownership
from parlour.core.cluster.parts import part_of
from parlour.core.journal import StorageFailed
from parlour.core.model.event import RecordedEvent
from parlour.core.model.ids import ConversationId, PartId

from . import retry_policy
from .lane import Lane, LaneReservation, Prepare
from .lane_result import LaneResult, Suspension
from .session import QueuedEvent
from .slots import RunSlotPool, actor_key

logger = logging.getLogger(__name__)

STORAGE_RETRY_SECONDS = 1.0
"""Seconds between attempts to read a lane again while the database fails."""
MAX_FAILURES = 3
"""Failed attempts of the Host to handle an event; one more quarantines it, so that those behind it get their turn."""

TRIAL_SECONDS = 30.0
"""Seconds for which one event is tried alone; after that, other conversations continue beside the events still to be
tried.
"""

Handle = Callable[[QueuedEvent], Awaitable[LaneResult]]
Claim = Callable[[QueuedEvent], Awaitable[bool]]
Reopen = Callable[[ConversationId], Awaitable[list[QueuedEvent]]]
GiveUp = Callable[[QueuedEvent], Awaitable[None]]


class Lanes:
    """The lanes of all conversations with waiting or active events."""

    def __init__(
        self,
        handle: Handle,
        claim: Claim,
        load_pending: Reopen,
        quarantine: GiveUp,
        prepare: Prepare,
        slots: RunSlotPool,
        ownership: Ownership,
    ) -> None:
        self._handle = handle
        self._claim = claim
        self._load_pending = load_pending
        self._quarantine = quarantine
        self._prepare = prepare
        self._slots = slots
        self._ownership = ownership
        self._lanes: dict[ConversationId, Lane] = {}
        self._arrived_before_open: list[QueuedEvent] | None = []
        """Events that arrive before `open` is called; None after that."""
        self._trial_task: asyncio.Task[None] | None = None
        self._held_entries: dict[ConversationId, list[QueuedEvent]] = {}
        """Events by lane that wait until the suspect events of that lane were tried alone."""
        self._held_parts: dict[PartId, list[QueuedEvent]] = {}
        """Events of parts that are being recovered."""
        self._part_trials = BackgroundTasks("an event could not be tried alone")
        self._part_trial_turn = asyncio.Lock()
        self._closed = False

    def __len__(self) -> int:
        return len(self._lanes)

    def open(self, pending: list[QueuedEvent]) -> None:
        """Starts handling: first the events that were pending at the start, then those that arrived since.

        Events that were in flight at too many crashes of the Host go first, one at a time.
        """
        if any(retry_policy.needs_isolated_trial(entry.tries) for entry in pending):
            self._trial_task = asyncio.create_task(self._try_alone(pending))
        else:
            self._open_all(pending)

    def hold_part(self, part: PartId) -> None:
        """Lets the events of a part wait until `open_part`, so that older ones that are recovered come first."""
        self._held_parts.setdefault(part, [])

    def open_part(self, part: PartId, pending: list[QueuedEvent]) -> None:
        """Starts handling the events of a part that this Host has taken over.

        Events that were in flight at too many crashes are tried one at a time, each after those before it in its lane;
        other conversations go on beside them.
        """
        suspects = [entry for entry in pending if retry_policy.needs_isolated_trial(entry.tries)]
        held_entries: dict[ConversationId, list[QueuedEvent]] = {each.lane: [] for each in suspects}
        self._held_entries |= held_entries
        for entry in [*pending, *self._held_parts.pop(part, [])]:
            self.enqueue(entry)
        for suspect in suspects:
            self._part_trials.start(self._try_in_turn(suspect))

    async def _try_in_turn(self, suspect: QueuedEvent) -> None:
        async with self._part_trial_turn:
            logger.warning("event %s is tried alone: a Host stopped each time it was in flight", suspect.seq)
            entries = self._held_entries.pop(suspect.lane, [])
            for entry in entries:
                self.enqueue(entry)
            lane = self._lanes.get(suspect.lane)
            if lane is not None and lane.task is not None:
                await asyncio.wait([lane.task], timeout=TRIAL_SECONDS)

    def enqueue(self, entry: QueuedEvent) -> None:
        """Adds an event to its lane. A duplicate is ignored."""
        if self._closed or not self._ownership.owns(_part(entry.event)):
            return  # it is in the inbox, and is recovered at the next start or by the Host that owns its part
        if self._arrived_before_open is not None:
            self._arrived_before_open.append(entry)
        elif self._held_parts and (held_part := self._held_parts.get(_part(entry.event))) is not None:
            held_part.append(entry)
        elif entry.lane in self._held_entries:
            self._held_entries[entry.lane].append(entry)
        else:
            self._admit(entry)

    async def _try_alone(self, pending: list[QueuedEvent]) -> None:
        """Handles each suspect event after the events before it in its lane, one at a time; then opens their lanes.

        The first ones run with nothing beside them. If that takes too long, all other lanes open.
        """
        suspects = [entry for entry in pending if retry_policy.needs_isolated_trial(entry.tries)]
        self._held_entries = {each.lane: [] for each in suspects}
        remaining = [entry for entry in pending if entry.lane in self._held_entries]
        other_lanes = [entry for entry in pending if entry.lane not in self._held_entries]
        open_timer = asyncio.get_running_loop().call_later(TRIAL_SECONDS, self._open_all, other_lanes)
        try:
            for suspect in suspects:
                logger.warning("event %s is tried alone: the Host stopped each time it was in flight", suspect.seq)
                for entry in [each for each in remaining if each.lane == suspect.lane and each.seq <= suspect.seq]:
                    remaining.remove(entry)
                    self._admit(entry)
                lane = self._lanes.get(suspect.lane)
                if lane is not None and lane.task is not None:
                    await asyncio.wait([lane.task], timeout=TRIAL_SECONDS)
        finally:
            open_timer.cancel()
        held_entries, self._held_entries = self._held_entries, {}
        for entry in [*remaining, *(each for entries in held_entries.values() for each in entries)]:
            self._admit(entry)
        if self._arrived_before_open is not None:
            self._open_all(other_lanes)

    def _open_all(self, pending: list[QueuedEvent]) -> None:
        arrived, self._arrived_before_open = self._arrived_before_open or [], None
        for entry in [*pending, *arrived]:
            self.enqueue(entry)

    def _admit(self, entry: QueuedEvent) -> None:
        lane = self._lanes.get(entry.lane)
        if lane is None:
            lane = self._lanes[entry.lane] = Lane(_part(entry.event))
        position = bisect_left(lane.waiting, entry.seq, key=lambda each: each.seq)
        is_current = entry.seq == lane.current and not entry.run_id  # an explicitly created run is never a duplicate
        if is_current or [each.seq for each in lane.waiting[position : position + 1]] == [entry.seq]:
            return  # it was recovered from the inbox before it was enqueued
        lane.add(position, entry)
        if lane.task is None:
            lane.task = asyncio.create_task(self._run_lane(entry.lane, lane))
        elif lane.handling and lane.steering_task is None:
            lane.steering_task = asyncio.create_task(self._offer_to_run(lane))

    def try_reserve(self, event: RecordedEvent) -> LaneReservation | None:
        """Reserves an idle lane and a slot for the event. Returns None if it could not be handled immediately."""
        name, person = event.conversation_id, actor_key(event.envelope)
        is_held = self._arrived_before_open is not None or name in self._held_entries
        part = _part(event)
        is_held = is_held or part in self._held_parts
        if self._closed or is_held or name in self._lanes or not self._ownership.owns(part):
            return None
        if not self._slots.try_acquire(person):
            return None
        lane, reservation = Lane(part), LaneReservation(self._prepare)
        self._lanes[name] = lane
        lane.task = asyncio.create_task(self._run_reserved_lane(name, lane, person, reservation))
        return reservation

    async def refresh(self, name: ConversationId) -> None:
        """Reads the inbox for this conversation again and enqueues events that are missing; duplicates are ignored."""
        for entry in await self._load_pending(name):
            self.enqueue(entry)

    def close(self) -> None:
        """Stops handling further events; active ones may end. Runs that are executed elsewhere continue without this
        Host.
        """
        self._closed = True
        if self._trial_task is not None:
            self._trial_task.cancel()
        for lane in self._lanes.values():
            if lane.suspended_task is not None:
                lane.suspended_task.cancel()

    def of_part(self, part: PartId) -> "list[asyncio.Task[None]]":
        """Returns the tasks of the lanes of a part that this Host gives away; they end after their active events."""
        self._held_parts.pop(part, None)
        lanes = [lane for lane in self._lanes.values() if lane.part == part]
        for lane in lanes:
            if lane.suspended_task is not None:
                lane.suspended_task.cancel()
        return [lane.task for lane in lanes if lane.task is not None]

    def waits(self, name: ConversationId, seq: int) -> bool:
        """Returns whether an event is being handled here or waits for its turn."""
        lane = self._lanes.get(name)
        return lane is not None and (lane.current == seq or any(entry.seq == seq for entry in lane.waiting))

    def remove(self, name: ConversationId, seq: int) -> QueuedEvent | None:
        """Removes an event that still waits for its turn and returns it."""
        lane = self._lanes.get(name)
        removed = next((entry for entry in lane.waiting if entry.seq == seq), None) if lane is not None else None
        if lane is not None and removed is not None:
            lane.waiting.remove(removed)
        return removed

    async def join(self) -> None:
        """Waits until all lanes have stopped."""
        await asyncio.gather(*(lane.task for lane in self._lanes.values() if lane.task), return_exceptions=True)

    async def _run_lane(self, name: ConversationId, lane: Lane) -> None:
        try:
            while lane.waiting and self._may_continue(lane):
                person = actor_key(lane.waiting[0].event.envelope)
                await self._slots.acquire(person)
                try:
                    suspension = await self._next(name, lane)
                finally:
                    self._slots.release(person)
                if suspension is not None:
                    await self._wait_suspended(name, lane, suspension)
        finally:
            del self._lanes[name]

    async def _run_reserved_lane(
        self, name: ConversationId, lane: Lane, person: str, reservation: LaneReservation
    ) -> None:
        """Handles the event that the lane was reserved for, then all that came after it."""
        try:
            try:
                entry = await reservation.wait()
                suspension = await self._handle_entry(name, lane, entry) if entry is not None else None
            finally:
                self._slots.release(person)
            if suspension is not None:
                await self._wait_suspended(name, lane, suspension)
        finally:
            await self._run_lane(name, lane)

    def _may_continue(self, lane: Lane) -> bool:
        return not self._closed and self._ownership.owns(lane.part)

    async def _next(self, name: ConversationId, lane: Lane) -> Suspension | None:
        if not lane.waiting or not self._may_continue(lane):
            return None  # it was removed while waiting for a slot
        return await self._handle_entry(name, lane, lane.waiting.pop(0))

    async def _handle_entry(self, name: ConversationId, lane: Lane, entry: QueuedEvent) -> Suspension | None:
        lane.current = entry.seq
        lane.handling = True
        entry.queue = lane
        return await self._await_handling(name, lane, self._handle(entry))

    async def _wait_suspended(self, name: ConversationId, lane: Lane, suspension: Suspension) -> None:
        """Waits for a suspended event, such as a run that is executed elsewhere. It keeps its lane but no slot."""
        lane.suspended_task = asyncio.create_task(_wait_ready(suspension))
        if not self._may_continue(lane):
            lane.suspended_task.cancel()
        await asyncio.wait([lane.suspended_task])
        cancelled, lane.suspended_task = lane.suspended_task.cancelled(), None
        if cancelled:
            await self._stop_claims(lane)
        else:
            await self._await_handling(name, lane, suspension.finish())

    async def _await_handling(
        self, name: ConversationId, lane: Lane, handling: Awaitable[LaneResult]
    ) -> Suspension | None:
        """Awaits the handling of an event and updates the lane. Returns the suspension if the run continues
        elsewhere.
        """
        try:
            result = await handling
        except StorageFailed as failure:
            logger.error("lane %s is read again after a database failure: %s", name, failure.message)
            await self._stop_claims(lane)
            await self._reload(name, lane)
        except Exception:
            logger.exception("event %s could not be handled", lane.current)
            await self._stop_claims(lane)
            await self._handle_failure(name, lane)
        else:
            if result.suspension is not None:
                return result.suspension
            await self._stop_claims(lane)
            lane.waiting[:0] = result.requeued
        return None

    async def _offer_to_run(self, lane: Lane) -> None:
        """Offers waiting messages to the active run, the first one first, until it takes no more."""
        try:
            while lane.waiting and lane.handling:
                entry = lane.waiting[0]
                if not await self._claim(entry):
                    return
                lane.waiting.remove(entry)
        except StorageFailed as failure:
            logger.error("a message could not join the active run: %s", failure.message)
        except Exception:  # the message gets its own turn
            logger.exception("a message could not join the active run")
        finally:
            lane.steering_task = None

    async def _stop_claims(self, lane: Lane) -> None:
        lane.handling = False
        if lane.steering_task is not None:
            await lane.steering_task

    async def _handle_failure(self, name: ConversationId, lane: Lane) -> None:
        lane.failing_seq, lane.failures = lane.current, lane.failures + 1 if lane.failing_seq == lane.current else 1
        await self._reload(name, lane)
        while lane.failures > MAX_FAILURES and (entry := self.remove(name, lane.failing_seq)) is not None:
            try:
                await self._quarantine(entry)
            except StorageFailed:
                await self._reload(name, lane)
            except Exception:
                logger.exception("event %s is left for the next start", entry.seq)

    async def _reload(self, name: ConversationId, lane: Lane) -> None:
        """Reads the lane from the inbox, because memory is not reliable after a failure. Events that arrive during the
        read are kept.
        """
        lane.waiting = []
        pending = await self._load_with_retry(name)
        pending_seqs = {entry.seq for entry in pending}
        lane.waiting = pending + [entry for entry in lane.waiting if entry.seq not in pending_seqs]

    async def _load_with_retry(self, name: ConversationId) -> list[QueuedEvent]:
        while self._may_continue(self._lanes[name]):
            await asyncio.sleep(STORAGE_RETRY_SECONDS)
            try:
                return await self._load_pending(name)
            except StorageFailed as failure:
                logger.error("lane %s could not be read and is retried: %s", name, failure.message)
            except Exception:
                logger.exception("lane %s could not be read and is left for the next start", name)
                return []
        return []


def _part(event: RecordedEvent) -> PartId:
    return part_of(event.envelope.bot_id, event.conversation_id)


async def _wait_ready(suspension: Suspension) -> None:
    await suspension.wait_ready()
