"""Detects that the system clock jumped, so that retention deletes nothing by a wrong date.

The time that was last known to be right is stored in the database. A clock that differs from it by more than a day,
after a start or while the Host runs, puts retention on hold for a day: time enough for an operator to read the warning
and set the clock. A Host that was off for more than a day looks the same as a clock that jumped, and is held too.
"""

import asyncio
import logging
from dataclasses import asdict

from parlour.core.encoding import dumps, loads
from parlour.core.journal import Insert, Journal, Select, Unit, Upsert, where
from parlour.core.model.ports import Clock
from parlour_sdk.values import dataclass

from .tables import EVENTS, META

logger = logging.getLogger(__name__)

META_KEY = "retention.clock"
DAY_MILLISECONDS = 24 * 3600 * 1000
TOLERANCE_MILLISECONDS = DAY_MILLISECONDS
HOLD_MILLISECONDS = DAY_MILLISECONDS
NOTE_INTERVAL_SECONDS = 3600.0


@dataclass(frozen=True, slots=True)
class ClockNote:
    """State of the clock check as it is stored in the database; all times in epoch milliseconds."""

    known_at: int
    """Time of the last check."""
    held_until: int = 0
    """End of the hold; 0 if there was none."""
    moved_by: int = 0
    """Milliseconds by which the clock had jumped when the hold started; negative if it went back."""

    def is_held(self, now: int) -> bool:
        return now < self.held_until

    def upsert(self) -> Insert:
        row = {"name": META_KEY, "value": dumps(asdict(self))}
        return Insert(META, {**row}, conflict=Upsert(("name",), ("value",)))


async def read_note(journal: Journal) -> ClockNote | None:
    rows = await journal.read(Select(META, where(name=META_KEY), ("value",), limit=1))
    return ClockNote(**loads(rows[0]["value"])) if rows else None


class ClockCheck:
    """Compares the system clock with the event loop's clock and the last known time."""

    def __init__(self, journal: Journal, clock: Clock) -> None:
        self._journal = journal
        self._clock = clock
        self._last_note: ClockNote | None = None
        self._checked_at = 0.0
        """Time of the last check on the event loop's clock, which does not jump."""
        self._written_at = 0.0

    async def is_held(self) -> bool:
        """Checks the clock and returns whether retention must wait. Logs a warning when a hold starts."""
        now, uptime = self._clock.now(), asyncio.get_running_loop().time()
        expected = await self._expected_now(uptime, now)
        previous = self._last_note or ClockNote(now)
        deviation = now - expected
        if abs(deviation) > TOLERANCE_MILLISECONDS:
            note = ClockNote(now, now + HOLD_MILLISECONDS, deviation)
            logger.warning("%s", hold_sentence(note))
        else:
            note = ClockNote(now, previous.held_until, previous.moved_by)
        if self._last_note is None or note.held_until != previous.held_until or self._is_due(uptime):
            await self._journal.commit(Unit("retention.clock", (note.upsert(),)))
            self._written_at = uptime
        self._last_note, self._checked_at = note, uptime
        return note.is_held(now)

    def _is_due(self, uptime: float) -> bool:
        return uptime - self._written_at >= NOTE_INTERVAL_SECONDS

    async def _expected_now(self, uptime: float, now: int) -> int:
        """Returns the expected current time; at the first check this is the time when a Host last ran."""
        if self._last_note is not None:
            return self._last_note.known_at + round((uptime - self._checked_at) * 1000)
        self._last_note = await read_note(self._journal)
        if self._last_note is not None:
            return self._last_note.known_at
        # A database of an earlier release: its newest event, or its last clean-up, says when a Host last ran.
        newest = await self._journal.read(Select(EVENTS, (), ("created_at",), ("seq",), "descending", 1))
        report = await self._journal.read(Select(META, where(name="retention"), ("value",), limit=1))
        timestamps = [row["created_at"] for row in newest] + [loads(row["value"])["started_at"] for row in report]
        return max(timestamps, default=now)


def hold_sentence(note: ClockNote) -> str:
    days = abs(note.moved_by) / DAY_MILLISECONDS
    direction = "ahead of" if note.moved_by > 0 else "behind"
    return (
        f"retention is on hold for 24 hours: the clock is {days:.1f} days {direction} the time this Host last knew. "
        "If the Host was off for so long, nothing is to be done; otherwise set the clock"
    )
