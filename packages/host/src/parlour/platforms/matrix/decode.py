"""Converts a timeline event of a room into a platform event. Pure: data that has to be fetched is passed in.

An event that can't be read becomes `platform.matrix.malformed`, so that it is visible and does not affect other events.
"""

import hashlib
import json
import re
from typing import Any

from parlour.core.encoding import dumps
from parlour.core.platforms.port import IncomingEvent
from parlour_sdk.protocol.chain import MessageChain, Quote, Source
from parlour_sdk.protocol.platform_events import (
    MessageDeleted,
    MessageEdited,
    MessageReaction,
    MessageReceived,
    PlatformEvent,
    PlatformSpecific,
)
from parlour_sdk.values import dataclass

from . import content, membership, mentions
from .content import NO_REFERENCES, MessageReferences
from .rooms import MatrixRoom
from .values import NAME, Payload, mapping, number, required, text

MALFORMED = "malformed"
ENCRYPTED = "m.room.encrypted"
MAX_PAYLOAD_CHARACTERS = 4000
_NOT_A_NAME = re.compile(r"[^A-Za-z0-9_.]")


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


def decode(event: Any, seen: MatrixDecodeContext) -> IncomingEvent | None:
    """Decodes an event. Returns None for the bot's own events and for events that are not reported."""
    native = {"room_id": seen.room.room_id, **event} if isinstance(event, dict) else {"event": event}
    try:
        decoded = _event(native, seen)
    except (ValueError, TypeError, KeyError, AttributeError) as error:  # pydantic's errors are ValueErrors
        decoded = malformed_event(native, seen, type(error).__name__)
    if decoded is None:
        return None
    sender = text(native, "sender")
    return IncomingEvent(
        decoded.carrying(native),
        thread_id=content.thread_id(native) if isinstance(decoded, MessageReceived) else "",
        self_id=seen.own,
        addresses_bot=isinstance(decoded, MessageReceived) and _addressed(native, seen),
        role=_role(seen, sender) if seen.room.chat_type == "group" and sender else "",
        native_type=text(native, "type")[:120],
    )


def _role(seen: MatrixDecodeContext, sender: str) -> str:
    """Returns the role that agents' rules use: the real one only in rooms of trusted servers."""
    return seen.room.role(sender) if seen.trusts_roles else "member"


def _event(event: Payload, seen: MatrixDecodeContext) -> PlatformEvent | None:
    kind, sender = required(event, "type"), required(event, "sender")
    if "state_key" in event:
        return membership.decode_state_event(event, seen.room, seen.own, event_fields(event, seen.bot_id))
    if sender == seen.own or _redacted(event):
        return None
    match kind:
        case "m.room.message" | content.STICKER:
            return _edit(event, seen) if content.is_edit(event) else _message(event, seen)
        case "m.reaction":
            return _reaction(event, seen)
        case "m.room.redaction":
            return _redaction(event, seen)
        case "m.room.encrypted":
            return platform_event(event, seen, "encrypted", {"sender": sender})
    return platform_event(event, seen, kind, {"content": mapping(event.get("content")), "sender": sender})


def _message(event: Payload, seen: MatrixDecodeContext) -> MessageReceived:
    message_id, said = required(event, "event_id"), event_fields(event, seen.bot_id)
    source = Source(id=message_id, time=said["timestamp"])
    return MessageReceived(
        **said,
        **chat_fields(seen.room),
        message_id=message_id,
        message_chain=[source, *_naming_authors(content.decode_chain(event, seen.own, seen.references), seen.room)],
        sender=seen.room.user(event["sender"], is_bot=mapping(event["content"]).get("msgtype") == "m.notice"),
    )


def _naming_authors(chain: MessageChain, room: MatrixRoom) -> MessageChain:
    """Adds the name that the author of a quoted message has in the room."""
    return [
        each.model_copy(update={"name": room.name_of(each.sender)}) if isinstance(each, Quote) and each.sender else each
        for each in chain
    ]


