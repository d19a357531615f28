"""Converts the messages and events of AI bots into common events. Pure: files are already in them.

A message that can't be read becomes `platform.wecombot.malformed`, so that it is visible and does not affect others.
"""

import re
from typing import Any

from parlour.core.platforms.port import IncomingEvent
from parlour.platforms._kit.buttons import parse_button_data
from parlour.platforms._kit.payloads import UNREADABLE, Payload, content_id, malformed_event, object_in, text
from parlour_sdk.protocol.chain import Source
from parlour_sdk.protocol.platform_events import (
    FeedbackReceived,
    InteractionReceived,
    MessageReceived,
    PlatformSpecific,
)

from . import entities
from .content import FILES_KEY, content
from .entities import CARD_PREFIX, FEEDBACK_PREFIX, NAME

SECRET_FIELDS = ("response_url",)
_ACTION = re.compile(r"[^A-Za-z0-9_.]")


def decode(body: Payload, bot_id: str, robot_name: str = "") -> IncomingEvent:
    """Decodes a message or an event."""
    try:
        event: Any = _event(body, bot_id, robot_name)
    except UNREADABLE as error:
        event = malformed_event(NAME, bot_id, _public(body), type(error).__name__)
    is_group_message = isinstance(event, MessageReceived) and event.chat_type == "group"
    return IncomingEvent(
        event.carrying(body),
        self_id=text(body, "aibotid"),
        addresses_bot=is_group_message,  # others are not delivered
        native_type=event_kind(body)[:120],
    )


def event_kind(body: Payload) -> str:
    """Returns the platform's name of a message or event."""
    return text(object_in(body, "event"), "eventtype") or text(body, "msgtype")


def chat_of(body: Payload) -> str:
    """Returns what orders a message among others."""
    return entities.chat_id(body)


def _event(body: Payload, bot_id: str, robot_name: str) -> Any:
    seconds, message_id = body.get("create_time"), _required(body, "msgid")
    if isinstance(seconds, bool) or not isinstance(seconds, int) or not 0 <= seconds < 10**11:
        raise ValueError("the time is not one in seconds")
    user_id, chat = _required(body["from"], "userid"), _chat(body)
    fields: dict[str, Any] = {
        "event_id": f"m:{message_id}", "timestamp": seconds * 1000, "bot_id": bot_id, "adapter_name": NAME,
    }  # fmt: skip
    sender = entities.user(user_id)
    if body.get("msgtype") != "event":
        chain = [
            Source(id=message_id, time=seconds * 1000), *content(body, _required(body, "aibotid"), robot_name)
        ]  # fmt: skip
        return MessageReceived(message_id=message_id, message_chain=chain, sender=sender, **chat, **fields)
    event = body["event"]
    kind = _required(event, "eventtype")
    match kind:
        case "template_card_event":
            return _interaction(event["template_card_event"], sender, chat, fields)
        case "feedback_event":
            return _feedback(event["feedback_event"], user_id, fields)
    action = _ACTION.sub("_", kind)[:60]
    named = {name: value for name, value in chat.items() if name != "group"}
    return PlatformSpecific(
        type=f"platform.{NAME}.{action}",
        action=action,
        data={"payload": _public(body), "user_id": user_id, **named},
        **fields,
    )


def _chat(body: Payload) -> dict[str, Any]:
    chat_id = entities.chat_id(body)
    if not chat_id:
        raise ValueError("chatid is missing")
    chat: dict[str, Any] = {"chat_type": entities.chat_type(body), "chat_id": chat_id}
    return {**chat, "group": entities.group(chat_id)} if chat["chat_type"] == "group" else chat


def _interaction(pressed: Payload, user: Any, chat: Payload, fields: Payload) -> InteractionReceived:
    action_id, value = parse_button_data(_required(pressed, "event_key"))
    chosen = pressed.get("selected_items")
    task_id = text(pressed, "task_id")
    return InteractionReceived(
        interaction_id=fields["event_id"],
        user=user,
        action_id=action_id,
        value=chosen if chosen and value is None else value,
        message_id=f"{CARD_PREFIX}{task_id}" if task_id else None,
        **chat,
        **fields,
    )


def _feedback(rating: Payload, user_id: str, fields: Payload) -> FeedbackReceived:
    """Decodes a rating. Several members of a group can rate one answer."""
    rated = _required(rating, "id")
    message_id = rated.removeprefix(FEEDBACK_PREFIX) if rated.startswith(FEEDBACK_PREFIX) else None
    reasons = rating.get("inaccurate_reason_list")
    return FeedbackReceived(
        feedback_id=content_id(rated, user_id),
        feedback_type=rating["type"],
        feedback_content=text(rating, "content") or None,
        inaccurate_reasons=[str(each) for each in reasons] if isinstance(reasons, list) and reasons else None,
        user_id=user_id,
        message_id=message_id,
        stream_id=message_id,
        **fields,
    )


def _required(data: Payload, name: str) -> str:
    value = data.get(name)
    if not isinstance(value, str) or not value:
        raise ValueError(f"{name} is missing")
    return value


def _public(body: Any) -> Any:
    """Returns a message without what was added to it, and without what would let anyone answer it or read its files."""
    match body:
        case dict():
            hidden = (*SECRET_FIELDS, FILES_KEY, "aeskey")
            return {name: _public(value) for name, value in body.items() if name not in hidden}
        case list():
            return [_public(each) for each in body]
    return body
