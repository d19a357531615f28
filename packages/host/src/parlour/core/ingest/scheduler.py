"""Creates an event each time a schedule is due.

The event's id consists of the schedule's id and the due time, and the event log accepts an id once. The event therefore
comes exactly once, even after a crash between the event and the update of the schedule.
"""

import asyncio
import logging

from parlour.core.config.schedules import ScheduleRepository, ScheduleState
from parlour.core.journal import GuardFailed, StorageFailed
from parlour.core.model.event import EventContext, EventEnvelope, Participant
from parlour.core.model.ports import Clock, Ids
from parlour.core.model.schedule import EVENT_TYPE

from .gateway import Gateway, HostStopping

logger = logging.getLogger(__name__)

MAX_DELAY_MILLISECONDS = 60_000
"""Milliseconds after which a due time counts as missed; before that it is only late."""
MAX_SLEEP_SECONDS = 30.0
"""Maximum seconds between two checks for due schedules, because clocks may be set and machines may sleep."""
STORAGE_RETRY_SECONDS = 1.0
"""Seconds before the next check after a database failure."""


class Scheduler:
    """Waits for schedules to become due and passes their events to the gateway."""

    def __init__(self, book: ScheduleRepository, gateway: Gateway, ids: Ids, clock: Clock) -> None:
        self._book = book
        self._gateway = gateway
        self._ids = ids
        self._clock = clock
        self._changed = asyncio.Event()
        self._looked_at: int | None = None

    def on_schedules_changed(self) -> None:
        """Wakes the scheduler after schedules were created or changed."""
        self._changed.set()

    async def serve(self) -> None:
        """Runs until it is cancelled or the Host accepts no more events."""
        while True:
            self._changed.clear()
            try:
                await self._fire_due()
            except HostStopping:
                return
            except StorageFailed as error:
                logger.error("due schedules could not be processed and are retried: %s", error.message)
                await asyncio.sleep(STORAGE_RETRY_SECONDS)
                continue
            try:
                async with asyncio.timeout(self._until_next()):
                    await self._changed.wait()
            except TimeoutError:
                continue

    async def _fire_due(self) -> None:
        now = self._clock.now()
        if self._looked_at is None or now < self._looked_at:
            await self._rewind(now)
        self._looked_at = now
        for kept in self._book.all():
            if kept.schedule.enabled and kept.due_at <= now:
                await self._fire(kept, now)

    async def _rewind(self, now: int) -> None:
        """Plans schedules again whose next time was computed while the clock was ahead. Times that fired before are not
        repeated, because the event log knows their events.
        """
        for kept in self._book.all():
            try:
                if kept.schedule.enabled and kept.due_at > kept.schedule.next_due_after(now):
                    logger.warning("schedule '%s' is planned again because the clock was ahead", kept.schedule.name)
                    await self._book.reschedule(kept, now)
            except GuardFailed:
                continue  # the schedule was changed or deleted concurrently

    async def _fire(self, kept: ScheduleState, now: int) -> None:
        wanted = now - kept.due_at <= MAX_DELAY_MILLISECONDS or kept.schedule.missed == "once"
        if wanted:
            await self._gateway.ingest(self._event(kept))
        else:
            logger.warning(
                "schedule '%s' was due while no Host was running; the missed times are skipped", kept.schedule.name
            )
        try:
            await self._book.advance(kept, wanted)
        except GuardFailed:
            return  # the schedule was changed or deleted concurrently

    def _until_next(self) -> float:
        due = [kept.due_at for kept in self._book.all() if kept.schedule.enabled]
        left = (min(due) - self._clock.now()) / 1000 if due else MAX_SLEEP_SECONDS
        return max(0.0, min(left, MAX_SLEEP_SECONDS))

    def _event(self, kept: ScheduleState) -> EventEnvelope:
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
            actor=Participant("system", "scheduler"),
            subject=Participant("schedule", schedule.schedule_id, schedule.name),
            input={"text": schedule.text} if schedule.text else {},
            data={**schedule.data, "schedule_id": schedule.schedule_id, "due_at": kept.due_at},
        )
