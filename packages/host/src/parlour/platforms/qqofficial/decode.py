"""Converts QQ's events into common events. Pure.

An event that can't be read becomes `platform.qqofficial.malformed`, so that it is visible and does not affect others.
"""

import re
from datetime import datetime
from time import time
from typing import Any

from parlour.core.model.reply_allowance import ReplyAllowance
from parlour.core.platforms.port import IncomingEvent
from parlour.platforms._kit.buttons import parse_button_data
from parlour.platforms._kit.payloads import (
    UNREADABLE,
    Payload,
    content_id,
    identifier,
    malformed_event,
    object_in,
    objects_in,
    text,
)
from parlour_sdk.protocol.chain import At, Component, Source
from parlour_sdk.protocol.people import ChatType, GroupMember, User
from parlour_sdk.protocol.platform_events import (
    BotInvited,
    BotRemoved,
    FriendAdded,
    FriendRemoved,
    InteractionReceived,
    MemberJoined,
    MemberLeft,
    MessageDeleted,
    MessageReaction,
    MessageReceived,
    PlatformSpecific,
)

from . import entities
from .content import content
from .entities import (
    EVENT_HANDLE,
    GROUP_REASON,
    GROUP_SECONDS,
    MAX_REPLIES,
    MESSAGE_HANDLE,
    NAME,
    PRIVATE_REASON,
    PRIVATE_SECONDS,
)

MESSAGES = {
    "C2C_MESSAGE_CREATE", "GROUP_AT_MESSAGE_CREATE", "GROUP_MESSAGE_CREATE", "AT_MESSAGE_CREATE", "MESSAGE_CREATE",
    "DIRECT_MESSAGE_CREATE",
}  # fmt: skip
DELETED = {"MESSAGE_DELETE", "PUBLIC_MESSAGE_DELETE", "DIRECT_MESSAGE_DELETE"}
MENTIONING = {"GROUP_AT_MESSAGE_CREATE", "AT_MESSAGE_CREATE"}
SILENT = {"READY", "RESUMED", "", "GUILD_UPDATE", "CHANNEL_CREATE", "CHANNEL_UPDATE", "CHANNEL_DELETE"}
SELF = "self"
"""Stands for the bot in a mention, where QQ does not say its id."""
_ACTION = re.compile(r"[^A-Za-z0-9_]")


def decode(frame: Payload, bot_id: str, own_id: str = "") -> list[IncomingEvent]:
    """Decodes an event. Messages of bots and events about the connection are left out."""
    kind = text(frame, "t")
    if kind in SILENT:
        return []
    try:
        incoming = _incoming(kind, frame["d"], frame, bot_id, own_id or SELF)
    except UNREADABLE as error:
        event = malformed_event(NAME, bot_id, {"t": kind, "d": frame.get("d")}, type(error).__name__)
        incoming = IncomingEvent(event)
    if incoming is None:
        return []
    return [
        IncomingEvent(
            incoming.event.carrying(frame),
            self_id=incoming.self_id,
            role=incoming.role,
            native_type=kind[:120],
            reply_allowance=incoming.reply_allowance,
        )
    ]


def chat_of(frame: Payload) -> str:
    """Returns what orders an event among others: its chat, or its guild."""
    data = object_in(frame, "d")
    names = ("group_openid", "channel_id", "guild_id", "user_openid", "openid")
    found = next((text(data, name) for name in names if text(data, name)), "")
    return found or text(object_in(data, "author"), "user_openid")


