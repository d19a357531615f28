"""Converts messages of the iLink gateway into common events. Pure.

A message that can't be read becomes `platform.wechat.malformed`, so that it is visible and does not affect others.
"""

from time import time
from typing import Any

from parlour.core.model.reply_allowance import ReplyAllowance
from parlour.core.platforms.port import IncomingEvent
from parlour.platforms._kit.payloads import UNREADABLE, Payload, content_id, malformed_event, object_in, text
from parlour.platforms._kit.wechat_content import file_component
from parlour_sdk.protocol.chain import Component, MessageChain, Plain, Quote, Source, Unknown
from parlour_sdk.protocol.platform_events import MessageDeleted, MessageReceived, PlatformSpecific

from .entities import (
    FILE,
    IMAGE,
    ITEM_FIELDS,
    NAME,
    TEXT,
    USER_MESSAGE,
    VIDEO,
    VOICE,
    WINDOW_REASON,
    WINDOW_REPLIES,
    WINDOW_SECONDS,
    user,
)
from .media import FILE_KEY

KINDS = {IMAGE: "image", VOICE: "voice", FILE: "file", VIDEO: "video"}
PRIVATE_FIELDS = frozenset(("context_token", "aes_key", "aeskey", FILE_KEY))
"""What no event carries: what lets anyone answer a message or read its files, and what was added to it."""
MAX_EXACT_NUMBER = 2**53
MAX_MOMENT = 10**14


def decode(message: Any, bot_id: str) -> IncomingEvent | None:
    """Decodes a message; None for one of the bot itself."""
    try:
        return _incoming(message, bot_id)
    except UNREADABLE as error:
        return IncomingEvent(malformed_event(NAME, bot_id, _public(message), type(error).__name__))


def _incoming(message: Payload, bot_id: str) -> IncomingEvent | None:
    kind = message["message_type"]
    if isinstance(kind, bool) or not isinstance(kind, int):
        raise ValueError("the type of the message is no number")
    if kind != USER_MESSAGE:
        return None
    sender_id, moment = _required(message, "from_user_id"), _moment(message.get("create_time_ms"))
    message_id = _message_id(message, sender_id, moment)
    fields: dict[str, Any] = {"timestamp": moment, "bot_id": bot_id, "adapter_name": NAME}
    chat: dict[str, Any] = {"chat_type": "private", "chat_id": sender_id}
    public = _public(message)
    if text(message, "group_id"):
        data = {"user_id": sender_id, "payload": public}
        action = "group_message"
        fields |= {"event_id": f"g:{message_id}", "type": f"platform.{NAME}.{action}", "action": action}
        return IncomingEvent(PlatformSpecific(data=data, **fields).carrying(public), native_type=action)
    if message.get("delete_time_ms"):
        deleted = MessageDeleted(
            event_id=f"d:{message_id}", message_id=message_id, operator=user(sender_id), **chat, **fields
        )
        return IncomingEvent(deleted.carrying(public), native_type="deleted")
    event = MessageReceived(
        event_id=f"m:{message_id}",
        message_id=message_id,
        message_chain=[Source(id=message_id, time=moment), *_content(message["item_list"])],
        sender=user(sender_id),
        **chat,
        **fields,
    )
    return IncomingEvent(
        event.carrying(public),
        native_type="message",
        happened_at=min(moment, round(time() * 1000)),
        reply_allowance=_allowance(text(message, "context_token"), moment),
    )


def _content(items: Any) -> MessageChain:
    if not isinstance(items, list) or not items:
        raise ValueError("the message has no items")
    return [component for item in items for component in _components(item)]


def _components(item: Payload) -> list[Component]:
    kind = item["type"]
    quoted = item.get("ref_msg")
    quote = [_quote(quoted)] if isinstance(quoted, dict) and quoted else []
    return [*quote, *_item(kind, item)]


def _item(kind: Any, item: Payload) -> list[Component]:
    if isinstance(kind, bool) or not isinstance(kind, int):
        raise ValueError("the type of an item is no number")
    if kind not in ITEM_FIELDS:
        return [Unknown(text=f"[a part of the kind {kind}, which can't be read]")]
    own = object_in(item, ITEM_FIELDS[kind])
    if kind == TEXT:
        return [Plain(text=_required(own, "text"))]
    file = file_component(KINDS[kind], object_in(item, FILE_KEY))
    spoken = text(own, "text") if kind == VOICE else ""
    return [file, Plain(text=spoken)] if spoken else [file]


def _quote(quoted: Payload) -> Quote:
    """Returns the quoted message. Newer clients send only its id, under which it was received or sent before."""
    title, item = text(quoted, "title"), object_in(quoted, "message_item")
    own = text(object_in(item, ITEM_FIELDS[TEXT]), "text")
    shown = own or title
    number = quoted.get("svr_id")
    has_id = isinstance(number, int | str) and not isinstance(number, bool) and number
    return Quote(id=str(number) if has_id else None, origin=[Plain(text=shown)] if shown else [])


def _allowance(handle: str, moment: int) -> ReplyAllowance:
    """Returns the replies that WeChat accepts. The newest message of a user opens a new window."""
    return ReplyAllowance(
        handle=handle,
        count=WINDOW_REPLIES,
        until=moment + WINDOW_SECONDS * 1000,
        then="hold",
        scope="chat",
        reason=WINDOW_REASON,
    )


def _message_id(message: Payload, sender_id: str, moment: int) -> str:
    """Returns the id of a message, which is a number beyond the exact ones of JSON."""
    given = message.get("message_id")
    if isinstance(given, bool) or not isinstance(given, int | str):
        given = ""
    if not given:
        return content_id(sender_id, moment, message.get("client_id"))
    return str(given)


def _moment(value: Any) -> int:
    if isinstance(value, bool) or not isinstance(value, int) or not 0 <= value < MAX_MOMENT:
        raise ValueError("the time of the message can't be read")
    return value


def _required(message: Payload, name: str) -> str:
    value = message[name]
    if not isinstance(value, str) or not value:
        raise ValueError(f"{name} is no text")
    return value


def _public(value: Any) -> Any:
    """Returns a message without what no event carries, with large numbers as text."""
    match value:
        case dict():
            return {name: _public(each) for name, each in value.items() if name not in PRIVATE_FIELDS}
        case list():
            return [_public(each) for each in value]
        case int() if abs(value) >= MAX_EXACT_NUMBER:
            return str(value)
    return value
