"""A plugin's reply to a message that came over HTTP or in the web chat, where no platform is asked to send it."""

from typing import Any

from parlour.core.delivery.service import DeliveryService
from parlour.core.journal import Journal, Select, Unit, other_than, where
from parlour.core.model.event import RecordedEvent
from parlour.core.model.ids import NO_RUN, BotId, EventId, OutboxId
from parlour.core.model.ports import Clock
from parlour.core.model.providers import ProviderFailed
from parlour.core.store import event_log, event_notes, outbox_rows
from parlour.core.store.tables import EVENTS
from parlour_sdk.protocol.chain import chain_text
from parlour_sdk.protocol.platform_api import MessageResult, ReplyMessage

OWN_SURFACES = ("api", "webui", "preview")
"""Surfaces whose messages the caller or the page reads from the Host."""


class DirectReplies:
    """Stores replies to the Host's own surfaces; the sender finds them with the result of the event."""

    def __init__(self, journal: Journal, delivery: DeliveryService, clock: Clock) -> None:
        self._journal = journal
        self._delivery = delivery
        self._clock = clock

    async def reply(self, request: ReplyMessage) -> MessageResult | None:
        """Replies to the event; None if it came from a platform. Raises ProviderFailed if its id is ambiguous."""
        event = await self._find(BotId(request.bot_id), EventId(request.event_id))
        if event is None:
            return None
        text = chain_text(request.chain)
        message: dict[str, Any] = {"role": "assistant", "content": text}
        row = self._delivery.composer.compose_message(event, NO_RUN, "message", message)
        unit = Unit("command.answer", (outbox_rows.insert(row), reply_note(event, row.outbox_id, self._clock.now())))
        await self._delivery.publisher.deliver(self._journal, unit, [row])
        return MessageResult(message_id=row.outbox_id)

    async def _find(self, bot_id: BotId, event_id: EventId) -> RecordedEvent | None:
        conditions = where(event_id=event_id, bot_id=bot_id, principal=other_than(""))
        rows = await self._journal.read(Select(EVENTS, conditions, limit=2))
        events = [each for each in map(event_log.from_row, rows) if each.envelope.surface in OWN_SURFACES]
        if len(events) > 1:
            raise ProviderFailed("not_found", f"several callers have an event '{event_id[:64]}'")
        return events[0] if events else None


def reply_note(event: RecordedEvent, outbox_id: OutboxId, now: int) -> Any:
    """Builds the note that names a plugin's reply on the trail of its event."""
    data = {"text": "A plugin replied to it.", event_notes.OUTBOX_IDS: [outbox_id]}
    return event_notes.add_note(event.seq, f"reply.{outbox_id}", data, now)
