"""Converts a decoded platform event to the Host's envelope: conversation, actor and subject, and input.

Only the common event types are known here. Adapters decode events; the gateway stores them.
"""

from typing import Any

from parlour.core.model.chats import PLATFORM_SURFACE, Chat, chat_key
from parlour.core.model.event import HAPPENED_AT, LOCALE, EventContext, EventEnvelope, Participant
from parlour.core.model.ids import BotId, EventId
from parlour_sdk.protocol.platform_events import (
    ChatEvent,
    FeedbackReceived,
    FriendAdded,
    FriendRemoved,
    FriendRequestReceived,
    GroupEvent,
    MessageReceived,
    PlatformEvent,
    PlatformSpecific,
)

from . import chain_text, participants
from .port import IncomingEvent

COMMON_FIELDS = {"type", "event_id", "timestamp", "bot_id", "adapter_name"}


def to_envelope(incoming: IncomingEvent, bot_id: BotId, adapter: str, bot_name: str = "") -> EventEnvelope:
    event = incoming.event
    chat = event_chat(event)
    agent_input = (
        chain_text.chain_to_input(event.message_chain, incoming.self_id) if isinstance(event, MessageReceived) else {}
    )
    return EventEnvelope(
        event_id=EventId(event.event_id),
        event_type=event.type,
        source=adapter,
        chat=chat_key(chat, incoming.account),
        context=EventContext(event.event_id, origin=adapter),
        surface=PLATFORM_SURFACE,
        bot_id=bot_id,
        thread_id=incoming.thread_id,
        event_time=event.timestamp,
        source_event_type=incoming.native_type,
        actor=_actor(incoming),
        subject=participants.subject(event),
        input=agent_input,
        data=_data(incoming, chat, bot_name),
        metadata={HAPPENED_AT: incoming.happened_at} if incoming.happened_at else {},
    )


def event_chat(event: PlatformEvent) -> Chat | None:
    """Returns the chat to which a reply would go."""
    match event:
        case ChatEvent():
            return event.chat_type, event.chat_id
        case GroupEvent():
            return "group", event.group.id
        case FriendRequestReceived() | FriendAdded() | FriendRemoved():
            return "private", event.user.id
        case FeedbackReceived(user_id=str(user_id)):
            return "private", user_id
        case PlatformSpecific():
            return _chat_in_data(event.data)
    return None


def _chat_in_data(data: dict[str, Any]) -> Chat | None:
    """Returns the chat that a platform-specific event names in the fields of the common events."""
    chat_type, chat_id = data.get("chat_type"), data.get("chat_id")
    if chat_type in ("private", "group") and isinstance(chat_id, str) and chat_id:
        return ("group" if chat_type == "group" else "private"), chat_id
    return None


def _actor(incoming: IncomingEvent) -> Participant:
    participant = participants.actor(incoming.event)
    details = {name: value for name, value in (("role", incoming.role), (LOCALE, incoming.locale)) if value}
    return (
        Participant(participant.type, participant.id, participant.name, {**participant.data, **details})
        if details
        else participant
    )


def _data(incoming: IncomingEvent, chat: Chat | None, bot_name: str) -> dict[str, Any]:
    event = incoming.event
    data = event.model_dump(exclude=COMMON_FIELDS, exclude_none=True)
    if isinstance(event, PlatformSpecific):
        data = {**event.data, "action": event.action}
    if chat:
        data["chat_type"], data["chat_id"] = chat
    if incoming.account:
        data["account"] = incoming.account
    if isinstance(event, MessageReceived):
        data["message_chain"] = chain_text.chain_for_storage(data["message_chain"])
        data["mentions_bot"] = incoming.addresses_bot or chain_text.chain_mentions(
            event.message_chain, incoming.self_id
        )
        if incoming.role:
            data["role"] = incoming.role
        if incoming.self_id:
            data["self"] = {"id": incoming.self_id, "name": bot_name}
    elif "new_content" in data:
        data["new_content"] = chain_text.chain_for_storage(data["new_content"])
    return data
