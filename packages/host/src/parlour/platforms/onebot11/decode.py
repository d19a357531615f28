"""Converts a OneBot event into a platform event. Pure: data that has to be fetched is already in the payload.

An event that can't be read becomes `platform.onebot11.malformed`, so that it is visible and does not affect other
events.
"""

import hashlib
import json
import re
from typing import Any

from pydantic import ValidationError

from parlour.core.encoding import dumps
from parlour.core.json_kinds import kind_name
from parlour.core.platforms.port import IncomingEvent
from parlour_sdk.protocol.chain import Source
from parlour_sdk.protocol.people import ChatType, Group, GroupMember, User
from parlour_sdk.protocol.platform_events import (
    BotInvited,
    BotMuted,
    BotRemoved,
    BotUnmuted,
    FriendAdded,
    FriendRequestReceived,
    MemberBanned,
    MemberJoined,
    MemberLeft,
    MemberUnbanned,
    MessageDeleted,
    MessageReceived,
    PlatformEvent,
    PlatformSpecific,
)
from parlour_sdk.values import dataclass

from .payloads import identifier, is_bot, milliseconds, number, required_id, text
from .segments import NAME, chain_of, check_size, segments_of

MALFORMED = "malformed"
MAX_PAYLOAD_CHARACTERS = 4000
ROLES = ("owner", "admin", "member")
Payload = dict[str, Any]
_NOT_A_NAME = re.compile(r"[^A-Za-z0-9_]")
_ENVELOPE = ("post_type", "self_id", "time", "notice_type", "request_type")


def is_own(payload: Payload) -> bool:
    """Returns whether the event is the bot's own message, reported back."""
    if payload.get("post_type") == "message_sent":
        return True
    return payload.get("post_type") == "message" and str(payload.get("user_id")) == str(payload.get("self_id"))


def chat_key(payload: Payload) -> tuple[Any, ...]:
    """Returns the queue key of an event; events with the same key are handled in order."""
    group = payload.get("group_id")
    in_group = bool(group) and payload.get("message_type") != "private"
    chat = ("group", str(group)) if in_group else ("private", str(payload.get("user_id")))
    return (str(payload.get("self_id")), *chat)


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
            return decode_notice(payload, Common(derived_id(payload), event_time(payload), bot_id))
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
        group=_group(payload) if chat_type == "group" else None,
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
        is_bot=is_bot(sender) or is_bot(user),
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
            first_error = error.errors(include_url=False, include_input=False)[0]
            return f"{'.'.join(str(part) for part in first_error['loc'])}: {first_error['msg']}"
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


@dataclass(frozen=True, slots=True)
class Common:
    """Fields that every event has."""

    event_id: str
    timestamp: int
    bot_id: str

    def fields(self) -> dict[str, Any]:
        return {
            "event_id": self.event_id,
            "timestamp": self.timestamp,
            "bot_id": self.bot_id,
            "adapter_name": NAME,
        }


def decode_notice(payload: Payload, common: Common) -> PlatformEvent:
    kind = payload.get("notice_type") or payload.get("request_type")
    about_bot = str(payload.get("user_id")) == str(payload.get("self_id"))
    fields = common.fields()
    match kind, payload.get("sub_type"):
        case "group_recall", _:
            return _recalled(payload, fields, "group", required_id(payload, "group_id"), "operator_id")
        case "friend_recall", _:
            return _recalled(payload, fields, "private", required_id(payload, "user_id"), "user_id")
        case "group_increase", _ if about_bot:
            return BotInvited(group=_group(payload), inviter=_user(payload, "operator_id"), **fields)
        case "group_increase", sub_type:
            return _joined(payload, fields, sub_type)
        # the bot leaves a disbanded group as well
        case "group_decrease", sub_type if sub_type in ("kick_me", "disband") or about_bot:
            return BotRemoved(group=_group(payload), operator=_operator_unless_member(payload), **fields)
        case "group_decrease", sub_type:
            return _left(payload, fields, sub_type)
        case "group_ban", sub_type if payload.get("user_id") not in (0, "0"):
            return _banned(payload, fields, sub_type, about_bot)
        case "friend_add", _:
            return FriendAdded(user=_required_user(payload, "user_id"), **fields)
        case "friend", _:
            return _friend_request(payload, fields)
        case "group", "invite":
            request_id = required_id(payload, "flag")
            return BotInvited(group=_group(payload), inviter=_user(payload, "user_id"), request_id=request_id, **fields)
    return _specific(payload, fields)


