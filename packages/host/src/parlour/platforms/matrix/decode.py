"""Converts a timeline event of a room into a platform event. Pure: data that has to be fetched is passed in.

An event that can't be read becomes `platform.matrix.malformed`, so that it is visible and does not affect other events.
State other than members, name, topic and picture of a room is ignored.
"""

import hashlib
import json
import re
from collections.abc import Collection
from typing import Any

from parlour.core.encoding import dumps
from parlour.core.platforms.port import IncomingEvent
from parlour_sdk.protocol.chain import MessageChain, Quote, Source
from parlour_sdk.protocol.people import Group
from parlour_sdk.protocol.platform_events import (
    BotInvited,
    BotRemoved,
    GroupInfoUpdated,
    JoinType,
    MemberBanned,
    MemberJoined,
    MemberLeft,
    MemberUnbanned,
    MessageDeleted,
    MessageEdited,
    MessageReaction,
    MessageReceived,
    PlatformEvent,
    PlatformSpecific,
)
from parlour_sdk.values import dataclass

from . import content
from .content import NO_REFERENCES, MessageReferences
from .rooms import MatrixRoom, local_part, server_of
from .values import NAME, Payload, mapping, number, required, text

MALFORMED = "malformed"
ENCRYPTED = "m.room.encrypted"
MAX_PAYLOAD_CHARACTERS = 4000
_NOT_A_NAME = re.compile(r"[^A-Za-z0-9_.]")
FIELDS = {"m.room.name": "name", "m.room.topic": "description", "m.room.avatar": "avatar_url"}
Common = dict[str, Any]


@dataclass(frozen=True, slots=True)
class Reaction:
    """A reaction as it was added; when it is withdrawn, the homeserver no longer reports its content."""

    message_id: str
    key: str
    user_id: str


@dataclass(frozen=True, slots=True)
class MatrixDecodeContext:
    """Context of decoding one event."""

    room: MatrixRoom
    own: str
    bot_id: str
    references: MessageReferences = NO_REFERENCES
    withdrawn: Reaction | None = None
    """The reaction that a redaction withdraws."""
    trusts_roles: bool = False
    """True if the operator trusts the server on which the room was created.

    Otherwise roles are ignored, because any user can create a room and own it.
    """
    bridge_bots: Collection[str] = ()
    """Users who are known as bots of bridges from any room."""


def decode(event: Any, context: MatrixDecodeContext) -> IncomingEvent | None:
    """Decodes an event. Returns None for the bot's own events and for events that are not reported."""
    native = {"room_id": context.room.room_id, **event} if isinstance(event, dict) else {"event": event}
    try:
        decoded = _event(native, context)
    except (ValueError, TypeError, KeyError, AttributeError) as error:  # pydantic's errors are ValueErrors
        decoded = malformed_event(native, context, type(error).__name__)
    if decoded is None:
        return None
    sender = text(native, "sender")
    return IncomingEvent(
        decoded.carrying(native),
        thread_id=content.thread_id(native) if isinstance(decoded, MessageReceived) else "",
        self_id=context.own,
        addresses_bot=isinstance(decoded, MessageReceived) and _addressed(native, context),
        role=_role(context, sender) if context.room.chat_type == "group" and sender else "",
        native_type=text(native, "type")[:120],
    )


def _role(context: MatrixDecodeContext, sender: str) -> str:
    """Returns the role that agents' rules use: the real one only in rooms of trusted servers."""
    return context.room.role(sender) if context.trusts_roles else "member"


def _event(event: Payload, context: MatrixDecodeContext) -> PlatformEvent | None:
    kind, sender = required(event, "type"), required(event, "sender")
    if "state_key" in event:
        return decode_state_event(event, context.room, context.own, event_fields(event, context.bot_id))
    if sender == context.own or _redacted(event):
        return None
    match kind:
        case "m.room.message" | content.STICKER:
            return _edit(event, context) if content.is_edit(event) else _message(event, context)
        case "m.reaction":
            return _reaction(event, context)
        case "m.room.redaction":
            return _redaction(event, context)
        case "m.room.encrypted":
            return platform_event(event, context, "encrypted", {"sender": sender})
    return platform_event(event, context, kind, {"content": mapping(event.get("content")), "sender": sender})


