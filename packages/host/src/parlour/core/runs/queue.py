"""One lane per conversation: its events are handled in order, lanes run concurrently, and an idle lane costs
nothing.
"""

import asyncio
import logging
from bisect import bisect_left
from collections.abc import Awaitable, Callable

from parlour.core.journal import StorageFailed
from parlour.core.model.event import RecordedEvent

from . import retry_policy
from .queue_result import Parked, Turn
from .session import Entry
from .slots import Slots, person_of

logger = logging.getLogger(__name__)

STORAGE_RETRY_SECONDS = 1.0
"""Seconds between attempts to read a lane again while the database fails."""
FAULTS = 3
"""Failed attempts of the Host to handle an event; one more quarantines it, so that those behind it get their turn."""

TRIAL_SECONDS = 30.0
"""Seconds for which one event is tried alone; after that, other conversations continue beside the events still to be
tried.
"""

Handle = Callable[[Entry], Awaitable[Turn]]
Claim = Callable[[Entry], Awaitable[bool]]
Reopen = Callable[[str], Awaitable[list[Entry]]]
GiveUp = Callable[[Entry], Awaitable[None]]


class Lane:
    """The waiting events of one conversation, and the tasks that handle them."""

    def __init__(self) -> None:
        self.waiting: list[Entry] = []
        self.task: asyncio.Task[None] | None = None
        self.claims: asyncio.Task[None] | None = None
        self.parked: asyncio.Task[None] | None = None
        """Task that waits while the lane is suspended, such as for a run that is executed elsewhere."""
        self.handling = False
        self.current = 0
        self.faulty = 0
        """Number of the event whose handling failed last; `failures` counts its failures."""
        self.faults = 0


class Reserved:
    """The reserved next turn of an idle lane, with its slot; it ends with `start` or `release`."""

    def __init__(self) -> None:
        self._coming: asyncio.Future[Entry | None] = asyncio.get_running_loop().create_future()
        self.meanwhile: Callable[[], Awaitable[None]] | None = None
        """Called before the wait for the start."""

    async def come(self) -> Entry | None:
        """Returns the event to handle, or None if the reservation was released."""
        await asyncio.sleep(0)  # lets the caller write the event first
        if self.meanwhile is not None:
            await self.meanwhile()
        return await self._coming

    def begin(self, entry: Entry) -> None:
        self._coming.set_result(entry)

    def release(self) -> None:
        self._coming.set_result(None)


