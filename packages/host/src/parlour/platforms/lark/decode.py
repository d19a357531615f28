"""Converts what Lark reports into common events. Pure: what has to be looked up is already in it.

A report that can't be read becomes `platform.lark.malformed`, so that it is visible and does not affect others.
"""

from typing import Any

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
from parlour_sdk.protocol.chain import Source
from parlour_sdk.protocol.people import Group, GroupMember, User
from parlour_sdk.protocol.platform_events import (
    BotInvited,
    BotRemoved,
    FeedbackReceived,
    GroupInfoUpdated,
    InteractionReceived,
    JoinType,
    MemberJoined,
    MemberLeft,
    MessageDeleted,
    MessageReaction,
    MessageReceived,
    PlatformEvent,
    PlatformSpecific,
)
from parlour_sdk.values import dataclass

from . import entities
from .content import decode_chain, quote_of
from .entities import NAME, LarkAccount, emoji_character, open_id, time_milliseconds

PROFILE, CHAT, ROLE = "sender_profile", "chat_found", "sender_role"
"""Keys that are added to a report: the profile of the user who caused it, the chat of its message, and the role."""
BUTTON, FEEDBACK, MENU = "parlour_button", "parlour_feedback", "menu"
"""Keys in the values of the bot's own buttons, and the action of the bot's menu."""
NEED_CHAT = (
    "im.message.recalled_v1", "im.message.reaction.created_v1", "im.message.reaction.deleted_v1", "card.action.trigger",
)  # fmt: skip
"""Events whose chat has to be looked up; if that fails, they are reported as Lark's own."""
SECRETS = ("token",)
_CHANGED = {"name": "name", "avatar": "avatar_url", "description": "description", "owner_id": "owner_id"}


@dataclass(frozen=True, slots=True)
class LarkDecodeContext:
    """The bot whose reports are decoded, and the tenant of the report."""

    bot_id: str
    me: LarkAccount
    account: str = ""
    """The tenant, for an app that several tenants use."""

    def fields(self, event_id: str, timestamp: int = 0) -> dict[str, Any]:
        return {"event_id": event_id, "timestamp": timestamp, "bot_id": self.bot_id, "adapter_name": NAME}


def decode(report: Payload, context: LarkDecodeContext) -> list[IncomingEvent]:
    """Decodes a report into events; messages of bots produce none."""
    native_type = event_type(report)
    thread_id = ""
    try:
        events, thread_id = _events(native_type, report, context)
    except UNREADABLE as error:
        events = [malformed_event(NAME, context.bot_id, _public(report), type(error).__name__)]
    return [
        IncomingEvent(
            each.carrying(report),
            account=context.account,
            thread_id=thread_id,
            self_id=context.me.open_id,
            role=text(report, ROLE),
            native_type=native_type[:120],
        )
        for each in events
    ]


def event_type(report: Payload) -> str:
    """Returns Lark's name of an event, in the form of version 2 or of version 1."""
    return text(object_in(report, "header"), "event_type") or text(object_in(report, "event"), "type")


def tenant_of(report: Payload) -> str:
    return text(object_in(report, "header"), "tenant_key") or text(object_in(report, "event"), "tenant_key")


def chat_key(report: Payload) -> str:
    """Returns what orders a report among others: its chat, or its message."""
    event = object_in(report, "event")
    message = object_in(event, "message")
    context = object_in(event, "context")
    places = (
        text(message, "chat_id"),
        text(event, "chat_id"),
        text(context, "open_chat_id"),
        text(event, "message_id"),
    )
    return next(filter(None, places), event_type(report))