def _group(payload: Payload) -> Group:
    return Group(id=required_id(payload, "group_id"), name=text(payload, "group_name") or "")


def _recalled(payload: Payload, fields: Payload, chat_type: Any, chat_id: str, operator: str) -> MessageDeleted:
    return MessageDeleted(
        message_id=required_id(payload, "message_id"),
        operator=_user(payload, operator),
        chat_type=chat_type,
        chat_id=chat_id,
        group=_group(payload) if chat_type == "group" else None,
        **fields,
    )


def _joined(payload: Payload, fields: Payload, sub_type: Any) -> MemberJoined:
    invited = sub_type == "invite"
    return MemberJoined(
        group=_group(payload),
        member=_member(payload),
        inviter=_user(payload, "operator_id") if invited else None,
        join_type="invite" if invited else "request" if sub_type == "approve" else None,
        **fields,
    )


def _left(payload: Payload, fields: Payload, sub_type: Any) -> MemberLeft:
    return MemberLeft(
        group=_group(payload),
        member=_member(payload),
        is_kicked=sub_type == "kick",
        operator=_operator_unless_member(payload),
        **fields,
    )


def _banned(payload: Payload, fields: Payload, sub_type: Any, about_bot: bool) -> PlatformEvent:
    lifted = sub_type == "lift_ban"
    group_fields: dict[str, Any] = {"group": _group(payload), "operator": _user(payload, "operator_id")}
    seconds = None if lifted else number(payload.get("duration"))
    if about_bot:
        return BotUnmuted(**group_fields, **fields) if lifted else BotMuted(**group_fields, duration=seconds, **fields)
    member = _member(payload)
    if lifted:
        return MemberUnbanned(**group_fields, member=member, **fields)
    return MemberBanned(**group_fields, member=member, duration=seconds, **fields)


def _friend_request(payload: Payload, fields: Payload) -> FriendRequestReceived:
    return FriendRequestReceived(
        request_id=required_id(payload, "flag"),
        user=_required_user(payload, "user_id"),
        message=text(payload, "comment"),
        **fields,
    )


def _specific(payload: Payload, fields: Payload) -> PlatformSpecific:
    """Builds a platform-specific event named after its kind, e.g. `platform.onebot11.notify_poke`, with its chat."""
    kinds = [payload.get("notice_type") or payload.get("request_type"), payload.get("sub_type")]
    if not isinstance(kinds[0], str) or not kinds[0]:
        raise ValueError("notice_type or request_type: the event's kind is expected, as a text")
    if payload.get("request_type") == "group":
        kinds = ["group_join_request"]
    elif kinds[0] == "group_ban":
        kinds = ["group_whole_ban", "lifted" if kinds[1] == "lift_ban" else None]
    action = _NOT_A_NAME.sub("_", "_".join(kind for kind in kinds if isinstance(kind, str) and kind))[:80]
    data = {name: value for name, value in payload.items() if name not in _ENVELOPE}
    if "action" in data:  # Lagrange's text for a poke; the event's own `action` is its name
        data["native_action"] = data.pop("action")
    if payload.get("flag"):
        data["request_id"] = required_id(payload, "flag")  # by which an action identifies the request of this event
    return PlatformSpecific(
        type=f"platform.{NAME}.{action}", action=action, data={**data, **_chat_fields(payload)}, **fields
    )


def _chat_fields(payload: Payload) -> Payload:
    if payload.get("group_id"):
        return {"chat_type": "group", "chat_id": required_id(payload, "group_id")}
    if payload.get("user_id"):
        return {"chat_type": "private", "chat_id": required_id(payload, "user_id")}
    return {}


def _member(payload: Payload) -> GroupMember:
    return GroupMember(user=_required_user(payload, "user_id"), group_id=required_id(payload, "group_id"))


def _operator_unless_member(payload: Payload) -> User | None:
    """Returns the user who did it, or None if it was the member."""
    is_member = str(payload.get("operator_id")) == str(payload.get("user_id"))
    return None if is_member else _user(payload, "operator_id")


def _user(payload: Payload, name: str) -> User | None:
    return _required_user(payload, name) if payload.get(name) else None


def _required_user(payload: Payload, name: str) -> User:
    return User(id=required_id(payload, name))
