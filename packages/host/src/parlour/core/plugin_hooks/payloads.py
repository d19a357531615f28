"""Serializes events for plugins' listeners and for webhooks, in the common form of each event type."""

from typing import Any

from parlour.core.config.bots import BotRepository
from parlour.core.model.event import EventEnvelope, RecordedEvent
from parlour.core.model.ids import BotId

COMMON_FIELDS = ("chat_type", "chat_id", "account", "mentions_bot", "role")


def event_payload(event: RecordedEvent) -> dict[str, Any]:
    envelope = event.envelope
    head = {
        "type": envelope.event_type,
        "event_id": envelope.event_id,
        "timestamp": envelope.event_time or event.created_at,
        "bot_id": envelope.bot_id,
        "adapter_name": envelope.source,
    }
    return {**_event_fields(envelope), **head}


def bot_payload(bots: BotRepository, bot_id: BotId) -> dict[str, Any] | None:
    bot = bots.get(bot_id)
    return {"id": bot.bot_id, "name": bot.name, "adapter": bot.adapter} if bot is not None else None


def _event_fields(envelope: EventEnvelope) -> dict[str, Any]:
    data = dict(envelope.data)
    if envelope.event_type.startswith("platform."):
        other_data = {name: value for name, value in data.items() if name not in ("action", *COMMON_FIELDS)}
        return {
            "action": data.get("action", ""),
            "data": other_data,
            **{name: data[name] for name in COMMON_FIELDS if name in data},
        }
    if envelope.event_type.split(".")[0] in ("schedule", "api"):
        return {"data": data, **({"schedule_id": envelope.subject.id} if envelope.subject.id else {})}
    if envelope.event_type == "message.received":
        return {**_message_fields(envelope), **data}
    return data


def _message_fields(envelope: EventEnvelope) -> dict[str, Any]:
    """Returns the fields of a message that did not come from a platform but from web chat or the API."""
    return {
        "message_id": envelope.event_id,
        "message_chain": [{"type": "Plain", "text": envelope.text}],
        "sender": {"id": envelope.actor.id, "nickname": envelope.actor.name},
        "chat_type": "private",
        "chat_id": envelope.chat,
    }
