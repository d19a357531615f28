"""Notifies listeners of every message of a run that was sent."""

from parlour.core.journal import UnitBuilder
from parlour.core.model.outbox_row import OutboxRow
from parlour.core.model.ports import Clock

from .host_events import RESPONDED_EVENT_TYPE, HostEvents, response_event


class ResponseEvents:
    def __init__(self, host_events: HostEvents, clock: Clock) -> None:
        self._host_events = host_events
        self._clock = clock

    def add_events(self, draft: UnitBuilder, row: OutboxRow) -> None:
        if _is_response(row) and self._host_events.recipients(RESPONDED_EVENT_TYPE, handled=False):
            now = self._clock.now()
            self._host_events.add(draft, response_event(row, now), row.conversation_id, now)

    def after_commit(self, row: OutboxRow) -> None:
        if _is_response(row):
            self._host_events.after_commit(RESPONDED_EVENT_TYPE)


def _is_response(row: OutboxRow) -> bool:
    return row.kind == "message" and bool(row.run_id)
