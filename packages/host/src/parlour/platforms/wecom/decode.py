"""Converts the decrypted messages of WeCom into common events. Pure: names and files are already in them.

A message that can't be read becomes `platform.wecom.malformed`, so that it is visible and does not affect others.
"""

import re
from typing import Any

from parlour.core.platforms.port import IncomingEvent
from parlour.platforms._kit.buttons import parse_button_data
from parlour.platforms._kit.payloads import UNREADABLE, Payload, content_id, malformed_event, object_in, text
from parlour.platforms._kit.wechat_content import FILE_KINDS, file_component, place_component
from parlour_sdk.protocol.chain import Component, Plain, Source, Unknown
from parlour_sdk.protocol.platform_events import InteractionReceived, MessageReceived, PlatformSpecific

from . import entities
from .entities import CARD_PREFIX, NAME

USER_KEY = "sender_profile"
"""Key under which the profile of the sender is added to a message."""
ADDED_KEYS = ("content_base64", "content_name", "content_type", "content_problem", USER_KEY)
SECRET_FIELDS = ("ResponseCode",)
_ACTION = re.compile(r"[^A-Za-z0-9_.]")


def decode(message: Payload, bot_id: str) -> IncomingEvent:
    """Decodes a message or an event."""
    try:
        event: Any = _event(message, bot_id)
    except UNREADABLE as error:
        event = malformed_event(NAME, bot_id, _public(message), type(error).__name__)
    return IncomingEvent(event.carrying(message), native_type=_native_type(message))


def chat_of(message: Payload) -> str:
    """Returns what orders a message among others: its sender."""
    return text(message, "FromUserName")


def _native_type(message: Payload) -> str:
    return (text(message, "Event") or text(message, "MsgType"))[:120]


def _event(message: Payload, bot_id: str) -> Any:
    user_id, agent_id = _required(message, "FromUserName"), _required(message, "AgentID")
    seconds = int(_required(message, "CreateTime"))
    if not 0 <= seconds < 10**11:
        raise ValueError("the time is not one in seconds")
    fields: dict[str, Any] = {"timestamp": seconds * 1000, "bot_id": bot_id, "adapter_name": NAME}
    chat: dict[str, Any] = {"chat_type": "private", "chat_id": entities.chat_id(user_id, agent_id)}
    sender = entities.user(user_id, object_in(message, USER_KEY))
    if message.get("MsgType") != "event":
        message_id = _required(message, "MsgId")
        source = Source(id=message_id, time=seconds * 1000)
        chain = [source, *content(message)]
        return MessageReceived(
            event_id=f"m:{message_id}", message_id=message_id, message_chain=chain, sender=sender, **chat, **fields
        )
    kind = _required(message, "Event")
    event_id = f"e:{content_id(user_id, seconds, agent_id, kind, message.get('EventKey'), message.get('TaskId'))}"
    if kind == "template_card_event" and text(message, "TaskId"):
        action_id, value = parse_button_data(_required(message, "EventKey"))
        return InteractionReceived(
            event_id=event_id,
            interaction_id=event_id,
            user=sender,
            action_id=action_id,
            value=value,
            message_id=f"{CARD_PREFIX}{message['TaskId']}",
            **chat,
            **fields,
        )
    action = _ACTION.sub("_", kind)[:60]
    return PlatformSpecific(
        type=f"platform.{NAME}.{action}",
        action=action,
        event_id=event_id,
        data={"payload": _public(message), "user_id": user_id, **chat},
        **fields,
    )


def content(message: Payload) -> list[Component]:
    """Returns the components of a message."""
    kind = text(message, "MsgType")
    if kind == "text":
        return [Plain(text=_required(message, "Content"))]
    if kind in FILE_KINDS:
        return [file_component(kind, message)]
    if kind == "location":
        place = {name: text(message, name) for name in ("Location_X", "Location_Y", "Scale", "Label")}
        facts = (text(message, "Label"), f"{place['Location_X']},{place['Location_Y']}")
        return [place_component(NAME, "location", place, *facts)]
    if kind == "link":
        link = {name: text(message, name) for name in ("Title", "Description", "Url", "PicUrl")}
        return [place_component(NAME, "link", link, link["Title"], link["Description"], link["Url"])]
    return [Unknown(text=f"[a message of the kind {kind[:60] or 'none'}, which can't be read]")]


def _required(message: Payload, name: str) -> str:
    value = message.get(name)
    if not isinstance(value, str) or not value:
        raise ValueError(f"{name} is missing")
    return value


def _public(message: Payload) -> Payload:
    """Returns a message without what was added to it, and without what would let anyone answer it."""
    return {name: value for name, value in message.items() if name not in (*ADDED_KEYS, *SECRET_FIELDS)}
