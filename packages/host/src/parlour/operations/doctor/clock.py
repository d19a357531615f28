"""Checks whether the system clock agrees with the time last recorded in the database."""

from collections.abc import AsyncIterator

from parlour.app.data_directory import DataDirectory
from parlour.app.settings import HostSettings
from parlour.core.journal import StorageFailed
from parlour.core.store.clock_check import DAY_MILLISECONDS, TOLERANCE_MILLISECONDS, ClockNote, read_note
from parlour.core.system import SystemClock
from parlour.stores.factory import current_revision, open_journal
from parlour.stores.migrate import HEAD

from .finding import Finding, ok, warning


async def check(settings: HostSettings) -> AsyncIterator[Finding]:
    directory, url = DataDirectory(settings.data), settings.database.url.get_secret_value()
    try:
        if await current_revision(url, directory.database) != HEAD:
            return
        async with open_journal(url, directory.database) as journal:
            note = await read_note(journal)
    except (StorageFailed, ModuleNotFoundError):
        return  # the storage check reports it
    if note is not None:
        yield _finding(note, SystemClock().now())


def _finding(note: ClockNote, now: int) -> Finding:
    difference = now - note.known_at
    if note.is_held(now) and abs(difference) <= TOLERANCE_MILLISECONDS:
        hours = (note.held_until - now) / 3_600_000
        sentence = f"retention is on hold for {hours:.0f} more hours: the clock {_difference(note.moved_by)}"
    elif abs(difference) > TOLERANCE_MILLISECONDS:
        sentence = f"the clock {_difference(difference)}; retention will be on hold for 24 hours after the start"
    else:
        return ok("clock", "it agrees with the time that the database last knew")
    return warning("clock", sentence, "set the clock; if the Host was off for so long, nothing is to be done")


def _difference(milliseconds: int) -> str:
    direction = "ahead of" if milliseconds > 0 else "behind"
    return f"is {abs(milliseconds) / DAY_MILLISECONDS:.1f} days {direction} the time that was last known"
