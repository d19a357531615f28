"""Converts an event of Discord's gateway into common events. Pure: what has to be looked up is already known.

An event that can't be read becomes `platform.discord.malformed`, so that it is visible and does not affect others.
"""

from collections.abc import Sequence
from typing import Any

from parlour.core.platforms.port import IncomingEvent
from parlour.platforms._kit.buttons import parse_button_data
from parlour.platforms._kit.payloads import (
    UNREADABLE,
    Payload,
    identifier,
    malformed_event,
    object_in,
    objects_in,
    text,
    texts_in,
)
from parlour_sdk.protocol.chain import Source
from parlour_sdk.protocol.people import ChatType, Group, User
from parlour_sdk.protocol.platform_events import (
    InteractionReceived,
    MessageDeleted,
    MessageEdited,
    MessageReaction,
    MessageReceived,
    PlatformEvent,
    PlatformSpecific,
)
from parlour_sdk.values import dataclass

from . import entities, guild_events
from .content import DiscordContentReader, emoji_name, mentions_bot
from .entities import NAME, DiscordAccount, snowflake_milliseconds, time_milliseconds
from .guilds import DiscordGuilds, role_ids

MESSAGE_TYPES = (0, 19, 20, 23)
"""Messages that somebody wrote: plain, a reply, and the results of commands."""
SERVICE_TYPES = {
    1: "recipient_add", 2: "recipient_remove", 6: "message_pinned", 7: "user_join", 8: "boost", 18: "thread_created",
    21: "thread_starter_message", 46: "poll_result",
}  # fmt: skip
COMPONENT, COMMAND, MODAL = 3, 2, 5
"""Types of interactions: a button or menu, a slash command, and a form."""
IGNORED = ("READY", "RESUMED", "TYPING_START", "PRESENCE_UPDATE", "VOICE_SERVER_UPDATE")
"""Events that concern the session, or that are too many and say nothing to an agent."""
SECRET = "token"
"""Field of interactions with which anyone could answer them."""


@dataclass(frozen=True, slots=True)
class DiscordDecodeContext:
    """The bot whose events are decoded, and what is known about its servers."""

    bot_id: str
    me: DiscordAccount
    guilds: DiscordGuilds
    session_id: str

    def fields(self, event_id: str, timestamp: int = 0) -> dict[str, Any]:
        """Returns the fields that every event has."""
        return {"event_id": event_id, "timestamp": timestamp, "bot_id": self.bot_id, "adapter_name": NAME}

    def chat(self, data: Payload) -> dict[str, Any]:
        """Returns the fields of an event in a chat. Without a server the chat is private."""
        chat_type: ChatType = "group" if data.get("guild_id") else "private"
        chat_id, _ = self.guilds.place(identifier(data.get("channel_id")))
        fields: dict[str, Any] = {"chat_type": chat_type, "chat_id": chat_id}
        if chat_type == "group":
            guild_id = identifier(data.get("guild_id"))
            fields["group"] = Group(id=guild_id, name=self.guilds.name(guild_id))
        return fields

    def role(self, data: Payload, member: Payload, user_id: str) -> str:
        """Returns the role of an event's actor in the server, as far as it is known."""
        guild_id = text(data, "guild_id")
        return self.guilds.role_of(guild_id, user_id, role_ids(member)) or "" if guild_id and member else ""


def decode(frame: Payload, changed: list[str] | None, context: DiscordDecodeContext) -> list[IncomingEvent]:
    """Decodes a dispatched event. `changed` is what `DiscordGuilds.update` returned for it."""
    kind = frame.get("t")
    if kind in IGNORED or changed is None:
        return []
    try:
        incoming = _incoming(identifier(kind), frame, changed, context)
    except UNREADABLE as error:
        malformed = malformed_event(NAME, context.bot_id, _without_sequence(frame), type(error).__name__)
        incoming = [IncomingEvent(malformed, self_id=context.me.id)]
    return [IncomingEvent(each.event.carrying(frame), **_rest(each, str(kind))) for each in incoming]