def _events(native_type: str, report: Payload, context: LarkDecodeContext) -> tuple[list[PlatformEvent], str]:
    """Returns the events of a report and the thread in which they happened."""
    header, event = object_in(report, "header"), report["event"]
    if not isinstance(event, dict):
        raise TypeError("an event is an object")
    moment = time_milliseconds(header["create_time"]) if "create_time" in header else 0
    identity = content_id(native_type, header.get("create_time"), _public(event))
    fields = context.fields(identity, moment)
    if native_type in NEED_CHAT and CHAT not in report:
        return [_specific(native_type, event, fields)], ""
    match native_type:
        case "im.message.receive_v1":
            return _message(report, event, context)
        case "im.message.recalled_v1":
            fields["event_id"] = f"d:{identifier(event.get('message_id'))}"
            return [MessageDeleted(message_id=identifier(event.get("message_id")), **_chat(report), **fields)], ""
        case "im.message.reaction.created_v1" | "im.message.reaction.deleted_v1":
            return _reaction(native_type, report, event, fields), ""
        case "im.chat.member.user.added_v1" | "im.chat.member.user.deleted_v1":
            return _membership(native_type, event, fields), ""
    return [_event(native_type, report, event, fields)], ""


def _event(native_type: str, report: Payload, event: Payload, fields: dict[str, Any]) -> PlatformEvent:
    match native_type:
        case "im.chat.member.bot.added_v1":
            return BotInvited(group=_group(event), inviter=_operator(event), **fields)
        case "im.chat.member.bot.deleted_v1" | "im.chat.disbanded_v1":
            return BotRemoved(group=_group(event), operator=_operator(event), **fields)
        case "im.chat.updated_v1":
            return _updated(event, fields)
        case "card.action.trigger":
            return _pressed(report, event, fields)
        case "application.bot.menu_v6":
            return _menu(report, event, fields)
    return _specific(native_type, event, fields)


def _chat(report: Payload) -> dict[str, Any]:
    """Returns the fields of the chat that was looked up. Raises KeyError if it was not found."""
    found = report[CHAT]
    group = {"group": Group(id=found["id"])} if found["type"] == "group" else {}
    return {"chat_type": found["type"], "chat_id": found["id"], **group}


def _person(report: Payload, ids: Any) -> User:
    return entities.user(open_id(ids), object_in(report, PROFILE))


def _message(report: Payload, event: Payload, context: LarkDecodeContext) -> tuple[list[PlatformEvent], str]:
    message, sender = event["message"], event["sender"]
    if sender.get("sender_type") in ("app", "anonymous_bot", "bot"):
        return [], ""
    message_id, sender_id = identifier(message.get("message_id")), open_id(sender.get("sender_id"))
    moment = time_milliseconds(message.get("create_time"))
    if message.get("chat_type") == "p2p":
        chat: dict[str, Any] = {"chat_type": "private", "chat_id": sender_id}
    else:
        group = entities.group(identifier(message.get("chat_id")), {})
        chat = {"chat_type": "group", "chat_id": group.id, "group": group}
    if not isinstance(message.get("message_type"), str):
        raise TypeError("a message has a type")
    received = MessageReceived(
        **context.fields(f"m:{message_id}", moment),
        **chat,
        message_id=message_id,
        message_chain=[Source(id=message_id, time=moment), *quote_of(message), *decode_chain(message)],
        sender=_person(report, sender_id),
    )
    return [received], thread_of(message)


def thread_of(message: Payload) -> str:
    """Returns the thread of a message by the message that began it, since answers in a thread need that."""
    return (text(message, "root_id") or text(message, "message_id")) if text(message, "thread_id") else ""


def _reaction(native_type: str, report: Payload, event: Payload, fields: dict[str, Any]) -> list[PlatformEvent]:
    if event.get("operator_type") == "app":
        return []
    reaction = MessageReaction(
        **fields,
        **_chat(report),
        message_id=identifier(event.get("message_id")),
        user=_person(report, event.get("user_id")),
        reaction=emoji_character(identifier(event["reaction_type"].get("emoji_type"))),
        is_add=native_type.endswith("created_v1"),
    )
    return [reaction]


def _group(event: Payload) -> Group:
    return Group(id=identifier(event.get("chat_id")), name=text(event, "name"))


