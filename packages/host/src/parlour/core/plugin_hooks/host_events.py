"""Events of the Host for listeners: a reply was sent, a command was used, an approval was decided.

The event and one delivery row per listening plugin are stored in the unit of the change itself. If no plugin listens,
neither is stored.
"""

from collections.abc import Sequence
from dataclasses import replace

from parlour.core.journal import Ref, UnitBuilder
from parlour.core.model.event import EventContext, EventEnvelope, Participant, RecordedEvent
from parlour.core.model.ids import BotId, ConversationId, EventId, PluginId
from parlour.core.model.outbox_row import OutboxRow
from parlour.core.model.ports import Clock
from parlour.core.model.preview import PREVIEW
from parlour.core.store import event_log

from .retries import ListenerDelivery, ListenerRetries
from .subscriptions import ListenerSubscriptions

RESPONDED_EVENT_TYPE = "message.responded"
COMMAND_EVENT_TYPE = "command.sent"
SOURCE = "system"
ORIGIN = "host"


class HostEvents:
    """Stores events of the Host and queues them for listeners."""

    def __init__(self, audience: ListenerSubscriptions, retries: ListenerRetries) -> None:
        self._audience = audience
        self._retries = retries

    def add(self, draft: UnitBuilder, event: EventEnvelope, conversation_id: ConversationId, now: int) -> None:
        """Adds the event for all plugins that listen to it."""
        plugins = self._audience.subscribed_plugins(event.event_type)
        if plugins:
            position = draft.add(event_log.append(event, conversation_id, now))
            self.add_deliveries(draft, position, event.bot_id, plugins)

    def add_deliveries(
        self, draft: UnitBuilder, position: int, bot_id: BotId, plugins: Sequence[PluginId], observing: bool = False
    ) -> None:
        """Adds the deliveries of a bot's event. The unit's statement at this position is the event."""
        seq, delivery = Ref(position, "seq"), ListenerDelivery(observing)
        draft.add(*(self._retries.enqueue(seq, bot_id, plugin_id, delivery) for plugin_id in plugins))

    def after_commit(self, event_type: str) -> None:
        """Starts the deliveries of a committed event."""
        self._retries.wake(*self._audience.subscribed_plugins(event_type))

    def recipients(self, event_type: str, handled: bool) -> list[PluginId]:
        """Returns the plugins that receive an event: all listeners, or observers only if it is handled elsewhere."""
        return (
            self._audience.observing_plugins(event_type) if handled else self._audience.subscribed_plugins(event_type)
        )


class ResponseEvents:
    """Notifies listeners of every message of a run that was sent."""

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
    return row.kind == "message" and bool(row.run_id) and row.surface != PREVIEW


def response_event(row: OutboxRow, now: int) -> EventEnvelope:
    """Builds the event for a run's message that reached its chat."""
    address = row.address
    chain = row.message.get("chain") or [{"type": "Plain", "text": str(row.message.get("content") or "")}]
    data = {
        "run_id": row.run_id,
        "message_chain": chain,
        "chat_type": address.get("chat_type") or "private",
        "chat_id": address.get("chat_id") or address.get("chat", ""),
    }
    identity = EventId(f"responded:{row.outbox_id}")
    return EventEnvelope(
        event_id=identity,
        event_type=RESPONDED_EVENT_TYPE,
        source=SOURCE,
        chat=address.get("chat", ""),
        context=EventContext(identity, row.run_id, ORIGIN),
        surface=row.surface,
        bot_id=row.bot_id,
        thread_id=address.get("thread_id", ""),
        event_time=now,
        actor=Participant("system", ORIGIN),
        subject=Participant("run", row.run_id),
        data=data,
    )


def command_event(command_message: RecordedEvent, command: str, now: int) -> EventEnvelope:
    """Builds the event for a command that a user sent to the Host or a plugin."""
    envelope = command_message.envelope
    identity = EventId(f"command:{command_message.seq}")
    data = {
        "command": command,
        "arguments": envelope.text.split()[1:],
        "user": {"id": envelope.actor.id, "nickname": envelope.actor.name},
        "chat_type": envelope.data.get("chat_type") or "private",
        "chat_id": envelope.data.get("chat_id") or envelope.chat,
    }
    return replace(
        envelope,
        event_id=identity,
        event_type=COMMAND_EVENT_TYPE,
        source=SOURCE,
        source_event_type="",
        context=EventContext(identity, envelope.context.id, ORIGIN),
        event_time=now,
        subject=Participant("command", command),
        input={},
        data=data,
        run_request=None,
    )