def _rest(incoming: IncomingEvent, kind: str) -> dict[str, Any]:
    names = ("thread_id", "self_id", "addresses_bot", "role", "locale")
    return {**{name: getattr(incoming, name) for name in names}, "native_type": kind[:120]}


def _without_sequence(frame: Payload) -> Payload:
    return {name: frame.get(name) for name in ("t", "d")}


def _incoming(kind: str, frame: Payload, changed: list[str], context: DiscordDecodeContext) -> list[IncomingEvent]:
    data = frame["d"]
    if not isinstance(data, dict):
        raise TypeError("an event's data is an object")
    numbered = context.fields(f"{context.session_id}:{identifier(frame['s'])}")
    match kind:
        case "MESSAGE_CREATE":
            return _message(data, context)
        case "MESSAGE_UPDATE":
            return _edited(data, context)
        case "MESSAGE_DELETE":
            return [_deleted(data, identifier(data.get("id")), context)]
        case "MESSAGE_DELETE_BULK":
            return [_deleted(data, each, context) for each in texts_in(data, "ids")]
        case "MESSAGE_REACTION_ADD" | "MESSAGE_REACTION_REMOVE":
            return _reaction(data, kind.endswith("ADD"), numbered, context)
        case "INTERACTION_CREATE" if data.get("type") in (COMPONENT, COMMAND, MODAL):
            return [_interaction(data, context)]
    events = guild_events.events(kind, data, changed, numbered, context.guilds, context.me)
    if events is None:
        return [_specific(kind.lower(), data, numbered, context)]
    return [IncomingEvent(each, self_id=context.me.id) for each in events]


def _message(message: Payload, context: DiscordDecodeContext) -> list[IncomingEvent]:
    author = _author(message)
    native_id = identifier(message.get("id"))
    if author.id == context.me.id:
        return []
    fields = context.fields(f"m:{native_id}", snowflake_milliseconds(native_id))
    if (kind := message.get("type", 0)) not in MESSAGE_TYPES:
        return [_specific(SERVICE_TYPES.get(kind, f"message_{identifier(kind)}"), message, fields, context)]
    reader = DiscordContentReader(context.me, context.guilds)
    message_id = reader.message_id(identifier(message.get("channel_id")), native_id)
    event = MessageReceived(
        **fields,
        **context.chat(message),
        message_id=message_id,
        message_chain=[Source(id=message_id, time=fields["timestamp"]), *reader.chain(message)],
        sender=author,
    )
    return [_in_chat(event, message, author.id, context, mentions_bot(message, context.me))]


def _edited(message: Payload, context: DiscordDecodeContext) -> list[IncomingEvent]:
    """Decodes an edit by a person. Discord also updates a message when it adds the preview of a link."""
    edited_at = message.get("edited_timestamp")
    author = _author(message)
    if edited_at is None or author.id == context.me.id:
        return []
    reader = DiscordContentReader(context.me, context.guilds)
    native_id = identifier(message.get("id"))
    event = MessageEdited(
        **context.fields(f"e:{native_id}:{edited_at}", time_milliseconds(edited_at)),
        **context.chat(message),
        message_id=reader.message_id(identifier(message.get("channel_id")), native_id),
        new_content=reader.chain(message),
        editor=author,
    )
    return [_in_chat(event, message, author.id, context)]


def _author(message: Payload) -> User:
    return entities.user(message["author"], object_in(message, "member"), is_bot=bool(message.get("webhook_id")))


def _deleted(data: Payload, native_id: str, context: DiscordDecodeContext) -> IncomingEvent:
    reader = DiscordContentReader(context.me, context.guilds)
    event = MessageDeleted(
        **context.fields(f"d:{native_id}"),
        **context.chat(data),
        message_id=reader.message_id(identifier(data.get("channel_id")), native_id),
    )
    return _in_chat(event, data, "", context)


