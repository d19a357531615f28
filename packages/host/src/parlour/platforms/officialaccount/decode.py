"""Converts the messages of WeChat to an official account into common events. Pure: files are already in them.

A message that can't be read becomes `platform.officialaccount.malformed`, so that it is visible and affects no other.
"""

import re
from time import time
from typing import Any

from parlour.core.model.reply_allowance import ReplyAllowance
from parlour.core.platforms.port import IncomingEvent
from parlour.platforms._kit.ids import compose_id
from parlour.platforms._kit.payloads import UNREADABLE, Payload, content_id, malformed_event, text
from parlour.platforms._kit.wechat_content import FILE_KINDS, file_component, place_component
from parlour_sdk.protocol.chain import Component, Plain, Source, Unknown
from parlour_sdk.protocol.platform_events import MessageReceived, PlatformSpecific

from . import entities
from .entities import DROP_REASON, EVENT_REASON, NAME, PASSIVE_REASON, SERVICE_REASON, Mode

ADDED_KEYS = ("content_base64", "content_name", "content_type", "content_problem")
SERVICE_REPLIES, SERVICE_SECONDS = 5, 48 * 3600
EVENT_REPLIES, EVENT_SECONDS = 3, 60
ANSWERABLE_EVENTS = ("subscribe", "scan", "click")
"""Events of users who see a reply, in lower case."""
_ACTION = re.compile(r"[^A-Za-z0-9_.]")


def decode(message: Payload, bot_id: str, mode: Mode) -> IncomingEvent:
    """Decodes a message or an event."""
    try:
        event: Any = _event(message, bot_id)
    except UNREADABLE as error:
        event = malformed_event(NAME, bot_id, _public(message), type(error).__name__)
        return IncomingEvent(event.carrying(message), native_type=_native_type(message))
    allowance = _allowance(message, event.event_id, mode) if is_answerable(message) else None
    return IncomingEvent(event.carrying(message), native_type=_native_type(message), reply_allowance=allowance)


def chat_of(message: Payload) -> str:
    """Returns what orders a message among others: its sender."""
    return text(message, "FromUserName")


def is_answerable(message: Payload) -> bool:
    """Returns whether the sender of a message or an event would see a reply to it."""
    return message.get("MsgType") != "event" or text(message, "Event").lower() in ANSWERABLE_EVENTS


def _native_type(message: Payload) -> str:
    return (text(message, "Event") or text(message, "MsgType"))[:120]


def _allowance(message: Payload, event_id: str, mode: Mode) -> ReplyAllowance:
    """Returns the replies that WeChat accepts. The handle names the event and the time at which it was received."""
    now = round(time() * 1000)
    handle = compose_id(event_id, str(now))
    if mode == "passive":
        return ReplyAllowance(handle, count=1, then="hold", scope="chat", repeatable=True, reason=PASSIVE_REASON)
    if mode == "drop":
        return ReplyAllowance(handle, count=1, then="refuse", repeatable=True, reason=DROP_REASON)
    is_event = message.get("MsgType") == "event"
    return ReplyAllowance(
        handle,
        count=EVENT_REPLIES if is_event else SERVICE_REPLIES,
        until=now + (EVENT_SECONDS if is_event else SERVICE_SECONDS) * 1000,
        then="hold",
        scope="chat",
        reason=EVENT_REASON if is_event else SERVICE_REASON,
    )


def _event(message: Payload, bot_id: str) -> Any:
    open_id, account = _required(message, "FromUserName"), _required(message, "ToUserName")
    seconds = int(_required(message, "CreateTime"))
    if not 0 <= seconds < 10**11:
        raise ValueError("the time is not one in seconds")
    fields: dict[str, Any] = {"timestamp": seconds * 1000, "bot_id": bot_id, "adapter_name": NAME}
    chat: dict[str, Any] = {"chat_type": "private", "chat_id": open_id}
    if message.get("MsgType") != "event":
        message_id = _required(message, "MsgId")
        return MessageReceived(
            event_id=f"m:{message_id}",
            message_id=message_id,
            message_chain=[Source(id=message_id, time=seconds * 1000), *content(message)],
            sender=entities.user(open_id, {}),
            **chat,
            **fields,
        )
    kind = _required(message, "Event")
    action = _ACTION.sub("_", kind)[:60]
    return PlatformSpecific(
        type=f"platform.{NAME}.{action}",
        action=action,
        event_id=f"e:{content_id(open_id, account, seconds, kind, message.get('EventKey'), message.get('MsgID'))}",
        data={"payload": _public(message), "user_id": open_id, **chat},
        **fields,
    )


def content(message: Payload) -> list[Component]:
    """Returns the components of a message. Recognized speech follows its voice."""
    kind = text(message, "MsgType")
    if kind == "text":
        return [Plain(text=_required(message, "Content"))]
    if kind in FILE_KINDS and kind != "file":
        spoken = text(message, "Recognition") if kind == "voice" else ""
        file = file_component(kind, message)
        return [file, Plain(text=spoken)] if spoken else [file]
    if kind == "location":
        place = {name: text(message, name) for name in ("Location_X", "Location_Y", "Scale", "Label")}
        facts = (text(message, "Label"), f"{place['Location_X']},{place['Location_Y']}")
        return [place_component(NAME, "location", place, *facts)]
    if kind == "link":
        link = {name: text(message, name) for name in ("Title", "Description", "Url")}
        return [place_component(NAME, "link", link, link["Title"], link["Description"], link["Url"])]
    return [Unknown(text=f"[a message of the kind {kind[:60] or 'none'}, which can't be read]")]


def _required(message: Payload, name: str) -> str:
    value = message.get(name)
    if not isinstance(value, str) or not value:
        raise ValueError(f"{name} is missing")
    return value


def _public(message: Payload) -> Payload:
    """Returns a message without what was added to it."""
    return {name: value for name, value in message.items() if name not in ADDED_KEYS}
