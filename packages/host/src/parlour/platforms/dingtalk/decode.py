"""Converts the reports of DingTalk into common events. Pure: files are already in them.

A report that can't be read becomes `platform.dingtalk.malformed`, so that it is visible and does not affect others.
"""

import json
import re
from typing import Any

from parlour.core.model.reply_allowance import ReplyAllowance
from parlour.core.platforms.port import IncomingEvent
from parlour.platforms._kit.payloads import UNREADABLE, Payload, content_id, malformed_event, object_in, text
from parlour_sdk.protocol.chain import Source
from parlour_sdk.protocol.people import GroupMember
from parlour_sdk.protocol.platform_events import (
    BotInvited,
    BotRemoved,
    GroupInfoUpdated,
    InteractionReceived,
    MemberJoined,
    MemberLeft,
    MessageReceived,
    PlatformSpecific,
)

from . import entities
from .content import FILES_KEY, content
from .entities import CARD_PREFIX, NAME, UNKNOWN_STAFF

MESSAGE_TOPIC, CARD_TOPIC = "/v1.0/im/bot/messages/get", "/v1.0/card/instances/callback"
SESSION_REASON = "DingTalk lets a robot answer people outside the company only within their session"
SECRET_FIELDS = ("sessionWebhook",)
MAX_USERS = 500
_ACTION = re.compile(r"[^A-Za-z0-9_.]")


def decode(frame: Payload, bot_id: str) -> list[IncomingEvent]:
    """Decodes a frame whose data was read. A change of several members is several events."""
    data = frame["data"]
    try:
        events = _events(frame, data, bot_id)
    except UNREADABLE as error:
        events = [IncomingEvent(malformed_event(NAME, bot_id, _public(data), type(error).__name__))]
    kind = text(object_in(frame, "headers"), "eventType") or text(object_in(frame, "headers"), "topic")
    return [_finished(each, frame, kind) for each in events]


def chat_of(frame: Payload) -> str:
    """Returns what orders a frame among others."""
    data = object_in(frame, "data")
    return text(data, "conversationId") or text(data, "openConversationId") or text(data, "chatId")


def _finished(incoming: IncomingEvent, frame: Payload, kind: str) -> IncomingEvent:
    return IncomingEvent(
        incoming.event.carrying(frame),
        self_id=incoming.self_id,
        native_type=kind[:120],
        role=incoming.role,
        reply_allowance=incoming.reply_allowance,
    )


def _events(frame: Payload, data: Any, bot_id: str) -> list[IncomingEvent]:
    headers = object_in(frame, "headers")
    fields: dict[str, Any] = {"bot_id": bot_id, "adapter_name": NAME}
    match text(headers, "topic"):
        case "/v1.0/im/bot/messages/get":
            return [_message(data, fields)]
        case "/v1.0/card/instances/callback":
            return [IncomingEvent(_pressed(headers, data, fields))]
    event_id = text(headers, "eventId") or content_id(headers, data)
    moment = int(text(headers, "eventBornTime") or text(headers, "time") or 0)
    return _group_event(text(headers, "eventType"), data, {**fields, "event_id": f"e:{event_id}", "timestamp": moment})


def _message(message: Payload, fields: Payload) -> IncomingEvent:
    message_id, sender_id = _required(message, "msgId"), entities.sender_id(message)
    moment, chat_id = message["createAt"], entities.chat_id(message)
    if isinstance(moment, bool) or not isinstance(moment, int) or not 0 <= moment < 10**14:
        raise ValueError("the time is not one in milliseconds")
    if not sender_id or not chat_id or text(message, "conversationType") not in ("1", "2"):
        raise ValueError("sender or conversation is missing")
    chat: dict[str, Any] = {"chat_type": entities.chat_type(message), "chat_id": chat_id}
    if chat["chat_type"] == "group":
        chat["group"] = entities.group(chat_id, text(message, "conversationTitle"))
    event = MessageReceived(
        event_id=f"m:{message_id}",
        timestamp=moment,
        message_id=message_id,
        message_chain=[Source(id=message_id, time=moment), *content(message)],
        sender=entities.user(sender_id, text(message, "senderNick")),
        **chat,
        **fields,
    )
    role = "admin" if chat["chat_type"] == "group" and message.get("isAdmin") is True else ""
    return IncomingEvent(
        event, self_id=text(message, "chatbotUserId"), role=role, reply_allowance=_allowance(message, chat_id)
    )  # fmt: skip