def _message(event: Payload, context: MatrixDecodeContext) -> MessageReceived:
    message_id, fields = required(event, "event_id"), event_fields(event, context.bot_id)
    source = Source(id=message_id, time=fields["timestamp"])
    return MessageReceived(
        **fields,
        **chat_fields(context.room),
        message_id=message_id,
        message_chain=[
            source,
            *_naming_authors(content.decode_chain(event, context.own, context.references), context.room),
        ],
        sender=context.room.user(event["sender"], is_bot=_is_bot(event, context)),
    )


def _is_bot(event: Payload, context: MatrixDecodeContext) -> bool:
    """Returns whether a message is from a program: by its kind, or from the bot of a bridge. Ghosts are people."""
    is_notice = mapping(event["content"]).get("msgtype") == "m.notice"
    return is_notice or event["sender"] in context.room.bridge.bots or event["sender"] in context.bridge_bots


def _naming_authors(chain: MessageChain, room: MatrixRoom) -> MessageChain:
    """Adds the name that the author of a quoted message has in the room."""
    return [
        each.model_copy(update={"name": room.name_of(each.sender)}) if isinstance(each, Quote) and each.sender else each
        for each in chain
    ]


def _edit(event: Payload, context: MatrixDecodeContext) -> MessageEdited:
    replaced = {**event, "content": mapping(event["content"])["m.new_content"], "unsigned": {}}
    return MessageEdited(
        **event_fields(event, context.bot_id),
        **chat_fields(context.room),
        message_id=required(content.relation(event), "event_id"),
        new_content=content.decode_chain(replaced, context.own, context.references),
        editor=context.room.user(event["sender"]),
    )


def _reaction(event: Payload, context: MatrixDecodeContext) -> MessageReaction:
    reaction = parse_reaction(event)
    return MessageReaction(
        **event_fields(event, context.bot_id),
        **chat_fields(context.room),
        message_id=reaction.message_id,
        user=context.room.user(reaction.user_id),
        reaction=reaction.key,
        is_add=True,
    )


def parse_reaction(event: Payload) -> Reaction:
    """Parses a reaction event. Raises ValueError if it is none."""
    relation = content.relation(event)
    return Reaction(required(relation, "event_id"), required(relation, "key"), required(event, "sender"))


def redacted_id(event: Payload) -> str:
    """Returns the id of the redacted event; its place depends on the room version."""
    return text(mapping(event.get("content")), "redacts") or text(event, "redacts")


def _redaction(event: Payload, context: MatrixDecodeContext) -> PlatformEvent:
    message_id = redacted_id(event)
    if not message_id:
        raise ValueError("redacts is missing")
    fields, user = (
        {**event_fields(event, context.bot_id), **chat_fields(context.room)},
        context.room.user(event["sender"]),
    )
    if context.withdrawn is None:
        return MessageDeleted(**fields, message_id=message_id, operator=user)
    reaction = context.withdrawn
    return MessageReaction(**fields, message_id=reaction.message_id, user=user, reaction=reaction.key, is_add=False)


def _redacted(event: Payload) -> bool:
    """True if the event was redacted before the bot received it."""
    return "redacted_because" in mapping(event.get("unsigned"))


def _addressed(event: Payload, context: MatrixDecodeContext) -> bool:
    """Returns whether the sender's client mentions the bot or the message replies to one of the bot's messages."""
    quoted = context.references.quoted
    is_reply_to_bot = quoted is not None and quoted.get("sender") == context.own
    return is_reply_to_bot or context.own in content.mentioned_ids(mapping(event.get("content")))


def chat_fields(room: MatrixRoom) -> dict[str, Any]:
    group = {"group": room.group} if room.chat_type == "group" else {}
    return {"chat_type": room.chat_type, "chat_id": room.chat_id, **group}


def event_fields(event: Payload, bot_id: str) -> dict[str, Any]:
    time = number(event.get("origin_server_ts"))
    if time is None:
        raise ValueError("origin_server_ts is no moment")
    return {"event_id": required(event, "event_id"), "timestamp": time, "bot_id": bot_id, "adapter_name": NAME}


def platform_event(event: Payload, context: MatrixDecodeContext, kind: str, data: Payload) -> PlatformSpecific:
    """Builds a platform-specific event for a kind that has no common event type."""
    action = _NOT_A_NAME.sub("_", kind)[:100]
    chat = {"chat_type": context.room.chat_type, "chat_id": context.room.chat_id}
    fields = event_fields(event, context.bot_id)
    return PlatformSpecific(**fields, type=f"platform.{NAME}.{action}", action=action, data={**data, **chat})