def _incoming(kind: str, data: Payload, frame: Payload, bot_id: str, own_id: str) -> IncomingEvent | None:
    fields: dict[str, Any] = {"bot_id": bot_id, "adapter_name": NAME}
    if kind in MESSAGES:
        return _message(kind, data, fields, own_id)
    native_id = text(frame, "id") or f"{kind}:{content_id(data)}"
    fields |= {"event_id": f"e:{native_id}", "timestamp": _moment(data.get("timestamp"))}
    if kind in DELETED:
        message = data["message"]
        chat = _guild_chat(message, is_direct=kind.startswith("DIRECT"))
        operator = object_in(data, "op_user")
        known = entities.user(operator) if operator else None
        deleted = MessageDeleted(message_id=identifier(message.get("id")), operator=known, **chat, **fields)
        return IncomingEvent(deleted)
    match kind:
        case "MESSAGE_REACTION_ADD" | "MESSAGE_REACTION_REMOVE":
            return _reaction(data, fields, is_add=kind.endswith("ADD"))
        case "INTERACTION_CREATE":
            return _interaction(data, {**fields, "event_id": f"e:{identifier(data.get('id'))}"}, native_id)
        case "GROUP_MEMBER_ADD" | "GROUP_MEMBER_REMOVE" | "GUILD_MEMBER_ADD" | "GUILD_MEMBER_REMOVE":
            return _member(data, fields, is_join=kind.endswith("ADD"))
        case "GROUP_ADD_ROBOT" | "GROUP_DEL_ROBOT" | "GUILD_CREATE" | "GUILD_DELETE":
            return _membership(kind, data, fields, native_id)
        case "FRIEND_ADD" | "FRIEND_DEL":
            user = entities.user(data)
            if kind == "FRIEND_DEL":
                return IncomingEvent(FriendRemoved(user=user, **fields))
            added = FriendAdded(user=user, **fields)
            return IncomingEvent(added, reply_allowance=_allowance(EVENT_HANDLE, native_id, "private"))
    return _specific(kind, data, fields, native_id)


def _message(kind: str, data: Payload, fields: Payload, own_id: str) -> IncomingEvent | None:
    author = object_in(data, "author")
    if author.get("bot") is True:
        return None
    message_id, moment = identifier(data.get("id")), _moment(data["timestamp"])
    if not moment:
        raise ValueError("the time can't be read")
    sender, chat = entities.user(author), _chat(kind, data)
    member = object_in(data, "member")
    if text(member, "nick"):
        sender = sender.model_copy(update={"nickname": text(member, "nick")})
    is_mentioned = kind in MENTIONING or any(each.get("is_you") is True for each in objects_in(data, "mentions"))
    is_named = f"<@!{own_id}>" in text(data, "content") or f"<@{own_id}>" in text(data, "content")
    mention: list[Component] = [At(target=own_id)] if is_mentioned and not is_named else []
    event = MessageReceived(
        event_id=f"m:{message_id}",
        timestamp=moment,
        message_id=message_id,
        message_chain=[Source(id=message_id, time=moment), *content(data, mention)],
        sender=sender,
        **chat,
        **fields,
    )
    return IncomingEvent(
        event,
        self_id=own_id,
        role=_role(author, member) if chat["chat_type"] == "group" else "",
        reply_allowance=_allowance(MESSAGE_HANDLE, message_id, chat["chat_type"], kind == "C2C_MESSAGE_CREATE"),
    )


def _chat(kind: str, data: Payload) -> dict[str, Any]:
    if kind == "C2C_MESSAGE_CREATE":
        author = object_in(data, "author")
        return {"chat_type": "private", "chat_id": _first(author, "user_openid", "id")}
    if kind.startswith("GROUP"):
        group_id = _first(data, "group_openid")
        return {"chat_type": "group", "chat_id": group_id, "group": entities.group(group_id)}
    return _guild_chat(data, is_direct=kind.startswith("DIRECT"))


def _guild_chat(data: Payload, is_direct: bool) -> dict[str, Any]:
    if is_direct:
        return {"chat_type": "private", "chat_id": _first(data, "guild_id")}
    channel = _first(data, "channel_id")
    return {"chat_type": "group", "chat_id": channel, "group": entities.group(channel)}


def _role(author: Payload, member: Payload) -> str:
    given = text(author, "member_role")
    if given in ("owner", "admin", "member"):
        return given
    roles = member.get("roles")
    roles = roles if isinstance(roles, list) else []
    return "owner" if "4" in roles else "admin" if {"2", "5"} & {str(each) for each in roles} else "member"


def _allowance(handle: str, native_id: str, chat_type: str, is_private: bool = False) -> ReplyAllowance:
    """Returns the replies that QQ accepts. Each has a number, under which it is shown once."""
    seconds, reason = (PRIVATE_SECONDS, PRIVATE_REASON) if is_private else (GROUP_SECONDS, GROUP_REASON)
    return ReplyAllowance(
        handle=f"{handle}:{native_id}",
        count=MAX_REPLIES,
        until=round((time() + seconds) * 1000),
        then="hold",
        repeatable=True,
        reason=reason,
        streams=is_private,
    )


