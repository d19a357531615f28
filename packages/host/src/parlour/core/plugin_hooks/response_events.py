"""Notifies listeners of every message of a run that was sent."""

from parlour.core.journal import Draft
from parlour.core.model.outbox_row import Outgoing
from parlour.core.model.ports import Clock

from .host_events import RESPONDED, HostEvents, responded


class ResponseEvents:
    def __init__(self, host_events: HostEvents, clock: Clock) -> None:
        self._host_events = host_events
        self._clock = clock

    def draft(self, draft: Draft, row: Outgoing) -> None:
        if _is_response(row) and self._host_events.audience(RESPONDED, handled=False):
            now = self._clock.now()
            self._host_events.draft(draft, responded(row, now), row.conversation_id, now)

    def durable(self, row: Outgoing) -> None:
        if _is_response(row):
            self._host_events.offer(RESPONDED)


def _is_response(row: Outgoing) -> bool:
    return row.kind == "message" and bool(row.run_id)
