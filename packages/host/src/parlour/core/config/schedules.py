"""Repository of schedules, each with the time at which it is due next."""

from parlour.core.encoding import dumps, loads
from parlour.core.journal import Delete, Insert, Journal, Row, Select, Statement, Unit, Update, where
from parlour.core.model.ports import Clock
from parlour.core.model.schedule import Schedule
from parlour.core.store.tables import SCHEDULES
from parlour_sdk.values import dataclass


@dataclass(frozen=True, slots=True)
class ScheduleState:
    """A schedule with its due times, in epoch milliseconds."""

    schedule: Schedule
    due_at: int
    fired_at: int
    """The due time for which it last created an event; 0 if there was none."""


class ScheduleRepository:
    """All schedules, cached in memory and written through."""

    def __init__(self, journal: Journal, clock: Clock) -> None:
        self._journal = journal
        self._clock = clock
        self._states: dict[str, ScheduleState] = {}

    async def load(self) -> None:
        rows = await self._journal.read(Select(SCHEDULES, order=("schedule_id",)))
        self._states = {row["schedule_id"]: _from_row(row) for row in rows}

    def all(self) -> list[ScheduleState]:
        return list(self._states.values())

    def get(self, schedule_id: str) -> ScheduleState | None:
        return self._states.get(schedule_id)

    async def add(self, schedule: Schedule, *with_it: Statement) -> ScheduleState:
        now = self._clock.now()
        kept = ScheduleState(schedule, schedule.next_due_after(now), 0)
        row: dict[str, str | int] = {
            "schedule_id": schedule.schedule_id,
            "definition": dumps(schedule.to_dict()),
            "due_at": kept.due_at,
            "fired_at": 0,
            "created_at": now,
            "updated_at": now,
        }
        await self._journal.commit(Unit("schedule.create", (Insert(SCHEDULES, {**row}), *with_it)))
        self._states[schedule.schedule_id] = kept
        return kept

    async def replace(self, schedule: Schedule, *with_it: Statement) -> ScheduleState:
        before = self._states[schedule.schedule_id]
        kept = ScheduleState(schedule, schedule.next_due_after(self._clock.now()), before.fired_at)
        await self._journal.commit(Unit("schedule.replace", (self._update(kept), *with_it)))
        self._states[schedule.schedule_id] = kept
        return kept

    async def advance(self, before: ScheduleState, fired: bool) -> None:
        """Moves the due time past the previous one and past now, so that each due time is handled once.

        Fails its guard if the schedule was changed or deleted in the meantime; that change then prevails.
        """
        fired_at = before.due_at if fired else before.fired_at
        await self._move(before, max(before.due_at, self._clock.now()), fired_at)

    async def reschedule(self, before: ScheduleState, moment: int) -> None:
        """Sets the due time to the first one after this moment. Fails its guard as `advance` does."""
        await self._move(before, moment, before.fired_at)

    async def _move(self, before: ScheduleState, moment: int, fired_at: int) -> None:
        schedule_id, now = before.schedule.schedule_id, self._clock.now()
        kept = ScheduleState(before.schedule, before.schedule.next_due_after(moment), fired_at)
        values: dict[str, str | int] = {"due_at": kept.due_at, "fired_at": kept.fired_at, "updated_at": now}
        same = where(schedule_id=schedule_id, definition=dumps(before.schedule.to_dict()), due_at=before.due_at)
        await self._journal.commit(Unit("schedule.advance", (Update(SCHEDULES, {**values}, same),)))
        if self._states.get(schedule_id) is before:
            self._states[schedule_id] = kept

    async def remove(self, schedule_id: str, *with_it: Statement) -> None:
        await self._journal.commit(
            Unit("schedule.delete", (Delete(SCHEDULES, where(schedule_id=schedule_id)), *with_it))
        )
        del self._states[schedule_id]

    def _update(self, kept: ScheduleState) -> Update:
        values: dict[str, str | int] = {
            "definition": dumps(kept.schedule.to_dict()),
            "due_at": kept.due_at,
            "fired_at": kept.fired_at,
            "updated_at": self._clock.now(),
        }
        return Update(SCHEDULES, {**values}, where(schedule_id=kept.schedule.schedule_id))


def _from_row(row: Row) -> ScheduleState:
    return ScheduleState(Schedule(**loads(row["definition"])), row["due_at"], row["fired_at"])
