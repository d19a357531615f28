"""The event `message.filtered`: a message policy ended or changed a message or a reply.

It is stored in the unit that does so, and only if a plugin listens to it by its name.
"""

from dataclasses import replace

from parlour.core.journal import UnitBuilder
from parlour.core.message_policy.filtered import FilteredMessage
from parlour.core.model.event import EventContext, EventEnvelope, Participant, RecordedEvent
from parlour.core.model.ids import EventId
from parlour.core.model.ports import Clock, Ids

from .host_events import ORIGIN, SOURCE, HostEvents

EVENT_TYPE = "message.filtered"


class FilteredEvents:
    """Tells listeners about filtered messages. Previews and reruns reach no listener."""

    def __init__(self, host_events: HostEvents, ids: Ids, clock: Clock) -> None:
        self._host_events = host_events
        self._ids = ids
        self._clock = clock

    def add(self, draft: UnitBuilder, event: RecordedEvent, filtered: FilteredMessage) -> None:
        if event.envelope.is_preview or not self._host_events.recipients(EVENT_TYPE, handled=False):
            return
        now, event_id = self._clock.now(), EventId(f"filtered:{self._ids.new()}")
        self._host_events.add(draft, _host_event(event.envelope, event_id, filtered, now), event.conversation_id, now)

    def after_commit(self) -> None:
        self._host_events.after_commit(EVENT_TYPE)


def _host_event(message: EventEnvelope, event_id: EventId, filtered: FilteredMessage, now: int) -> EventEnvelope:
    """Builds the event about a message. It refers to the message by its event, and never has its text."""
    data = {
        "checkpoint": filtered.checkpoint,
        "verdict": filtered.verdict,
        "rules": list(filtered.rules),
        "reason": filtered.reason,
        "source_event_id": message.event_id,
        "run_id": filtered.run_id or None,
        "chat_type": message.data.get("chat_type") or "private",
        "chat_id": str(message.data.get("chat_id") or message.chat),
    }
    return replace(
        message,
        event_id=event_id,
        event_type=EVENT_TYPE,
        source=SOURCE,
        source_event_type="",
        context=EventContext(event_id, message.context.id, ORIGIN),
        event_time=now,
        subject=Participant("event", message.event_id),
        input={},
        data=data,
        run_request=None,
    )
