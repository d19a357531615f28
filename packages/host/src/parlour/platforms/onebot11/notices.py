"""Converts OneBot notices and requests into common events; those without a common type become `platform.onebot11.*`."""

import re
from typing import Any

from parlour_sdk.protocol.people import Group, GroupMember, User
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
    PlatformEvent,
    PlatformSpecific,
)
from parlour_sdk.values import dataclass

from .segments import NAME
from .values import number, required_id, text

Payload = dict[str, Any]
_NOT_A_NAME = re.compile(r"[^A-Za-z0-9_]")
_ENVELOPE = ("post_type", "self_id", "time", "notice_type", "request_type")


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
            return BotInvited(group=group(payload), inviter=_user(payload, "operator_id"), **fields)
        case "group_increase", how:
            return _joined(payload, fields, how)
        # the bot leaves a disbanded group as well
        case "group_decrease", how if how in ("kick_me", "disband") or about_bot:
            return BotRemoved(group=group(payload), operator=_operator_unless_member(payload), **fields)
        case "group_decrease", how:
            return _left(payload, fields, how)
        case "group_ban", how if payload.get("user_id") not in (0, "0"):
            return _banned(payload, fields, how, about_bot)
        case "friend_add", _:
            return FriendAdded(user=_required_user(payload, "user_id"), **fields)
        case "friend", _:
            return _friend_request(payload, fields)
        case "group", "invite":
            request_id = required_id(payload, "flag")
            return BotInvited(group=group(payload), inviter=_user(payload, "user_id"), request_id=request_id, **fields)
    return _specific(payload, fields)


def group(payload: Payload) -> Group:
    return Group(id=required_id(payload, "group_id"), name=text(payload, "group_name") or "")


def _recalled(payload: Payload, fields: Payload, chat_type: Any, chat_id: str, operator: str) -> MessageDeleted:
    return MessageDeleted(
        message_id=required_id(payload, "message_id"),
        operator=_user(payload, operator),
        chat_type=chat_type,
        chat_id=chat_id,
        group=group(payload) if chat_type == "group" else None,
        **fields,
    )


def _joined(payload: Payload, fields: Payload, how: Any) -> MemberJoined:
    invited = how == "invite"
    return MemberJoined(
        group=group(payload),
        member=_member(payload),
        inviter=_user(payload, "operator_id") if invited else None,
        join_type="invite" if invited else "request" if how == "approve" else None,
        **fields,
    )


def _left(payload: Payload, fields: Payload, how: Any) -> MemberLeft:
    return MemberLeft(
        group=group(payload),
        member=_member(payload),
        is_kicked=how == "kick",
        operator=_operator_unless_member(payload),
        **fields,
    )


def _banned(payload: Payload, fields: Payload, how: Any, about_bot: bool) -> PlatformEvent:
    lifted = how == "lift_ban"
    about: dict[str, Any] = {"group": group(payload), "operator": _user(payload, "operator_id")}
    seconds = None if lifted else number(payload.get("duration"))
    if about_bot:
        return BotUnmuted(**about, **fields) if lifted else BotMuted(**about, duration=seconds, **fields)
    member = _member(payload)
    if lifted:
        return MemberUnbanned(**about, member=member, **fields)
    return MemberBanned(**about, member=member, duration=seconds, **fields)


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
    return PlatformSpecific(type=f"platform.{NAME}.{action}", action=action, data={**data, **_chat(payload)}, **fields)


def _chat(payload: Payload) -> Payload:
    if payload.get("group_id"):
        return {"chat_type": "group", "chat_id": required_id(payload, "group_id")}
    if payload.get("user_id"):
        return {"chat_type": "private", "chat_id": required_id(payload, "user_id")}
    return {}


def _member(payload: Payload) -> GroupMember:
    return GroupMember(user=_required_user(payload, "user_id"), group_id=required_id(payload, "group_id"))


def _operator_unless_member(payload: Payload) -> User | None:
    """Returns the user who did it, or None if it was the member."""
    alone = str(payload.get("operator_id")) == str(payload.get("user_id"))
    return None if alone else _user(payload, "operator_id")


def _user(payload: Payload, name: str) -> User | None:
    return _required_user(payload, name) if payload.get(name) else None


def _required_user(payload: Payload, name: str) -> User:
    return User(id=required_id(payload, name))