class Lanes:
    """The lanes of all conversations with waiting or active events."""

    def __init__(self, handle: Handle, claim: Claim, reopen: Reopen, give_up: GiveUp, slots: Slots) -> None:
        self._handle = handle
        self._claim = claim
        self._reopen = reopen
        self._give_up = give_up
        self._slots = slots
        self._lanes: dict[str, Lane] = {}
        self._early: list[Entry] | None = []
        """Events that arrive before `open` is called; None after that."""
        self._trials: asyncio.Task[None] | None = None
        self._held: dict[str, list[Entry]] = {}
        """Events by lane that wait until the suspect events of that lane were tried alone."""
        self._closed = False

    def __len__(self) -> int:
        return len(self._lanes)

    def open(self, owed: list[Entry]) -> None:
        """Starts handling: first the events that were pending at the start, then those that arrived since.

        Events that were in flight at too many crashes of the Host go first, one at a time.
        """
        if any(retry_policy.needs_trial_alone(entry.tries) for entry in owed):
            self._trials = asyncio.create_task(self._try_alone(owed))
        else:
            self._open_all(owed)

    def offer(self, entry: Entry) -> None:
        """Adds an event to its lane. A duplicate is ignored."""
        if self._closed:
            return  # it is in the inbox, and is recovered at the next start
        if self._early is not None:
            self._early.append(entry)
        elif entry.lane in self._held:
            self._held[entry.lane].append(entry)
        else:
            self._admit(entry)

    async def _try_alone(self, owed: list[Entry]) -> None:
        """Handles each suspect event after the events before it in its lane, one at a time; then opens their lanes.

        The first ones run with nothing beside them. If that takes too long, all other lanes open.
        """
        suspects = [entry for entry in owed if retry_policy.needs_trial_alone(entry.tries)]
        self._held = {each.lane: [] for each in suspects}
        left = [entry for entry in owed if entry.lane in self._held]
        others = [entry for entry in owed if entry.lane not in self._held]
        opening = asyncio.get_running_loop().call_later(TRIAL_SECONDS, self._open_all, others)
        try:
            for suspect in suspects:
                logger.warning("event %s is tried alone: the Host stopped each time it was in flight", suspect.seq)
                for entry in [each for each in left if each.lane == suspect.lane and each.seq <= suspect.seq]:
                    left.remove(entry)
                    self._admit(entry)
                lane = self._lanes.get(suspect.lane)
                if lane is not None and lane.task is not None:
                    await asyncio.wait([lane.task], timeout=TRIAL_SECONDS)
        finally:
            opening.cancel()
        held, self._held = self._held, {}
        for entry in [*left, *(each for entries in held.values() for each in entries)]:
            self._admit(entry)
        if self._early is not None:
            self._open_all(others)

    def _open_all(self, owed: list[Entry]) -> None:
        early, self._early = self._early or [], None
        for entry in [*owed, *early]:
            self.offer(entry)

    def _admit(self, entry: Entry) -> None:
        lane = self._lanes.setdefault(entry.lane, Lane())
        place = bisect_left(lane.waiting, entry.seq, key=lambda each: each.seq)
        known = entry.seq == lane.current and not entry.run_id  # an explicitly created run is never a duplicate
        if known or [each.seq for each in lane.waiting[place : place + 1]] == [entry.seq]:
            return  # it was recovered from the inbox before it was enqueued
        lane.waiting.insert(place, entry)
        if lane.task is None:
            lane.task = asyncio.create_task(self._work(entry.lane, lane))
        elif lane.handling and lane.claims is None:
            lane.claims = asyncio.create_task(self._offer_to_run(lane))

    def reserve(self, event: RecordedEvent) -> Reserved | None:
        """Reserves an idle lane and a slot for the event. Returns None if it could not be handled immediately."""
        name, person = event.conversation_id, person_of(event.envelope)
        opening = self._early is not None or name in self._held
        if self._closed or opening or name in self._lanes or not self._slots.take(person):
            return None
        lane, reserved = Lane(), Reserved()
        self._lanes[name] = lane
        lane.task = asyncio.create_task(self._work_reserved(name, lane, person, reserved))
        return reserved

    async def look(self, name: str) -> None:
        """Reads the inbox for this conversation again and enqueues events that are missing; duplicates are ignored."""
        for entry in await self._reopen(name):
            self.offer(entry)

    def close(self) -> None:
        """Stops handling further events; active ones may end. Runs that are executed elsewhere continue without this
        Host.
        """
        self._closed = True
        if self._trials is not None:
            self._trials.cancel()
        for lane in self._lanes.values():
            if lane.parked is not None:
                lane.parked.cancel()

    def withdraw(self, name: str, seq: int) -> Entry | None:
        """Removes an event that still waits for its turn and returns it."""
        lane = self._lanes.get(name)
        found = next((entry for entry in lane.waiting if entry.seq == seq), None) if lane is not None else None
        if lane is not None and found is not None:
            lane.waiting.remove(found)
        return found

    async def join(self) -> None:
        """Waits until all lanes have stopped."""
        await asyncio.gather(*(lane.task for lane in self._lanes.values() if lane.task), return_exceptions=True)

    async def _work(self, name: str, lane: Lane) -> None:
        try:
            while lane.waiting and not self._closed:
                person = person_of(lane.waiting[0].event.envelope)
                await self._slots.acquire(person)
                try:
                    parked = await self._next(name, lane)
                finally:
                    self._slots.release(person)
                if parked is not None:
                    await self._stay(name, lane, parked)
        finally:
            del self._lanes[name]

    async def _work_reserved(self, name: str, lane: Lane, person: str, reserved: Reserved) -> None:
        """Handles the event that the lane was reserved for, then all that came after it."""
        try:
            try:
                entry = await reserved.come()
                parked = await self._take(name, lane, entry) if entry is not None else None
            finally:
                self._slots.release(person)
            if parked is not None:
                await self._stay(name, lane, parked)
        finally:
            await self._work(name, lane)

    async def _next(self, name: str, lane: Lane) -> Parked | None:
        if not lane.waiting:
            return None  # it was removed while waiting for a slot
        return await self._take(name, lane, lane.waiting.pop(0))

    async def _take(self, name: str, lane: Lane, entry: Entry) -> Parked | None:
        lane.current = entry.seq
        lane.handling = True
        return await self._turn(name, lane, self._handle(entry))

    async def _stay(self, name: str, lane: Lane, parked: Parked) -> None:
        """Waits for a suspended event, such as a run that is executed elsewhere. It keeps its lane but no slot."""
        lane.parked = asyncio.create_task(_over(parked))
        if self._closed:
            lane.parked.cancel()
        await asyncio.wait([lane.parked])
        left_alone, lane.parked = lane.parked.cancelled(), None
        if left_alone:
            await self._stop_claims(lane)
        else:
            await self._turn(name, lane, parked.finish())

    async def _turn(self, name: str, lane: Lane, handling: Awaitable[Turn]) -> Parked | None:
        """Awaits the handling of an event and updates the lane. Returns the suspension if the run continues
        elsewhere.
        """
        try:
            turn = await handling
        except StorageFailed as failure:
            logger.error("lane %s is read again after a database failure: %s", name, failure.message)
            await self._stop_claims(lane)
            await self._read_again(name, lane)
        except Exception:
            logger.exception("event %s could not be handled", lane.current)
            await self._stop_claims(lane)
            await self._after_fault(name, lane)
        else:
            if turn.parked is not None:
                return turn.parked
            await self._stop_claims(lane)
            lane.waiting[:0] = turn.back
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
            lane.claims = None

    async def _stop_claims(self, lane: Lane) -> None:
        lane.handling = False
        if lane.claims is not None:
            await lane.claims

    async def _after_fault(self, name: str, lane: Lane) -> None:
        lane.faulty, lane.faults = lane.current, lane.faults + 1 if lane.faulty == lane.current else 1
        await self._read_again(name, lane)
        while lane.faults > FAULTS and (found := self.withdraw(name, lane.faulty)) is not None:
            try:
                await self._give_up(found)
            except StorageFailed:
                await self._read_again(name, lane)
            except Exception:
                logger.exception("event %s is left for the next start", found.seq)

    async def _read_again(self, name: str, lane: Lane) -> None:
        """Reads the lane from the inbox, because memory is not reliable after a failure. Events that arrive during the
        read are kept.
        """
        lane.waiting = []
        owed = await self._reopened(name)
        known = {entry.seq for entry in owed}
        lane.waiting = owed + [entry for entry in lane.waiting if entry.seq not in known]

    async def _reopened(self, name: str) -> list[Entry]:
        while not self._closed:
            await asyncio.sleep(STORAGE_RETRY_SECONDS)
            try:
                return await self._reopen(name)
            except StorageFailed as failure:
                logger.error("lane %s could not be read and is retried: %s", name, failure.message)
            except Exception:
                logger.exception("lane %s could not be read and is left for the next start", name)
                return []
        return []


async def _over(parked: Parked) -> None:
    await parked.over()
