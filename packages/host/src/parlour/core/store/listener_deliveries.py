"""Pending deliveries of events to the listeners of plugins: one row per event and plugin, deleted when it is done."""

from collections.abc import Sequence
from dataclasses import replace

from parlour.core.encoding import dumps, loads
from parlour.core.journal import ANY, Delete, Insert, Journal, Ref, Row, Select, Update, Upsert, where
from parlour_sdk.values import dataclass

from .tables import LISTENER_DELIVERIES

PAGE = 100


@dataclass(frozen=True, slots=True)
class ListenerDelivery:
    """A pending delivery of one event to the listeners of one plugin."""

    event_seq: int
    plugin_id: str
    observing: bool
    """True if the event has another handler and the plugin only observes it."""
    attempts: int
    not_before: int
    created_at: int
    finished_handlers: tuple[str, ...] = ()
    """Names of the plugin's handlers that no longer need the event: delivered, given up, or stopped by another one."""


IN_ORDER_DELAY_MILLISECONDS = 60_000
"""Delay before an observer of an event that listeners handle is called separately."""


def enqueue(
    event_seq: int | Ref, plugin_id: str, observing: bool, now: int, attempts: int = 0, past: Sequence[str] = ()
) -> Insert:
    """Inserts or replaces a delivery that is due immediately."""
    values: dict[str, str | int | Ref] = {
        "event_seq": event_seq,
        "plugin_id": plugin_id,
        "past": _names(past),
        "observing": int(observing),
        "attempts": attempts,
        "not_before": 0,
        "created_at": now,
    }
    changed = ("past", "observing", "attempts", "not_before")
    return Insert(LISTENER_DELIVERIES, values, conflict=Upsert(("event_seq", "plugin_id"), changed))


def enqueue_in_order(event_seq: Ref, plugin_id: str, now: int) -> Insert:
    """Inserts a delivery to an observer of an event that listeners handle.

    The observer normally receives the event together with them; the row is a fallback if that does not happen.
    """
    row = enqueue(event_seq, plugin_id, True, now)
    return replace(row, values={**row.values, "not_before": now + IN_ORDER_DELAY_MILLISECONDS})


def complete(event_seq: int, plugin_id: str) -> Delete:
    """Deletes a delivery that is done."""
    return Delete(LISTENER_DELIVERIES, where(event_seq=event_seq, plugin_id=plugin_id), expect=ANY)


def postpone(unheard: ListenerDelivery, past: Sequence[str], attempts: int, until: int) -> Update:
    """Schedules the next attempt of a delivery."""
    own = where(event_seq=unheard.event_seq, plugin_id=unheard.plugin_id)
    values: dict[str, str | int] = {"past": _names(past), "attempts": attempts, "not_before": until}
    return Update(LISTENER_DELIVERIES, {**values}, own, expect=ANY)


def _names(past: Sequence[str]) -> str:
    return dumps(list(past)) if past else ""


class ListenerDeliveryStore:
    """Reads pending deliveries."""

    def __init__(self, journal: Journal) -> None:
        self._journal = journal

    async def pending_plugins(self) -> set[str]:
        rows = await self._journal.read(Select(LISTENER_DELIVERIES, columns=("plugin_id",)))
        return {row["plugin_id"] for row in rows}

    async def next(self, plugin_id: str, now: int) -> ListenerDelivery | None:
        """Returns the earliest delivery of a plugin, even if it failed and waits for its next attempt.

        A delivery that is still expected to happen together with the handling listeners is skipped.
        """
        query = Select(LISTENER_DELIVERIES, where(plugin_id=plugin_id), order=("event_seq",), limit=PAGE)
        rows = [_restore(row) for row in await self._journal.read(query)]
        return next((row for row in rows if row.attempts or row.not_before <= now), None)


def _restore(row: Row) -> ListenerDelivery:
    return ListenerDelivery(
        row["event_seq"],
        row["plugin_id"],
        bool(row["observing"]),
        row["attempts"],
        row["not_before"],
        row["created_at"],
        tuple(loads(row["past"])) if row["past"] else (),
    )
