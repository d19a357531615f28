"""Repository of schedules, each with the time at which it is due next."""

from parlour.core.cluster.ownership import Ownership
from parlour.core.cluster.parts import SCHEDULES_DUTY
from parlour.core.encoding import dumps, loads
from parlour.core.journal import Journal, Row, Statement, Unit, Update, where
from parlour.core.model.ids import ScheduleId
from parlour.core.model.ports import Clock
from parlour.core.model.schedule import Schedule
from parlour.core.store.tables import SCHEDULES
from parlour_sdk.values import dataclass

from .cached_repository import CachedRepository, RowMapping, UnitNames


@dataclass(frozen=True, slots=True)
class ScheduleState:
    """A schedule with its due times, in epoch milliseconds."""

    schedule: Schedule
    due_at: int
    fired_at: int
    """The due time for which it last created an event; 0 if there was none."""

    @property
    def schedule_id(self) -> ScheduleId:
        return self.schedule.schedule_id


class ScheduleRepository:
    """All schedules. It calculates when each is due next."""

    def __init__(self, journal: Journal, ownership: Ownership, clock: Clock) -> None:
        self._journal = journal
        self._ownership = ownership
        self._clock = clock
        self._states = CachedRepository(journal, clock, SCHEDULE_ROWS)

    async def load(self) -> None:
        await self._states.load()

    def all(self) -> list[ScheduleState]:
        return self._states.all()

    def get(self, schedule_id: ScheduleId) -> ScheduleState | None:
        return self._states.get(schedule_id)

    async def add(self, schedule: Schedule, *extra_statements: Statement) -> ScheduleState:
        state = ScheduleState(schedule, schedule.next_due_after(self._clock.now()), 0)
        await self._states.add(state, *extra_statements)
        return state

    async def replace(self, schedule: Schedule, *extra_statements: Statement) -> ScheduleState:
        """Replaces a schedule. It is due at the next time after now, whatever was due before."""
        previous = self.get(schedule.schedule_id)
        fired_at = previous.fired_at if previous is not None else 0
        state = ScheduleState(schedule, schedule.next_due_after(self._clock.now()), fired_at)
        await self._states.replace(state, *extra_statements)
        return state

    async def remove(self, schedule_id: ScheduleId, *extra_statements: Statement) -> None:
        await self._states.remove(schedule_id, *extra_statements)

    async def advance(self, current: ScheduleState, fired: bool) -> None:
        """Moves the due time past the previous one and past now, so that each due time is handled once.

        Fails its guard if the schedule was changed or deleted in the meantime; that change then prevails.
        """
        fired_at = current.due_at if fired else current.fired_at
        await self._move(current, max(current.due_at, self._clock.now()), fired_at)

    async def reschedule(self, current: ScheduleState, moment: int) -> None:
        """Sets the due time to the first one after this moment. Fails its guard as `advance` does."""
        await self._move(current, moment, current.fired_at)

    async def _move(self, current: ScheduleState, moment: int, fired_at: int) -> None:
        now = self._clock.now()
        state = ScheduleState(current.schedule, current.schedule.next_due_after(moment), fired_at)
        values: dict[str, str | int] = {"due_at": state.due_at, "fired_at": state.fired_at, "updated_at": now}
        unchanged = where(schedule_id=current.schedule_id, definition=_definition(current), due_at=current.due_at)
        statements = (Update(SCHEDULES, {**values}, unchanged), *self._ownership.guards(SCHEDULES_DUTY))
        await self._journal.commit(Unit("schedule.advance", statements))
        if self._states.get(current.schedule_id) is current:
            self._states.cache(state)


def _definition(state: ScheduleState) -> str:
    return dumps(state.schedule.to_dict())


def _encode(state: ScheduleState) -> Row:
    return {"definition": _definition(state), "due_at": state.due_at, "fired_at": state.fired_at}


def _decode(row: Row) -> ScheduleState:
    return ScheduleState(Schedule(**loads(row["definition"])), row["due_at"], row["fired_at"])


SCHEDULE_ROWS = RowMapping[ScheduleId, ScheduleState](
    SCHEDULES,
    UnitNames(add="schedule.create", replace="schedule.replace", remove="schedule.delete"),
    item_id=lambda state: state.schedule_id,
    encode=_encode,
    decode=_decode,
)