def _reaction(data: Payload, is_add: bool, numbered: Payload, context: DiscordDecodeContext) -> list[IncomingEvent]:
    user_id, member = identifier(data.get("user_id")), object_in(data, "member")
    if user_id == context.me.id:
        return []
    reader = DiscordContentReader(context.me, context.guilds)
    event = MessageReaction(
        **numbered,
        **context.chat(data),
        message_id=reader.message_id(identifier(data.get("channel_id")), identifier(data.get("message_id"))),
        user=entities.user({**object_in(member, "user"), "id": user_id}, member),
        reaction=emoji_name(data["emoji"]),
        is_add=is_add,
    )
    return [_in_chat(event, data, user_id, context)]


def _interaction(data: Payload, context: DiscordDecodeContext) -> IncomingEvent:
    interaction_id = identifier(data.get("id"))
    member, message = object_in(data, "member"), object_in(data, "message")
    person = entities.user(object_in(member, "user") or data["user"], member)
    action_id, value = _pressed(data["type"], data["data"])
    reader = DiscordContentReader(context.me, context.guilds)
    channel_id = identifier(data.get("channel_id"))
    event = InteractionReceived(
        **context.fields(f"i:{interaction_id}", snowflake_milliseconds(interaction_id)),
        **context.chat(data),
        interaction_id=interaction_id,
        user=person,
        action_id=action_id,
        value=value,
        message_id=reader.message_id(channel_id, text(message, "id")) if text(message, "id") else None,
    )
    incoming = _in_chat(event, data, person.id, context)
    return IncomingEvent(**{**_rest(incoming, ""), "event": event, "locale": text(data, "locale").lower()[:35]})


def _pressed(kind: int, control: Payload) -> tuple[str, Any]:
    """Returns action id and value: of a button, of a menu's choices, of a form's fields, or of a command's options."""
    if kind == COMMAND:
        return identifier(control.get("name")), {
            text(each, "name"): each.get("value") for each in objects_in(control, "options")
        } or None
    action_id, value = parse_button_data(identifier(control.get("custom_id")))
    if kind == MODAL:
        inputs = [each for row in objects_in(control, "components") for each in objects_in(row, "components")]
        return action_id, {text(each, "custom_id"): each.get("value") for each in inputs}
    return action_id, texts_in(control, "values") or value


def _specific(action: str, data: Payload, fields: dict[str, Any], context: DiscordDecodeContext) -> IncomingEvent:
    place = context.chat(data) if isinstance(data.get("channel_id"), str) else {}
    place.pop("group", None)
    person = {"user_id": text(data, "user_id") or text(object_in(data, "user"), "id")}
    event = PlatformSpecific(
        type=f"platform.{NAME}.{action}",
        action=action,
        data={
            "payload": {name: value for name, value in data.items() if name != SECRET},
            **place,
            **{name: value for name, value in person.items() if value},
        },
        **fields,
    )
    return _in_chat(event, data, "", context)


def _in_chat(
    event: PlatformEvent, data: Payload, user_id: str, context: DiscordDecodeContext, addresses_bot: bool = False
) -> IncomingEvent:
    channel_id = text(data, "channel_id")
    return IncomingEvent(
        event,
        thread_id=context.guilds.place(channel_id)[1] if channel_id else "",
        self_id=context.me.id,
        addresses_bot=addresses_bot,
        role=context.role(data, object_in(data, "member"), user_id) if user_id else "",
    )


def chat_key(frame: Payload) -> Sequence[str]:
    """Returns what orders an event among others: its channel or server. A pressed button waits for nothing."""
    data = frame.get("d")
    if not isinstance(data, dict) or frame.get("t") == "INTERACTION_CREATE":
        return ("interaction", str(frame.get("s")))
    return ("channel", text(data, "channel_id")) if data.get("channel_id") else ("guild", text(data, "guild_id"))
