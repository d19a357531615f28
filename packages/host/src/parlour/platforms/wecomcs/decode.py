"""Converts the messages of WeCom customer service into common events. Pure: names and files are already in them.

A message that can't be read becomes `platform.wecomcs.malformed`, so that it is visible and does not affect others.
"""

import re
from time import time
from typing import Any

from parlour.core.model.reply_allowance import ReplyAllowance
from parlour.core.platforms.port import IncomingEvent
from parlour.platforms._kit.buttons import parse_button_data
from parlour.platforms._kit.payloads import UNREADABLE, Payload, content_id, malformed_event, object_in, text
from parlour.platforms._kit.wechat_content import FILE_KINDS, file_component, place_component
from parlour_sdk.protocol.chain import Component, Plain, Source, Unknown
from parlour_sdk.protocol.platform_events import InteractionReceived, MessageReceived, PlatformSpecific

from . import entities
from .entities import NAME, WINDOW_REASON, WINDOW_REPLIES, WINDOW_SECONDS

CUSTOMER_KEY = "customer_profile"
"""Key under which the profile of the customer is added to a message."""
FILE_KEY = "fetched_file"
"""Key under which the content of a file is added to a message."""
CUSTOMER, SYSTEM, STAFF = 3, 4, 5
"""Origins of a message."""
MENU_SEPARATOR = " "
"""Separates the message id of a menu from the data of a chosen item."""
OWN_KINDS = ("location", "link", "miniprogram", "business_card")
_ACTION = re.compile(r"[^A-Za-z0-9_.]")


def decode(message: Payload, bot_id: str) -> IncomingEvent | None:
    """Decodes a message of a customer or an event; None for a message of the staff."""
    if isinstance(message, dict) and message.get("origin") == STAFF:
        return None
    try:
        return _incoming(message, bot_id)
    except UNREADABLE as error:
        event = malformed_event(NAME, bot_id, _public(message), type(error).__name__)
        return IncomingEvent(event.carrying(message), native_type=_native_type(message))


def decode_report(report: Payload, bot_id: str) -> IncomingEvent:
    """Decodes a call that announces no messages."""
    kind = _ACTION.sub("_", text(report, "Event"))[:60]
    if not kind:
        return IncomingEvent(malformed_event(NAME, bot_id, report, "no event").carrying(report))
    event = PlatformSpecific(
        type=f"platform.{NAME}.{kind}",
        action=kind,
        event_id=f"r:{content_id(report)}",
        timestamp=round(time() * 1000),
        bot_id=bot_id,
        adapter_name=NAME,
        data={"payload": report},
    )
    return IncomingEvent(event.carrying(report), native_type=kind)


def customer_of(message: Payload) -> str:
    """Returns the customer of a message or an event."""
    return text(message, "external_userid") or text(object_in(message, "event"), "external_userid")


def _native_type(message: Any) -> str:
    if not isinstance(message, dict):
        return ""
    return (text(object_in(message, "event"), "event_type") or text(message, "msgtype"))[:120]


def _incoming(message: Payload, bot_id: str) -> IncomingEvent:
    kind, message_id, seconds = _required(message, "msgtype"), _required(message, "msgid"), message["send_time"]
    if isinstance(seconds, bool) or not isinstance(seconds, int) or not 0 <= seconds < 10**11:
        raise ValueError("the time is not one in seconds")
    fields: dict[str, Any] = {
        "event_id": f"m:{message_id}", "timestamp": seconds * 1000, "bot_id": bot_id, "adapter_name": NAME,
    }  # fmt: skip
    if kind == "event":
        return IncomingEvent(_specific(message, fields).carrying(message), native_type=_native_type(message))
    customer_id, account_id = _required(message, "external_userid"), _required(message, "open_kfid")
    chat: dict[str, Any] = {"chat_type": "private", "chat_id": entities.chat_id(customer_id, account_id)}
    sender = entities.user(customer_id, object_in(message, CUSTOMER_KEY))
    menu = text(object_in(message, "text"), "menu_id") if kind == "text" else ""
    event: Any
    if menu:
        menu_message, separator, data = menu.partition(MENU_SEPARATOR)
        action_id, value = parse_button_data(data if separator else menu)
        event = InteractionReceived(
            interaction_id=fields["event_id"],
            user=sender,
            action_id=action_id,
            value=value,
            message_id=menu_message if separator else None,
            **chat,
            **fields,
        )
    else:
        chain = [Source(id=message_id, time=seconds * 1000), *content(message)]
        event = MessageReceived(message_id=message_id, message_chain=chain, sender=sender, **chat, **fields)
    now = round(time() * 1000)
    return IncomingEvent(
        event.carrying(message),
        native_type=_native_type(message),
        happened_at=min(seconds * 1000, now),
        reply_allowance=_allowance(message_id, seconds),
    )


def _allowance(message_id: str, seconds: int) -> ReplyAllowance:
    """Returns the replies that WeChat accepts. The newest message of a customer opens a new window."""
    return ReplyAllowance(
        handle=message_id,
        count=WINDOW_REPLIES,
        until=(seconds + WINDOW_SECONDS) * 1000,
        then="hold",
        scope="chat",
        repeatable=True,
        reason=WINDOW_REASON,
    )


def _specific(message: Payload, fields: dict[str, Any]) -> PlatformSpecific:
    event = object_in(message, "event")
    action = _ACTION.sub("_", _required(event, "event_type"))[:60]
    customer_id = customer_of(message)
    account_id = text(event, "open_kfid") or text(message, "open_kfid")
    data: dict[str, Any] = {"payload": _public(message)}
    if customer_id and account_id:
        chat = {"chat_type": "private", "chat_id": entities.chat_id(customer_id, account_id)}
        data |= {"user_id": customer_id, **chat}
    return PlatformSpecific(type=f"platform.{NAME}.{action}", action=action, data=data, **fields)


def content(message: Payload) -> list[Component]:
    """Returns the components of a message."""
    kind = text(message, "msgtype")
    own = object_in(message, kind)
    if kind == "text":
        return [Plain(text=_required(own, "content"))]
    if kind in FILE_KINDS:
        return [file_component(kind, object_in(message, FILE_KEY))]
    if kind in OWN_KINDS:
        facts = [str(own[name]) for name in ("name", "title", "address", "desc", "url", "userid") if own.get(name)]
        if kind == "location":
            facts.append(f"{own.get('latitude')},{own.get('longitude')}")
        return [place_component(NAME, kind, own, *facts)]
    return [Unknown(text=f"[a message of the kind {kind[:60]}, which can't be read]")]


def _required(message: Payload, name: str) -> str:
    value = message.get(name)
    if not isinstance(value, str) or not value:
        raise ValueError(f"{name} is missing")
    return value


def _public(message: Any) -> Any:
    """Returns a message without what was added to it, and without what would let anyone answer it."""
    if not isinstance(message, dict):
        return message
    shown = {name: value for name, value in message.items() if name not in (CUSTOMER_KEY, FILE_KEY)}
    event = shown.get("event")
    if isinstance(event, dict):
        shown["event"] = {name: value for name, value in event.items() if name != "welcome_code"}
    return shown