def _operator(event: Payload) -> User | None:
    operator = object_in(event, "operator_id")
    return User(id=operator["open_id"]) if text(operator, "open_id") else None


def _membership(native_type: str, event: Payload, fields: dict[str, Any]) -> list[PlatformEvent]:
    """Decodes who joined or left; each user has an event of their own."""
    group, operator = _group(event), _operator(event)
    events: list[PlatformEvent] = []
    for place, each in enumerate(objects_in(event, "users")):
        person = entities.user(open_id(each.get("user_id")), each)
        member = GroupMember(user=person, group_id=group.id)
        other = operator if operator is not None and operator.id != person.id else None
        own = {**fields, "event_id": f"{fields['event_id']}:{place}"}
        if native_type.endswith("added_v1"):
            how: JoinType = "invite" if other else "direct"
            events.append(MemberJoined(group=group, member=member, inviter=other, join_type=how, **own))
        else:
            events.append(MemberLeft(group=group, member=member, is_kicked=other is not None, operator=other, **own))
    if not events:
        raise ValueError("nobody is named")
    return events


def _updated(event: Payload, fields: dict[str, Any]) -> PlatformEvent:
    before, after = object_in(event, "before_change"), object_in(event, "after_change")
    changed = [_CHANGED[name] for name in after if name in _CHANGED and after[name] != before.get(name)]
    group = entities.group(identifier(event.get("chat_id")), after)
    return GroupInfoUpdated(group=group, operator=_operator(event), changed_fields=changed, **fields)


def _pressed(report: Payload, event: Payload, fields: dict[str, Any]) -> PlatformEvent:
    """Decodes a press of a button: one of the bot's own, a rating of an answer, or one of another card."""
    place, action, user = object_in(event, "context"), event["action"], _person(report, event["operator"])
    value = action.get("value")
    own = value if isinstance(value, dict) else {}
    message_id = text(place, "open_message_id") or None
    if own.get(FEEDBACK) in (1, 2):
        return FeedbackReceived(
            **fields,
            feedback_id=f"{message_id}:{user.id}",
            feedback_type=own[FEEDBACK],
            user_id=user.id,
            message_id=message_id,
        )
    if isinstance(own.get(BUTTON), str):
        name, value = parse_button_data(own[BUTTON])
    else:
        name = text(action, "name") or text(action, "tag") or "card"
        given = {each: action[each] for each in ("form_value", "option", "options", "input_value") if action.get(each)}
        value = {"value": value, **given} if given else value
    return InteractionReceived(
        **fields,
        **_chat(report),
        interaction_id=fields["event_id"],
        user=user,
        action_id=name,
        value=value,
        message_id=message_id,
    )


def _menu(report: Payload, event: Payload, fields: dict[str, Any]) -> PlatformEvent:
    """Decodes a choice of the bot's menu, which exists only in private chats."""
    user = _person(report, object_in(event, "operator").get("operator_id"))
    return InteractionReceived(
        **fields,
        chat_type="private",
        chat_id=user.id,
        interaction_id=fields["event_id"],
        user=user,
        action_id=MENU,
        value=identifier(event.get("event_key")),
    )


def _specific(native_type: str, event: Payload, fields: dict[str, Any]) -> PlatformEvent:
    action = identifier(native_type)
    person = object_in(event, "operator_id") or object_in(object_in(event, "operator"), "operator_id")
    known = {"user_id": person["open_id"]} if text(person, "open_id") else {}
    return PlatformSpecific(
        type=f"platform.{NAME}.{action}", action=action, data={"payload": _public(event), **known}, **fields
    )


def _public(payload: Payload) -> Payload:
    """Returns a report without its secrets and without what was added to it."""
    own = (*SECRETS, PROFILE, CHAT, ROLE)
    kept = {name: value for name, value in payload.items() if name not in own}
    return {
        name: _public(value) if name == "header" and isinstance(value, dict) else value for name, value in kept.items()
    }
