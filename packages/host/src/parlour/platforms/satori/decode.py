"""Converts an event of a Satori server into common events. Pure: files of the server were fetched before.

An event that can't be read becomes `platform.satori.malformed`, so that it is visible and does not affect others.
"""

import re
from contextlib import suppress
from typing import Any

from parlour.core.platforms.port import IncomingEvent
from parlour.platforms._kit.buttons import parse_button_data
from parlour.platforms._kit.payloads import (
    UNREADABLE,
    Payload,
    content_id,
    identifier,
    malformed_event,
    number,
    object_in,
    text,
)
from parlour_sdk.protocol.chain import MessageChain, Quote, Source, Unknown
from parlour_sdk.protocol.people import Group, GroupMember, User
from parlour_sdk.protocol.platform_events import (
    BotInvited,
    BotRemoved,
    FriendAdded,
    FriendRemoved,
    FriendRequestReceived,
    GroupInfoUpdated,
    InteractionReceived,
    MemberJoined,
    MemberLeft,
    MessageDeleted,
    MessageEdited,
    MessageReaction,
    MessageReceived,
    PlatformEvent,
    PlatformSpecific,
)
from parlour_sdk.values import dataclass

from . import entities
from .content import Files, read_content
from .entities import DIRECT, NAME, SatoriLogin

_PLAIN_ID = re.compile(r"[A-Za-z0-9_.:+=@-]{1,200}")
VOLATILE = ("sn", "id", "login")
"""Fields of an event that differ between two reports of it, or that say nothing about it."""


@dataclass(frozen=True, slots=True)
class SatoriDecodeContext:
    """The bot whose events are decoded, and the files that were fetched for an event."""

    bot_id: str
    files: Files


def decode(body: Any, context: SatoriDecodeContext) -> list[IncomingEvent]:
    """Decodes an event; the bot's own messages produce none."""
    kind = str(body.get("type") if isinstance(body, dict) else "")[:120]
    try:
        login = entities.login_of(body)
        events = _events(body, login, context)
    except UNREADABLE as error:
        malformed = malformed_event(NAME, context.bot_id, body, type(error).__name__)
        return [IncomingEvent(malformed.carrying(body), native_type=kind)]
    member = object_in(body, "member")
    quote = object_in(object_in(body, "message"), "quote")
    return [
        IncomingEvent(
            each.carrying(body),
            account=login.account,
            self_id=login.self_id,
            addresses_bot=object_in(quote, "user").get("id") == login.self_id,
            role=entities.role(member) if member else "",
            native_type=kind,
        )
        for each in events
    ]


def _events(body: Payload, login: SatoriLogin, context: SatoriDecodeContext) -> list[PlatformEvent]:
    kind = identifier(body["type"])
    timestamp = number(body.get("timestamp", body.get("created_at")))
    if timestamp is None:
        raise ValueError("an event has a time in milliseconds")
    fields: dict[str, Any] = {
        "event_id": _event_id(kind, body, login),
        "timestamp": timestamp,
        "bot_id": context.bot_id,
        "adapter_name": NAME,
    }
    if kind.startswith("message-"):
        return _message(kind, body, login, fields, context)
    if kind.startswith("reaction-"):
        return _reaction(kind, body, login, fields)
    if kind == "interaction/button":
        return [_pressed(body, fields)]
    known = _relation(kind, body, fields)
    return [known if known is not None else _specific(kind, body, fields)]


def _event_id(kind: str, body: Payload, login: SatoriLogin) -> str:
    """Returns an id that is the same at each report. The server's own numbers begin again when it restarts."""
    message_id = object_in(body, "message").get("id")
    if kind == "message-created" and message_id:
        named = f"{login.platform}:{login.self_id}:{identifier(message_id)}"
        return named if _PLAIN_ID.fullmatch(named) else content_id(named)
    return content_id(login.account, {name: value for name, value in body.items() if name not in VOLATILE})


def _chat(body: Payload, login: SatoriLogin) -> dict[str, Any]:
    """Returns the chat of an event. A direct channel is the private chat of the user in it."""
    channel = body.get("channel")
    if not isinstance(channel, dict):
        raise TypeError("this event has a channel")
    channel_id = identifier(channel.get("id"))
    if channel.get("type") == DIRECT:
        person = object_in(body, "user").get("id")
        is_other = isinstance(person, str | int) and str(person) != login.self_id and person != ""
        return {"chat_type": "private", "chat_id": str(person) if is_other else channel_id}
    name = text(channel, "name") or text(object_in(body, "guild"), "name")
    return {"chat_type": "group", "chat_id": channel_id, "group": Group(id=channel_id, name=name)}


