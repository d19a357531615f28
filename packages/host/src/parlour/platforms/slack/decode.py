"""Converts what Slack reports into common events. Pure: what has to be looked up is already in it.

A report that can't be read becomes `platform.slack.malformed`, so that it is visible and does not affect others.
"""

from typing import Any

from parlour.core.platforms.port import IncomingEvent
from parlour.platforms._kit.buttons import parse_button_data
from parlour.platforms._kit.emoji_names import emoji_character
from parlour.platforms._kit.payloads import (
    UNREADABLE,
    Payload,
    content_id,
    identifier,
    malformed_event,
    object_in,
    objects_in,
    text,
    texts_in,
)
from parlour_sdk.protocol.chain import Source
from parlour_sdk.protocol.people import Group, GroupMember, User
from parlour_sdk.protocol.platform_events import (
    BotInvited,
    BotRemoved,
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
from .content import decode_chain
from .entities import NAME, SlackAccount, time_milliseconds

EVENT, INTERACTIVE, COMMAND = "events_api", "interactive", "slash_commands"
"""Kinds of reports, as Socket Mode names them."""
WRITTEN = (None, "file_share", "thread_broadcast", "me_message", "bot_message")
"""Subtypes of messages that somebody wrote."""
REPEATED = (
    "channel_join", "channel_leave", "group_join", "group_leave", "channel_name", "group_name", "message_replied",
)  # fmt: skip
"""Subtypes of messages that another event reports too."""
USER_KEY = "sender_profile"
"""Key under which the profile of the user who caused a report is added to it."""
OWN_ACTION = "parlour-"
"""Beginning of the action ids of the bot's own buttons, whose value contains the actual ones."""
SECRETS = ("token", "response_url", "response_urls")


@dataclass(frozen=True, slots=True)
class SlackDecodeContext:
    """The bot whose reports are decoded."""

    bot_id: str
    me: SlackAccount

    def fields(self, event_id: str, timestamp: int = 0) -> dict[str, Any]:
        return {"event_id": event_id, "timestamp": timestamp, "bot_id": self.bot_id, "adapter_name": NAME}

    def chat(self, channel: Any, kind: str = "") -> dict[str, Any]:
        channel_id = identifier(channel)
        chat_type = entities.chat_type(channel_id, kind)
        group = {"group": Group(id=channel_id)} if chat_type == "group" else {}
        return {"chat_type": chat_type, "chat_id": channel_id, **group}


def decode(kind: str, payload: Payload, context: SlackDecodeContext) -> list[IncomingEvent]:
    """Decodes a report into events; the bot's own messages produce none."""
    try:
        incoming = _incoming(kind, payload, context)
    except UNREADABLE as error:
        malformed = malformed_event(NAME, context.bot_id, _public(payload), type(error).__name__)
        incoming = [IncomingEvent(malformed)]
    profile = object_in(payload, USER_KEY)
    role = entities.role(profile) if profile else ""
    native_type = (text(object_in(payload, "event"), "type") or text(payload, "type") or kind)[:120]
    return [
        IncomingEvent(
            each.event.carrying(payload),
            thread_id=each.thread_id,
            self_id=context.me.user_id,
            role=role,
            locale=text(profile, "locale").lower()[:35],
            native_type=native_type,
        )
        for each in incoming
    ]


def _incoming(kind: str, payload: Payload, context: SlackDecodeContext) -> list[IncomingEvent]:
    if kind == COMMAND:
        return [_command(payload, context)]
    if kind == INTERACTIVE:
        return _interactions(payload, context)
    event = payload["event"]
    if not isinstance(event, dict):
        raise TypeError("an event is an object")
    person = object_in(payload, USER_KEY)
    event_id = text(payload, "event_id") or content_id(_public(payload))
    fields = context.fields(event_id, _time(event))
    match event.get("type"):
        case "message" | "app_mention":
            return _message(event, person, fields, context)
        case "reaction_added" | "reaction_removed":
            return _reaction(event, person, fields, context)
        case "member_joined_channel" | "member_left_channel":
            return [IncomingEvent(_membership(event, person, fields, context))]
        case "channel_left" | "group_left" | "channel_deleted" | "group_deleted":
            return [IncomingEvent(BotRemoved(group=Group(id=identifier(event.get("channel"))), **fields))]
        case "channel_rename" | "group_rename":
            channel = entities.group(event["channel"])
            return [IncomingEvent(GroupInfoUpdated(group=channel, changed_fields=["name"], **fields))]
    return [_specific(identifier(event.get("type")), event, fields, context)]


def _time(event: Payload) -> int:
    moment = event.get("event_ts") or event.get("ts")
    return time_milliseconds(moment) if moment is not None else 0


def _message(
    event: Payload, person: Payload, fields: dict[str, Any], context: SlackDecodeContext
) -> list[IncomingEvent]:
    subtype = event.get("subtype")
    match subtype:
        case "message_changed":
            return _edited(event, person, fields, context)
        case "message_deleted":
            return [_deleted(event, fields, context)]
        case _ if subtype in REPEATED:
            return []
        case _ if subtype not in WRITTEN:
            return [_specific(f"message_{identifier(subtype)}", event, fields, context)]
    if context.me.is_own(event):
        return []
    chat = context.chat(event.get("channel"), text(event, "channel_type"))
    moment = identifier(event.get("ts"))
    received = MessageReceived(
        **{**fields, "event_id": f"m:{chat['chat_id']}:{moment}", "timestamp": time_milliseconds(moment)},
        **chat,
        message_id=moment,
        message_chain=[Source(id=moment, time=time_milliseconds(moment)), *decode_chain(event)],
        sender=_author(event, person),
    )
    return [IncomingEvent(received, thread_id=_thread(event))]


def _author(event: Payload, person: Payload) -> User:
    """Returns who wrote a message. One of another app may have no user."""
    if person:
        return entities.user(person)
    name = text(event, "username") or text(object_in(event, "bot_profile"), "name")
    is_bot = bool(event.get("bot_id")) or event.get("subtype") == "bot_message"
    return User(id=identifier(event.get("user") or event.get("bot_id")), nickname=name, is_bot=is_bot)


def _thread(message: Payload) -> str:
    """Returns the thread of a message. The message that began it is not in it."""
    thread = text(message, "thread_ts")
    return thread if thread != message.get("ts") else ""


def _edited(
    event: Payload, person: Payload, fields: dict[str, Any], context: SlackDecodeContext
) -> list[IncomingEvent]:
    """Decodes an edit by a person. Slack also reports a change when it adds the preview of a link or a reply."""
    message, before = event["message"], object_in(event, "previous_message")
    if message.get("text") == before.get("text") or context.me.is_own(message):
        return []
    chat = context.chat(event.get("channel"), text(event, "channel_type"))
    moment = identifier(message.get("ts"))
    edited_at = text(object_in(message, "edited"), "ts") or text(event, "event_ts")
    edited = MessageEdited(
        **{**fields, "event_id": f"e:{chat['chat_id']}:{moment}:{edited_at}"},
        **chat,
        message_id=moment,
        new_content=decode_chain(message),
        editor=_author(message, person),
    )
    return [IncomingEvent(edited, thread_id=_thread(message))]


def _deleted(event: Payload, fields: dict[str, Any], context: SlackDecodeContext) -> IncomingEvent:
    chat = context.chat(event.get("channel"), text(event, "channel_type"))
    moment = identifier(event.get("deleted_ts"))
    deleted = MessageDeleted(**{**fields, "event_id": f"d:{chat['chat_id']}:{moment}"}, **chat, message_id=moment)
    return IncomingEvent(deleted, thread_id=_thread(object_in(event, "previous_message")))


def _reaction(
    event: Payload, person: Payload, fields: dict[str, Any], context: SlackDecodeContext
) -> list[IncomingEvent]:
    user_id, item = identifier(event.get("user")), object_in(event, "item")
    if user_id == context.me.user_id or item.get("type") != "message":
        return []
    reaction = MessageReaction(
        **fields,
        **context.chat(item.get("channel")),
        message_id=identifier(item.get("ts")),
        user=entities.user(person) if person else User(id=user_id),
        reaction=emoji_character(identifier(event.get("reaction"))),
        is_add=event["type"] == "reaction_added",
    )
    return [IncomingEvent(reaction)]


def _membership(event: Payload, person: Payload, fields: dict[str, Any], context: SlackDecodeContext) -> PlatformEvent:
    group, user_id = Group(id=identifier(event.get("channel"))), identifier(event.get("user"))
    is_join = event["type"] == "member_joined_channel"
    inviter = User(id=text(event, "inviter")) if text(event, "inviter") else None
    if user_id == context.me.user_id:
        return BotInvited(group=group, inviter=inviter, **fields) if is_join else BotRemoved(group=group, **fields)
    user = entities.user(person) if person else User(id=user_id)
    member = GroupMember(user=user, group_id=group.id, role=entities.role(person))
    if is_join:
        return MemberJoined(
            group=group, member=member, inviter=inviter, join_type="invite" if inviter else None, **fields
        )
    return MemberLeft(group=group, member=member, **fields)


def _interactions(payload: Payload, context: SlackDecodeContext) -> list[IncomingEvent]:
    """Decodes pressed buttons and chosen options; each has its own event."""
    if payload.get("type") != "block_actions":
        fields = context.fields(content_id(_public(payload)))
        return [_specific(identifier(payload.get("type")), payload, fields, context)]
    place = object_in(payload, "container")
    channel = text(object_in(payload, "channel"), "id") or place.get("channel_id")
    incoming = []
    for action in objects_in(payload, "actions"):
        moment, action_id = text(action, "action_ts"), identifier(action.get("action_id"))
        interaction_id = f"{moment}:{identifier(payload['user'].get('id'))}:{action_id}"
        name, value = _pressed(action_id, action)
        event = InteractionReceived(
            **context.fields(f"i:{interaction_id}", time_milliseconds(moment)),
            **context.chat(channel),
            interaction_id=interaction_id,
            user=_interacting(payload),
            action_id=name,
            value=value,
            message_id=text(place, "message_ts") or None,
        )
        incoming.append(IncomingEvent(event, thread_id=text(place, "thread_ts")))
    return incoming


def _pressed(action_id: str, action: Payload) -> tuple[str, Any]:
    """Returns action id and value: those of the bot's own button, or those that another program gave."""
    value = action.get("value")
    if action_id.startswith(OWN_ACTION) and isinstance(value, str):
        return parse_button_data(value)
    chosen = [text(each, "value") for each in objects_in(action, "selected_options")]
    chosen += [text(object_in(action, "selected_option"), "value")] if "selected_option" in action else []
    chosen += [text(action, name) for name in action if name.startswith("selected_") and isinstance(action[name], str)]
    return action_id, value if value is not None else chosen or texts_in(action, "selected_users") or None


def _interacting(payload: Payload) -> User:
    person = object_in(payload, USER_KEY)
    known = payload["user"]
    return (
        entities.user(person)
        if person
        else User(id=identifier(known.get("id")), username=text(known, "username") or None)
    )


def _command(payload: Payload, context: SlackDecodeContext) -> IncomingEvent:
    interaction_id = identifier(payload.get("trigger_id"))
    person = object_in(payload, USER_KEY)
    user = User(id=identifier(payload.get("user_id")), username=text(payload, "user_name") or None)
    event = InteractionReceived(
        **context.fields(f"i:{interaction_id}"),
        **context.chat(payload.get("channel_id")),
        interaction_id=interaction_id,
        user=entities.user(person) if person else user,
        action_id=identifier(payload.get("command")),
        value=text(payload, "text") or None,
    )
    return IncomingEvent(event)


def _specific(action: str, payload: Payload, fields: dict[str, Any], context: SlackDecodeContext) -> IncomingEvent:
    channel = payload.get("channel")
    place = context.chat(channel) if isinstance(channel, str) and channel else {}
    place.pop("group", None)
    person = payload.get("user")
    user_id = person if isinstance(person, str) else text(object_in(payload, "user"), "id")
    known = {"user_id": user_id} if user_id else {}
    event = PlatformSpecific(
        type=f"platform.{NAME}.{action}", action=action, data={"payload": _public(payload), **place, **known}, **fields
    )
    return IncomingEvent(event, thread_id=_thread(payload) if place else "")


def _public(payload: Payload) -> Payload:
    """Returns a report without what would let anyone answer it."""
    return {name: value for name, value in payload.items() if name not in (*SECRETS, USER_KEY)}


def user_of(kind: str, payload: Payload) -> str:
    """Returns the user who caused a report; empty if it names none."""
    if kind == COMMAND:
        return text(payload, "user_id")
    if kind == INTERACTIVE:
        return text(object_in(payload, "user"), "id")
    event = object_in(payload, "event")
    return text(event, "user") or text(object_in(event, "message"), "user")


def chat_of(kind: str, payload: Payload) -> str:
    """Returns the channel of a report, which orders it among others."""
    event = object_in(payload, "event")
    item = text(object_in(event, "item"), "channel")
    channel = event.get("channel") if isinstance(event.get("channel"), str) else ""
    return channel or item or text(payload, "channel_id") or f"{kind} without a channel"