def _edit(event: Payload, seen: MatrixDecodeContext) -> MessageEdited:
    replaced = {**event, "content": mapping(event["content"])["m.new_content"], "unsigned": {}}
    return MessageEdited(
        **event_fields(event, seen.bot_id),
        **chat_fields(seen.room),
        message_id=required(content.relation(event), "event_id"),
        new_content=content.decode_chain(replaced, seen.own, seen.references),
        editor=seen.room.user(event["sender"]),
    )


def _reaction(event: Payload, seen: MatrixDecodeContext) -> MessageReaction:
    made = parse_reaction(event)
    return MessageReaction(
        **event_fields(event, seen.bot_id),
        **chat_fields(seen.room),
        message_id=made.message_id,
        user=seen.room.user(made.user_id),
        reaction=made.key,
        is_add=True,
    )


def parse_reaction(event: Payload) -> Reaction:
    """Parses a reaction event. Raises ValueError if it is none."""
    told = content.relation(event)
    return Reaction(required(told, "event_id"), required(told, "key"), required(event, "sender"))


def redacted_id(event: Payload) -> str:
    """Returns the id of the redacted event; its place depends on the room version."""
    return text(mapping(event.get("content")), "redacts") or text(event, "redacts")


def _redaction(event: Payload, seen: MatrixDecodeContext) -> PlatformEvent:
    message_id = redacted_id(event)
    if not message_id:
        raise ValueError("redacts is missing")
    said, user = {**event_fields(event, seen.bot_id), **chat_fields(seen.room)}, seen.room.user(event["sender"])
    if seen.withdrawn is None:
        return MessageDeleted(**said, message_id=message_id, operator=user)
    made = seen.withdrawn
    return MessageReaction(**said, message_id=made.message_id, user=user, reaction=made.key, is_add=False)


def _redacted(event: Payload) -> bool:
    """True if the event was redacted before the bot received it."""
    return "redacted_because" in mapping(event.get("unsigned"))


def _addressed(event: Payload, seen: MatrixDecodeContext) -> bool:
    """Returns whether the sender's client mentions the bot or the message replies to one of the bot's messages."""
    quoted = seen.references.quoted
    answered = quoted is not None and quoted.get("sender") == seen.own
    return answered or seen.own in mentions.mentioned_ids(mapping(event.get("content")))


def chat_fields(room: MatrixRoom) -> dict[str, Any]:
    group = {"group": room.group} if room.chat_type == "group" else {}
    return {"chat_type": room.chat_type, "chat_id": room.room_id, **group}


def event_fields(event: Payload, bot_id: str) -> dict[str, Any]:
    time = number(event.get("origin_server_ts"))
    if time is None:
        raise ValueError("origin_server_ts is no moment")
    return {"event_id": required(event, "event_id"), "timestamp": time, "bot_id": bot_id, "adapter_name": NAME}


def platform_event(event: Payload, seen: MatrixDecodeContext, kind: str, data: Payload) -> PlatformSpecific:
    """Builds a platform-specific event for a kind that has no common event type."""
    action = _NOT_A_NAME.sub("_", kind)[:100]
    chat = {"chat_type": seen.room.chat_type, "chat_id": seen.room.room_id}
    said = event_fields(event, seen.bot_id)
    return PlatformSpecific(**said, type=f"platform.{NAME}.{action}", action=action, data={**data, **chat})


def malformed_event(event: Payload, seen: MatrixDecodeContext, problem: str) -> PlatformSpecific:
    content_id = hashlib.sha256(json.dumps(event, sort_keys=True).encode()).hexdigest()[:32]
    stable = {
        **event,
        "event_id": text(event, "event_id") or content_id,
        "origin_server_ts": number(event.get("origin_server_ts")) or 0,
    }
    return platform_event(
        stable, seen, MALFORMED, {"problem": problem, "payload": dumps(event)[:MAX_PAYLOAD_CHARACTERS]}
    )
