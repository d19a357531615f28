"""Creates an event each time a schedule is due.

The event's id consists of the schedule's id and the due time, and the event log accepts an id once. The event therefore
comes exactly once, even after a crash between the event and the update of the schedule.
"""

import asyncio
import logging

from parlour.core.cluster.ownership import Ownership
from parlour.core.cluster.parts import SCHEDULES_DUTY
from parlour.core.config.schedules import ScheduleRepository, ScheduleState
from parlour.core.journal import GuardFailed, StorageFailed
from parlour.core.model.event import EventContext, EventEnvelope, Participant
from parlour.core.model.ids import EventId
from parlour.core.model.ports import Clock, Ids
from parlour.core.model.schedule import EVENT_TYPE

from .arrivals import HostStopping
from .gateway import Gateway

logger = logging.getLogger(__name__)

MAX_DELAY_MILLISECONDS = 60_000
"""Milliseconds after which a due time counts as missed; before that it is only late."""
MAX_SLEEP_SECONDS = 30.0
"""Maximum seconds between two checks for due schedules, because clocks may be set and machines may sleep."""
STORAGE_RETRY_SECONDS = 1.0
"""Seconds before the next check after a database failure."""


class Scheduler:
    """Waits for schedules to become due and passes their events to the gateway."""

    def __init__(
        self, schedules: ScheduleRepository, ownership: Ownership, gateway: Gateway, ids: Ids, clock: Clock
    ) -> None:
        self._schedules = schedules
        self._ownership = ownership
        self._gateway = gateway
        self._ids = ids
        self._clock = clock
        self._changed = asyncio.Event()
        self._last_check_at: int | None = None

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
                async with asyncio.timeout(self._seconds_until_next()):
                    await self._changed.wait()
            except TimeoutError:
                continue

    async def _fire_due(self) -> None:
        if not self._ownership.owns(SCHEDULES_DUTY):
            return
        now = self._clock.now()
        if self._last_check_at is None or now < self._last_check_at:
            await self._rewind(now)
        self._last_check_at = now
        for state in self._schedules.all():
            if state.schedule.enabled and state.due_at <= now:
                await self._fire(state, now)

    async def _rewind(self, now: int) -> None:
        """Plans schedules again whose next time was computed while the clock was ahead. Times that fired before are not
        repeated, because the event log knows their events.
        """
        for state in self._schedules.all():
            try:
                if state.schedule.enabled and state.due_at > state.schedule.next_due_after(now):
                    logger.warning("schedule '%s' is planned again because the clock was ahead", state.schedule.name)
                    await self._schedules.reschedule(state, now)
            except GuardFailed:
                continue  # the schedule was changed or deleted concurrently

    async def _fire(self, state: ScheduleState, now: int) -> None:
        should_fire = now - state.due_at <= MAX_DELAY_MILLISECONDS or state.schedule.missed == "once"
        if should_fire:
            await self._gateway.ingest(self._event(state))
        else:
            logger.warning(
                "schedule '%s' was due while no Host was running; the missed times are skipped", state.schedule.name
            )
        try:
            await self._schedules.advance(state, should_fire)
        except GuardFailed:
            return  # the schedule was changed or deleted concurrently

    def _seconds_until_next(self) -> float:
        due_times = [state.due_at for state in self._schedules.all() if state.schedule.enabled]
        seconds = (min(due_times) - self._clock.now()) / 1000 if due_times else MAX_SLEEP_SECONDS
        return max(0.0, min(seconds, MAX_SLEEP_SECONDS))

    def _event(self, state: ScheduleState) -> EventEnvelope:
        schedule = state.schedule
        return EventEnvelope(
            event_id=EventId(f"schedule:{schedule.schedule_id}:{state.due_at}"),
            event_type=EVENT_TYPE,
            source="schedule",
            chat=schedule.schedule_id,
            context=EventContext(self._ids.new(), origin="schedule"),
            surface="schedule",
            bot_id=schedule.bot_id,
            agent_id=schedule.agent_id,
            event_time=state.due_at,
            actor=Participant("system", "scheduler"),
            subject=Participant("schedule", schedule.schedule_id, schedule.name),
            input={"text": schedule.text} if schedule.text else {},
            data={**schedule.data, "schedule_id": schedule.schedule_id, "due_at": state.due_at},
        )