def _reaction(data: Payload, fields: Payload, is_add: bool) -> IncomingEvent:
    target, emoji = object_in(data, "target"), object_in(data, "emoji")
    event = MessageReaction(
        message_id=identifier(target.get("id")),
        user=User(id=identifier(data.get("user_id"))),
        reaction=identifier(emoji.get("id")),
        is_add=is_add,
        **_guild_chat(data, is_direct=False),
        **fields,
    )
    return IncomingEvent(event)


def _interaction(data: Payload, fields: Payload, native_id: str) -> IncomingEvent:
    resolved = object_in(object_in(data, "data"), "resolved")
    scene = text(data, "scene")
    chat: dict[str, Any]
    if scene == "c2c":
        chat = {"chat_type": "private", "chat_id": _first(data, "user_openid")}
        user_id = chat["chat_id"]
    elif scene == "group":
        group_id = _first(data, "group_openid")
        chat = {"chat_type": "group", "chat_id": group_id, "group": entities.group(group_id)}
        user_id = _first(data, "group_member_openid")
    else:
        chat = _guild_chat(data, is_direct=False)
        user_id = _first(resolved, "user_id")
    action_id, value = parse_button_data(text(resolved, "button_data") or identifier(resolved.get("button_id")))
    event = InteractionReceived(
        interaction_id=identifier(data.get("id")),
        user=User(id=user_id),
        action_id=action_id,
        value=value,
        message_id=text(resolved, "message_id") or None,
        **chat,
        **fields,
    )
    return IncomingEvent(event, reply_allowance=_allowance(EVENT_HANDLE, native_id, chat["chat_type"]))


def _member(data: Payload, fields: Payload, is_join: bool) -> IncomingEvent:
    group_id = text(data, "group_openid") or _first(data, "guild_id")
    user = entities.user(object_in(data, "user") or data)
    member, group = GroupMember(user=user, group_id=group_id), entities.group(group_id)
    event = (MemberJoined if is_join else MemberLeft)(group=group, member=member, **fields)
    return IncomingEvent(event)


def _membership(kind: str, data: Payload, fields: Payload, native_id: str) -> IncomingEvent:
    group_id = text(data, "group_openid") or _first(data, "id")
    group = entities.group(group_id)
    if text(data, "name"):
        group = group.model_copy(update={"name": text(data, "name")})
    operator_id = text(data, "op_member_openid") or text(data, "op_user_id")
    operator = User(id=operator_id) if operator_id else None
    if kind in ("GROUP_DEL_ROBOT", "GUILD_DELETE"):
        return IncomingEvent(BotRemoved(group=group, operator=operator, **fields))
    event = BotInvited(group=group, inviter=operator, **fields)
    allowance = _allowance(EVENT_HANDLE, native_id, "group") if kind == "GROUP_ADD_ROBOT" else None
    return IncomingEvent(event, reply_allowance=allowance)


def _specific(kind: str, data: Any, fields: Payload, native_id: str) -> IncomingEvent:
    action = _ACTION.sub("_", kind)[:60].lower()
    own: dict[str, Any] = {"payload": data}
    place: tuple[ChatType, str] | None = None
    if isinstance(data, dict):
        if text(data, "group_openid"):
            place = ("group", text(data, "group_openid"))
        elif text(data, "openid"):
            place = ("private", text(data, "openid"))
    if place is not None:
        own |= {"chat_type": place[0], "chat_id": place[1]}
    event = PlatformSpecific(type=f"platform.{NAME}.{action}", action=action, data=own, **fields)
    can_be_answered = place is not None and kind in ("GROUP_MSG_RECEIVE", "C2C_MSG_RECEIVE")
    allowance = _allowance(EVENT_HANDLE, native_id, place[0]) if can_be_answered and place else None
    return IncomingEvent(event, reply_allowance=allowance)


def _moment(value: Any) -> int:
    """Returns a time in milliseconds, which QQ writes as a date or in seconds; 0 if there is none."""
    if value is None or value == "":
        return 0
    if isinstance(value, int) and not isinstance(value, bool):
        seconds = float(value)
    elif isinstance(value, str):
        seconds = float(value) if value.isdecimal() else datetime.fromisoformat(value).timestamp()
    else:
        raise ValueError("the time can't be read")
    if not 0 <= seconds < 10**11:
        raise ValueError("the time can't be read")
    return round(seconds * 1000)


def _first(data: Payload, *names: str) -> str:
    found = next((text(data, name) for name in names if text(data, name)), "")
    if not found:
        raise ValueError(f"{names[0]} is missing")
    return found
