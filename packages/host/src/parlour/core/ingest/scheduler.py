"""Brings an event for each time that a schedule is due.

The event's id is made of the schedule and the time, and the log takes an id once: whatever happens between the event
and the note that it came, it comes exactly once.
"""

import asyncio
import logging

from parlour.core.config.schedules import Kept, ScheduleBook
from parlour.core.journal import GuardFailed, StorageFailed
from parlour.core.model.event import EventContext, EventEnvelope, Party
from parlour.core.model.ports import Clock, Ids
from parlour.core.model.schedule import EVENT_TYPE

from .gateway import Closed, Gateway

logger = logging.getLogger(__name__)

LATE = 60_000
"""A time that is so long past was missed; before that it is only late."""
LONGEST_SLEEP = 30.0
"""Clocks are set and machines sleep: what is due is looked for at least so often."""
STORAGE_RETRY_SECONDS = 1.0


class Scheduler:
    def __init__(self, book: ScheduleBook, gateway: Gateway, ids: Ids, clock: Clock) -> None:
        self._book = book
        self._gateway = gateway
        self._ids = ids
        self._clock = clock
        self._changed = asyncio.Event()
        self._looked_at: int | None = None

    def changed(self) -> None:
        """Schedules were made or changed."""
        self._changed.set()

    async def serve(self) -> None:
        """Until it is cancelled, or the Host takes nothing new."""
        while True:
            self._changed.clear()
            try:
                await self._bring_due()
            except Closed:
                return
            except StorageFailed as error:
                logger.error("schedules wait for the database: %s", error.message)
                await asyncio.sleep(STORAGE_RETRY_SECONDS)
                continue
            try:
                async with asyncio.timeout(self._until_next()):
                    await self._changed.wait()
            except TimeoutError:
                continue

    async def _bring_due(self) -> None:
        now = self._clock.now()
        if self._looked_at is None or now < self._looked_at:
            await self._rewind(now)
        self._looked_at = now
        for kept in self._book.all():
            if kept.schedule.enabled and kept.due_at <= now:
                await self._bring(kept, now)

    async def _rewind(self, now: int) -> None:
        """Plans anew what was planned by a clock that was ahead. Times that fired before are not repeated: the log
        knows their events.
        """
        for kept in self._book.all():
            try:
                if kept.schedule.enabled and kept.due_at > kept.schedule.following(now):
                    logger.warning("schedule '%s' was planned by a clock that was ahead", kept.schedule.name)
                    await self._book.plan(kept, now)
            except GuardFailed:
                continue  # it was changed or deleted since

    async def _bring(self, kept: Kept, now: int) -> None:
        wanted = now - kept.due_at <= LATE or kept.schedule.missed == "once"
        if wanted:
            await self._gateway.ingest(self._event(kept))
        else:
            logger.warning("schedule '%s' was due while no Host ran, and skips what it missed", kept.schedule.name)
        try:
            await self._book.advance(kept, wanted)
        except GuardFailed:
            return  # it was changed or deleted meanwhile

    def _until_next(self) -> float:
        due = [kept.due_at for kept in self._book.all() if kept.schedule.enabled]
        left = (min(due) - self._clock.now()) / 1000 if due else LONGEST_SLEEP
        return max(0.0, min(left, LONGEST_SLEEP))

    def _event(self, kept: Kept) -> EventEnvelope:
        schedule = kept.schedule
        return EventEnvelope(
            event_id=f"schedule:{schedule.schedule_id}:{kept.due_at}",
            event_type=EVENT_TYPE,
            source="schedule",
            chat=schedule.schedule_id,
            context=EventContext(self._ids.new(), origin="schedule"),
            surface="schedule",
            bot_id=schedule.bot_id,
            agent_id=schedule.agent_id,
            event_time=kept.due_at,
            actor=Party("system", "scheduler"),
            subject=Party("schedule", schedule.schedule_id, schedule.name),
            input={"text": schedule.text} if schedule.text else {},
            data={**schedule.data, "schedule_id": schedule.schedule_id, "due_at": kept.due_at},
        )