def malformed_event(event: Payload, context: MatrixDecodeContext, problem: str) -> PlatformSpecific:
    content_id = hashlib.sha256(json.dumps(event, sort_keys=True).encode()).hexdigest()[:32]
    stable = {
        **event,
        "event_id": text(event, "event_id") or content_id,
        "origin_server_ts": number(event.get("origin_server_ts")) or 0,
    }
    return platform_event(
        stable, context, MALFORMED, {"problem": problem, "payload": dumps(event)[:MAX_PAYLOAD_CHARACTERS]}
    )


def decode_state_event(event: Payload, room: MatrixRoom, own_id: str, common: Common) -> PlatformEvent | None:
    if event["type"] == "m.room.member":
        return _member(event, room, own_id, common)
    if event["type"] == "m.room.tombstone":
        return _upgrade(event, room, common)
    field = FIELDS.get(event["type"])
    if field is None or event["sender"] == own_id:
        return None
    operator = room.user(event["sender"])
    return GroupInfoUpdated(**common, group=room.group, operator=operator, changed_fields=[field])


def _upgrade(event: Payload, room: MatrixRoom, common: Common) -> PlatformSpecific:
    """Reports that a room was replaced by another one, which the bot joins. The chat keeps its id."""
    content_ = mapping(event["content"])
    data = {
        "replacement_room": required(content_, "replacement_room"),
        "sender": event["sender"],
        "chat_type": room.chat_type,
        "chat_id": room.chat_id,
    }
    kind = f"platform.{NAME}.room_upgraded"
    return PlatformSpecific(**common, type=kind, action="room_upgraded", data=data)


def _member(event: Payload, room: MatrixRoom, own_id: str, common: Common) -> PlatformEvent | None:
    user_id, now = required(event, "state_key"), required(mapping(event["content"]), "membership")
    previous = text(mapping(mapping(event.get("unsigned")).get("prev_content")), "membership") or "leave"
    by_other = event["sender"] != user_id
    if user_id == own_id:
        return _own_membership(event, room, common, now, by_other)
    fields: dict[str, Any] = {**common, "group": room.group, "member": room.member(user_id)}
    operator = room.user(event["sender"]) if by_other else None
    match previous, now:
        case (("leave" | "invite" | "knock"), "join"):
            return MemberJoined(**fields, join_type=_join_type(previous))
        case "join", "leave":
            return MemberLeft(**fields, is_kicked=by_other, operator=operator)
        case previous, "ban" if previous != "ban":
            return MemberBanned(**fields, operator=operator)
        case "ban", "leave":
            return MemberUnbanned(**fields, operator=operator)
    return None


def _own_membership(event: Payload, room: MatrixRoom, common: Common, now: str, by_other: bool) -> PlatformEvent | None:
    if now in ("leave", "ban") and by_other:
        return BotRemoved(**common, group=room.group, operator=room.user(event["sender"]))
    return None


def _join_type(previous: str) -> JoinType:
    if previous == "invite":
        return "invite"
    return "request" if previous == "knock" else "direct"


def own_invites(state: list[Payload], own_id: str) -> list[Payload]:
    """Returns the membership events by which the bot is invited.

    The bot's homeserver adds the invitation that it verified to the stripped state, which the inviter's server wrote
    and can forge. So there may be several, of which one is genuine, at a position that no specification defines.
    """
    return [
        each
        for each in state
        if each.get("type") == "m.room.member"
        and each.get("state_key") == own_id
        and mapping(each.get("content")).get("membership") == "invite"
    ]


def genuine_invite(state: list[Payload], own_id: str) -> Payload:
    """Returns the invitation whose sender is checked: the one from another server if there are several."""
    invites = own_invites(state, own_id)
    strangers = [each for each in invites if server_of(text(each, "sender")) != server_of(own_id)]
    return (strangers or invites or [{}])[-1]


def invitation(invite: Payload, state: list[Payload], common: Common) -> BotInvited:
    """Builds the event of an invitation. `state` is the stripped state of a room that the bot has not joined."""
    room = MatrixRoom(invite["room_id"])
    for each in state:
        room.apply_state(each)
    inviter = room.user(required(invite, "sender"))
    display_name = room.group.name or inviter.nickname or local_part(inviter.id)
    group = Group(id=room.room_id, name=display_name, description=room.group.description)
    return BotInvited(**common, group=group, inviter=inviter, request_id=room.room_id)