def _message(
    kind: str, body: Payload, login: SatoriLogin, fields: dict[str, Any], context: SatoriDecodeContext
) -> list[PlatformEvent]:
    message, chat = body["message"], _chat(body, login)
    message_id = identifier(message["id"])
    person = object_in(message, "user") or object_in(body, "user")
    if kind == "message-deleted":
        operator = object_in(body, "operator") or object_in(body, "user")
        return [
            MessageDeleted(
                **fields, **chat, message_id=message_id, operator=entities.user(operator) if operator else None
            )
        ]
    if identifier(person.get("id")) == login.self_id:
        return []
    author = entities.user(person, object_in(body, "member") or object_in(message, "member"))
    chain = message_chain(message, context.files)
    if kind == "message-updated":
        return [MessageEdited(**fields, **chat, message_id=message_id, new_content=chain, editor=author)]
    if kind != "message-created":
        return [_specific(kind, body, fields)]
    source = Source(id=message_id, time=fields["timestamp"])
    return [MessageReceived(**fields, **chat, message_id=message_id, message_chain=[source, *chain], sender=author)]


def message_chain(message: Payload, files: Files) -> MessageChain:
    """Converts the content of a message, with the quoted one before it."""
    content = message.get("content")
    if not isinstance(content, str):
        raise TypeError("the content of a message is a text")
    chain = read_content(content, files)
    quote = object_in(message, "quote")
    if quote and not any(isinstance(each, Quote) for each in chain):
        author = object_in(quote, "user")
        quoted = Quote(
            id=identifier(quote["id"]) if quote.get("id") else None,
            sender=text(author, "id") or None,
            name=text(author, "nick") or text(author, "name") or None,
            origin=read_content(text(quote, "content"), {}),
        )
        chain = [quoted, *chain]
    return chain or [Unknown(text="[an empty message]")]


def _reaction(kind: str, body: Payload, login: SatoriLogin, fields: dict[str, Any]) -> list[PlatformEvent]:
    person = object_in(body, "user") or object_in(body, "operator")
    if identifier(person.get("id")) == login.self_id:
        return []
    emoji = object_in(body, "emoji")
    reaction = emoji.get("id") or emoji.get("name") or object_in(body, "message").get("content")
    event = MessageReaction(
        **fields,
        **_chat(body, login),
        message_id=identifier(object_in(body, "message").get("id")),
        user=entities.user(person),
        reaction=identifier(reaction),
        is_add=kind == "reaction-added",
    )
    return [event]


def _pressed(body: Payload, fields: dict[str, Any]) -> PlatformEvent:
    button = body["button"]
    data = text(button, "data")
    action_id, value = parse_button_data(data) if data else (identifier(button.get("id")), None)
    return InteractionReceived(
        **fields,
        **_chat(body, entities.login_of(body)),
        interaction_id=fields["event_id"],
        user=entities.user(object_in(body, "user") or object_in(body, "operator")),
        action_id=action_id,
        value=value,
        message_id=text(object_in(body, "message"), "id") or None,
    )


def _relation(kind: str, body: Payload, fields: dict[str, Any]) -> PlatformEvent | None:
    """Returns the event of a guild, its members, or friends; None for another kind."""
    guild = object_in(body, "guild") or object_in(body, "channel")
    person, operator = object_in(body, "user"), object_in(body, "operator")
    actor = entities.user(operator) if operator else None
    request_id = object_in(body, "message").get("id")
    match kind:
        case "guild-member-added" | "guild-member-removed":
            group = entities.group(guild)
            member = GroupMember(user=entities.user(person, object_in(body, "member")), group_id=group.id)
            if kind == "guild-member-added":
                return MemberJoined(group=group, member=member, inviter=actor, **fields)
            is_kicked = actor is not None and actor.id != member.user.id
            return MemberLeft(group=group, member=member, operator=actor, is_kicked=is_kicked, **fields)
        case "guild-added" | "guild-request":
            request: dict[str, Any] = {"request_id": identifier(request_id)} if kind == "guild-request" else {}
            inviter = entities.user(person) if person else actor
            return BotInvited(group=entities.group(guild), inviter=inviter, **request, **fields)
        case "guild-removed":
            return BotRemoved(group=entities.group(guild), operator=actor, **fields)
        case "guild-updated":
            return GroupInfoUpdated(group=entities.group(guild), operator=actor, **fields)
        case "channel-updated":
            return GroupInfoUpdated(group=entities.group(body["channel"]), operator=actor, **fields)
        case "friend-request":
            message = text(object_in(body, "message"), "content") or None
            request_of = entities.user(person)
            return FriendRequestReceived(request_id=identifier(request_id), user=request_of, message=message, **fields)
        case "friend-added":
            return FriendAdded(user=entities.user(person), **fields)
        case "friend-removed":
            return FriendRemoved(user=entities.user(person), **fields)
    return None


def _specific(kind: str, body: Payload, fields: dict[str, Any]) -> PlatformEvent:
    """Returns any other event; one of the platform behind the server has its name in `_type`."""
    native = text(body, "_type") if kind == "internal" else kind
    action = "".join(each if each.isascii() and each.isalnum() else "_" for each in native or kind)[:100]
    data: dict[str, Any] = {"payload": {name: value for name, value in body.items() if name != "login"}}
    person: User | None = None
    with suppress(*UNREADABLE):
        data |= {name: value for name, value in _chat(body, entities.login_of(body)).items() if name != "group"}
    if object_in(body, "user").get("id"):
        person = entities.user(object_in(body, "user"))
        data["user_id"] = person.id
    return PlatformSpecific(type=f"platform.{NAME}.{action}", action=action, data=data, **fields)