def _allowance(message: Payload, chat_id: str) -> ReplyAllowance | None:
    """Returns the session of a person outside the company, whom the robot can't address."""
    until, webhook = message.get("sessionWebhookExpiredTime"), text(message, "sessionWebhook")
    if not chat_id.startswith(UNKNOWN_STAFF) or not webhook or not isinstance(until, int) or until <= 0:
        return None
    return ReplyAllowance(handle=webhook, until=until, then="refuse", reason=SESSION_REASON)


def _pressed(headers: Payload, data: Payload, fields: Payload) -> InteractionReceived:
    """Decodes a pressed button of a card template."""
    own = object_in(json.loads(_required(data, "content")), "cardPrivateData")
    actions, space, user_id = own["actionIds"], text(data, "spaceId"), _required(data, "userId")
    place = space.rpartition(".")[2]
    is_group = "GROUP" in text(data, "spaceType").upper() or "IM_GROUP" in space
    chat: dict[str, Any] = {"chat_type": "private", "chat_id": user_id}
    if is_group:
        chat = {"chat_type": "group", "chat_id": place, "group": entities.group(place)}
    event_id = text(headers, "messageId") or content_id(data)
    return InteractionReceived(
        event_id=f"c:{event_id}",
        timestamp=int(text(headers, "time") or 0),
        interaction_id=event_id,
        user=entities.user(user_id),
        action_id=actions[0],
        value=object_in(own, "params") or None,
        message_id=f"{CARD_PREFIX}{_required(data, 'outTrackId')}",
        **chat,
        **fields,
    )


def _group_event(kind: str, data: Payload, fields: Payload) -> list[IncomingEvent]:
    group_id = text(data, "openConversationId") or text(data, "chatId")
    operator = entities.user(text(data, "operator")) if text(data, "operator") else None
    if kind in ("chat_add_member", "chat_remove_member", "chat_quit"):
        return [IncomingEvent(each) for each in _member_events(kind, data, group_id, operator, fields)]
    if kind in ("chat_update_title", "chat_update_owner") and group_id:
        group = entities.group(group_id, text(data, "title"))
        changed = "name" if kind == "chat_update_title" else "owner_id"
        return [IncomingEvent(GroupInfoUpdated(group=group, operator=operator, changed_fields=[changed], **fields))]
    if kind in ("im_cool_app_install", "im_cool_app_uninstall") and group_id:
        group = entities.group(group_id)
        if kind == "im_cool_app_install":
            return [IncomingEvent(BotInvited(group=group, inviter=operator, **fields))]
        return [IncomingEvent(BotRemoved(group=group, operator=operator, **fields))]
    action = _ACTION.sub("_", kind)[:60]
    if not action:
        raise ValueError("eventType is missing")
    place = {"chat_type": "group", "chat_id": group_id} if group_id else {}
    specific = PlatformSpecific(
        type=f"platform.{NAME}.{action}", action=action, data={"payload": _public(data), **place}, **fields
    )
    return [IncomingEvent(specific)]


def _member_events(kind: str, data: Payload, group_id: str, operator: Any, fields: Payload) -> list[Any]:
    users = data.get("userId")
    if not group_id or not isinstance(users, list) or not users:
        raise ValueError("group or members are missing")
    group, events = entities.group(group_id, text(data, "title")), list[Any]()
    for number, user_id in enumerate(map(str, users[:MAX_USERS])):
        own = {**fields, "event_id": f"{fields['event_id']}:{number}"} if number else fields
        member = GroupMember(user=entities.user(user_id), group_id=group_id)
        if kind == "chat_add_member":
            events.append(MemberJoined(group=group, member=member, inviter=operator, **own))
        else:
            is_kicked = kind == "chat_remove_member"
            events.append(MemberLeft(group=group, member=member, is_kicked=is_kicked, operator=operator, **own))
    return events


def _required(data: Payload, name: str) -> str:
    value = data.get(name)
    if not isinstance(value, str) or not value:
        raise ValueError(f"{name} is missing")
    return value


def _public(value: Any) -> Any:
    """Returns a report without what was added to it, and without what would let anyone answer it."""
    match value:
        case dict():
            return {name: _public(each) for name, each in value.items() if name not in (*SECRET_FIELDS, FILES_KEY)}
        case list():
            return [_public(each) for each in value]
    return value
