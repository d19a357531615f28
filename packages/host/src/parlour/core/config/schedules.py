"""Repository of schedules, each with the time at which it is due next."""

from parlour.core.encoding import dumps, loads
from parlour.core.journal import Delete, Insert, Journal, Row, Select, Statement, Unit, Update, where
from parlour.core.model.ports import Clock
from parlour.core.model.schedule import Schedule
from parlour.core.store.tables import SCHEDULES
from parlour_sdk.values import dataclass


@dataclass(frozen=True, slots=True)
class Kept:
    """A schedule with its due times, in epoch milliseconds."""

    schedule: Schedule
    due_at: int
    fired_at: int
    """The due time for which it last created an event; 0 if there was none."""


class ScheduleBook:
    """All schedules, cached in memory and written through."""

    def __init__(self, journal: Journal, clock: Clock) -> None:
        self._journal = journal
        self._clock = clock
        self._kept: dict[str, Kept] = {}

    async def load(self) -> None:
        rows = await self._journal.read(Select(SCHEDULES, order=("schedule_id",)))
        self._kept = {row["schedule_id"]: _kept(row) for row in rows}

    def all(self) -> list[Kept]:
        return list(self._kept.values())

    def get(self, schedule_id: str) -> Kept | None:
        return self._kept.get(schedule_id)

    async def add(self, schedule: Schedule, *with_it: Statement) -> Kept:
        now = self._clock.now()
        kept = Kept(schedule, schedule.following(now), 0)
        row: dict[str, str | int] = {
            "schedule_id": schedule.schedule_id,
            "definition": dumps(schedule.encoded()),
            "due_at": kept.due_at,
            "fired_at": 0,
            "created_at": now,
            "updated_at": now,
        }
        await self._journal.commit(Unit("schedule.create", (Insert(SCHEDULES, {**row}), *with_it)))
        self._kept[schedule.schedule_id] = kept
        return kept

    async def replace(self, schedule: Schedule, *with_it: Statement) -> Kept:
        before = self._kept[schedule.schedule_id]
        kept = Kept(schedule, schedule.following(self._clock.now()), before.fired_at)
        await self._journal.commit(Unit("schedule.replace", (self._update(kept), *with_it)))
        self._kept[schedule.schedule_id] = kept
        return kept

    async def advance(self, before: Kept, fired: bool) -> None:
        """Moves the due time past the previous one and past now, so that each due time is handled once.

        Fails its guard if the schedule was changed or deleted in the meantime; that change then prevails.
        """
        fired_at = before.due_at if fired else before.fired_at
        await self._move(before, max(before.due_at, self._clock.now()), fired_at)

    async def plan(self, before: Kept, moment: int) -> None:
        """Sets the due time to the first one after this moment. Fails its guard as `advance` does."""
        await self._move(before, moment, before.fired_at)

    async def _move(self, before: Kept, moment: int, fired_at: int) -> None:
        schedule_id, now = before.schedule.schedule_id, self._clock.now()
        kept = Kept(before.schedule, before.schedule.following(moment), fired_at)
        values: dict[str, str | int] = {"due_at": kept.due_at, "fired_at": kept.fired_at, "updated_at": now}
        same = where(schedule_id=schedule_id, definition=dumps(before.schedule.encoded()), due_at=before.due_at)
        await self._journal.commit(Unit("schedule.advance", (Update(SCHEDULES, {**values}, same),)))
        if self._kept.get(schedule_id) is before:
            self._kept[schedule_id] = kept

    async def remove(self, schedule_id: str, *with_it: Statement) -> None:
        await self._journal.commit(
            Unit("schedule.delete", (Delete(SCHEDULES, where(schedule_id=schedule_id)), *with_it))
        )
        del self._kept[schedule_id]

    def _update(self, kept: Kept) -> Update:
        values: dict[str, str | int] = {
            "definition": dumps(kept.schedule.encoded()),
            "due_at": kept.due_at,
            "fired_at": kept.fired_at,
            "updated_at": self._clock.now(),
        }
        return Update(SCHEDULES, {**values}, where(schedule_id=kept.schedule.schedule_id))


def _kept(row: Row) -> Kept:
    return Kept(Schedule(**loads(row["definition"])), row["due_at"], row["fired_at"])
