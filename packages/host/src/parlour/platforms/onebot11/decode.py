"""Converts a OneBot event into a platform event. Pure: data that has to be fetched is already in the payload.

An event that can't be read becomes `platform.onebot11.malformed`, so that it is visible and does not affect other
events.
"""

import hashlib
import json
from typing import Any

from pydantic import ValidationError

from parlour.core.encoding import dumps
from parlour.core.json_kinds import kind_name
from parlour.core.platforms.port import IncomingEvent
from parlour_sdk.protocol.chain import Source
from parlour_sdk.protocol.people import ChatType, User
from parlour_sdk.protocol.platform_events import MessageReceived, PlatformEvent, PlatformSpecific

from . import notices, users
from .segments import NAME, chain_of, check_size, segments_of
from .values import identifier, milliseconds, required_id, text

MALFORMED = "malformed"
MAX_PAYLOAD_CHARACTERS = 4000
ROLES = ("owner", "admin", "member")
Payload = dict[str, Any]


def is_own(payload: Payload) -> bool:
    """Returns whether the event is the bot's own message, reported back."""
    if payload.get("post_type") == "message_sent":
        return True
    return payload.get("post_type") == "message" and str(payload.get("user_id")) == str(payload.get("self_id"))


def chat_key(payload: Payload) -> tuple[Any, ...]:
    """Returns the queue key of an event; events with the same key are handled in order."""
    group = payload.get("group_id")
    in_group = bool(group) and payload.get("message_type") != "private"
    place = ("group", str(group)) if in_group else ("private", str(payload.get("user_id")))
    return (str(payload.get("self_id")), *place)


def decode(payload: Payload, bot_id: str) -> IncomingEvent:
    account = _account(payload)
    try:
        event = _event(payload, bot_id)
        role = _role(payload)
    except (ValueError, TypeError, KeyError, AttributeError) as error:  # pydantic's errors are ValueErrors
        event, role = _malformed(payload, bot_id, _problem(error)), ""
    return IncomingEvent(
        event.carrying(payload), account, self_id=account, role=role, native_type=_native_type(payload)
    )


def _event(payload: Payload, bot_id: str) -> PlatformEvent:
    match payload["post_type"]:
        case "message":
            return _message(payload, bot_id)
        case "notice" | "request":
            return notices.decode_notice(payload, notices.Common(derived_id(payload), event_time(payload), bot_id))
    raise ValueError("post_type: message, notice or request is expected")


def _message(payload: Payload, bot_id: str) -> MessageReceived:
    chat_type, chat_id = _chat(payload)
    message_id, time = required_id(payload, "message_id"), event_time(payload)
    source, segments = Source(id=message_id, time=time), segments_of(payload["message"])
    check_size(segments)
    return MessageReceived(
        event_id=f"{required_id(payload, 'self_id')}:{chat_type}:{chat_id}:{message_id}:{time}",
        timestamp=time,
        bot_id=bot_id,
        adapter_name=NAME,
        message_id=message_id,
        message_chain=[source, *chain_of(segments)],
        sender=_sender(payload),
        chat_type=chat_type,
        chat_id=chat_id,
        group=notices.group(payload) if chat_type == "group" else None,
    )


def _chat(payload: Payload) -> tuple[ChatType, str]:
    if payload["message_type"] == "group":
        return "group", required_id(payload, "group_id")
    if payload["message_type"] == "private":
        return "private", required_id(payload, "user_id")
    raise ValueError("message_type: private or group is expected")


def _sender(payload: Payload) -> User:
    anonymous = payload.get("anonymous")
    if isinstance(anonymous, dict):
        return User(
            id=f"anonymous:{identifier(anonymous.get('id'), 'anonymous.id')}", nickname=text(anonymous, "name") or ""
        )
    sender, user = (_object(payload, name) for name in ("sender", "user"))
    return User(
        id=required_id(payload, "user_id"),
        nickname=text(sender, "card") or text(sender, "nickname") or "",
        is_bot=users.is_bot(sender) or users.is_bot(user),
    )


def _object(payload: Payload, name: str) -> Payload:
    value = payload.get(name)
    return value if isinstance(value, dict) else {}


def _role(payload: Payload) -> str:
    in_group = payload.get("message_type") == "group"
    role = _object(payload, "sender").get("role") if in_group else None
    return role if role in ROLES else ""


def event_time(payload: Payload) -> int:
    time = milliseconds(payload["time"])
    if time is None:
        raise ValueError(f"time: seconds since 1970 are expected, not {kind_name(payload['time'])}")
    return time


def _account(payload: Payload) -> str:
    try:
        return required_id(payload, "self_id")
    except (ValueError, KeyError):
        return ""


def _problem(error: Exception) -> str:
    """Names the field and what was expected there. The value itself is in the payload beside it."""
    match error:
        case ValidationError():
            first = error.errors(include_url=False, include_input=False)[0]
            return f"{'.'.join(str(part) for part in first['loc'])}: {first['msg']}"
        case KeyError():
            return f"{error.args[0]}: it is missing"
        case ValueError():
            return str(error)
    return f"the event can't be read ({type(error).__name__})"


def derived_id(payload: Payload) -> str:
    """Derives an id from content and time, so that it is the same when the event is delivered again."""
    return hashlib.sha256(json.dumps(payload, sort_keys=True).encode()).hexdigest()[:32]


def _native_type(payload: Payload) -> str:
    kind = payload.get("post_type")
    names = (kind, payload.get(f"{kind}_type"), payload.get("sub_type"))
    return ".".join(name for name in names if isinstance(name, str))[:120]


def _malformed(payload: Payload, bot_id: str, problem: str) -> PlatformSpecific:
    try:
        time = event_time(payload)
    except (ValueError, KeyError):
        time = 0
    return PlatformSpecific(
        type=f"platform.{NAME}.{MALFORMED}",
        event_id=derived_id(payload),
        timestamp=time,
        bot_id=bot_id,
        adapter_name=NAME,
        action=MALFORMED,
        data={"problem": problem, "payload": dumps(payload)[:MAX_PAYLOAD_CHARACTERS]},
    )
