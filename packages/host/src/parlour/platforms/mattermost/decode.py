"""Converts events of Mattermost's WebSocket into common events. Pure: what has to be looked up is already in it.

An event that can't be read becomes `platform.mattermost.malformed`, so that it is visible and does not affect others.
"""

import json
from typing import Any

from parlour.core.platforms.port import IncomingEvent
from parlour.platforms._kit.emoji_names import emoji_character
from parlour.platforms._kit.payloads import (
    UNREADABLE,
    Payload,
    content_id,
    identifier,
    malformed_event,
    object_in,
    text,
)
from parlour_sdk.protocol.chain import Source
from parlour_sdk.protocol.people import Group, GroupMember, User
from parlour_sdk.protocol.platform_events import (
    BotInvited,
    BotRemoved,
    GroupInfoUpdated,
    MemberJoined,
    MemberLeft,
    MessageDeleted,
    MessageEdited,
    MessageReaction,
    MessageReceived,
    PlatformSpecific,
)
from parlour_sdk.values import dataclass

from . import entities
from .content import decode_chain
from .entities import NAME, MattermostAccount, time_milliseconds

KNOWN_KEY = "known"
"""Key under which what was looked up is added to an event: channel, user, member, names, files, root, last_post."""
SYSTEM_PREFIX = "system_"
JOINED = ("system_join_channel", "system_add_to_channel")
LEFT = ("system_leave_channel", "system_remove_from_channel")
CHANGED_USERS = ("addedUserId", "added_user_id", "removedUserId", "removed_user_id")
"""Properties of system posts that name the user who was added or removed by another one."""
REPEATED = (
    "system_header_change", "system_displayname_change", "system_purpose_change",
    "system_join_team", "system_add_to_team", "system_leave_team", "system_remove_from_team", "system_ephemeral",
)  # fmt: skip
"""Types of system posts that another event reports too, or that concern no channel."""
IGNORED = (
    "hello", "typing", "status_change", "user_added", "user_updated", "direct_added", "group_added", "channel_viewed",
    "multiple_channels_viewed", "preference_changed", "preferences_changed", "preferences_deleted", "response",
    "sidebar_category_created", "sidebar_category_updated", "sidebar_category_deleted", "config_changed",
    "sidebar_category_order_updated", "license_changed", "post_unread", "ephemeral_message", "channel_member_updated",
    "thread_updated", "thread_follow_changed", "thread_read_changed", "plugin_statuses_changed", "draft_created",
    "draft_updated", "draft_deleted",
)  # fmt: skip
"""Events about what a user sees, or that a system post reports with its time."""


@dataclass(frozen=True, slots=True)
class MattermostDecodeContext:
    """The bot whose events are decoded."""

    bot_id: str
    me: MattermostAccount

    def fields(self, event_id: str, timestamp: Any = 0) -> dict[str, Any]:
        moment = time_milliseconds(timestamp)
        return {"event_id": event_id, "timestamp": moment, "bot_id": self.bot_id, "adapter_name": NAME}


def decode(event: Any, context: MattermostDecodeContext) -> list[IncomingEvent]:
    """Decodes an event of the WebSocket; the bot's own posts produce none."""
    try:
        incoming = _incoming(event, context)
    except UNREADABLE as error:
        malformed = malformed_event(NAME, context.bot_id, public(event), type(error).__name__)
        incoming = [IncomingEvent(malformed)]
    payload = event if isinstance(event, dict) else {}
    return [
        IncomingEvent(
            each.event.carrying(public(event)),
            thread_id=each.thread_id,
            self_id=context.me.id,
            addresses_bot=each.addresses_bot,
            role=each.role,
            locale=text(object_in(object_in(payload, KNOWN_KEY), "user"), "locale").lower()[:35],
            native_type=str(payload.get("event"))[:120],
        )
        for each in incoming
    ]


def read_object(value: Any) -> Payload:
    """Reads an object that Mattermost packs into a text. Raises ValueError or TypeError."""
    found = json.loads(value) if isinstance(value, str) else value
    if not isinstance(found, dict):
        raise TypeError("an object is expected")
    return found


def public(event: Any) -> Any:
    """Returns an event as Mattermost sent it, without its number."""
    if not isinstance(event, dict):
        return event
    return {name: value for name, value in event.items() if name not in (KNOWN_KEY, "seq")}


def channel_of(event: Payload) -> str:
    """Returns the channel that an event is about; empty if there is none."""
    data = object_in(event, "data")
    return text(object_in(event, "broadcast"), "channel_id") or text(data, "channel_id")


def _incoming(event: Payload, context: MattermostDecodeContext) -> list[IncomingEvent]:
    kind, data, known = identifier(event["event"]), event["data"], object_in(event, KNOWN_KEY)
    if not isinstance(data, dict):
        raise TypeError("the data of an event is an object")
    match kind:
        case "posted":
            return _posted(read_object(data["post"]), data, known, context)
        case "post_edited":
            return _edited(read_object(data["post"]), known, context)
        case "post_deleted":
            return _deleted(read_object(data["post"]), text(data, "delete_by"), known, context)
        case "reaction_added" | "reaction_removed":
            return _reaction(kind, read_object(data["reaction"]), channel_of(event), known, context)
        case "channel_updated" if "channel" in data:
            channel = read_object(data["channel"])
            group = entities.group(channel)
            moment = time_milliseconds(channel.get("update_at"))
            return [IncomingEvent(GroupInfoUpdated(group=group, **context.fields(f"c:{group.id}:{moment}", moment)))]
        case "user_removed":
            return _removed(data, event, known, context)
        case _ if kind in IGNORED:
            return []
    return [_specific(kind, public(event), channel_of(event), known, context.fields(content_id(public(event))))]


def _chat(channel_id: str, known: Payload) -> dict[str, Any]:
    channel = object_in(known, "channel")
    chat_type = entities.chat_type(text(channel, "type"))
    group = {"group": Group(id=channel_id, name=text(channel, "display_name"))} if chat_type == "group" else {}
    return {"chat_type": chat_type, "chat_id": channel_id, **group}


def _person(user_id: str, known: Payload) -> User:
    person = object_in(known, "user")
    return entities.user(person) if person.get("id") == user_id else User(id=user_id)


def _author(post: Payload, known: Payload) -> User:
    """Returns the author of a post. A webhook posts in the name of its owner and may show another one."""
    props = object_in(post, "props")
    person = _person(identifier(post.get("user_id")), known)
    is_bot = person.is_bot or any(props.get(name) in ("true", True) for name in ("from_bot", "from_webhook"))
    shown = text(props, "override_username")
    return person.model_copy(update={"is_bot": is_bot, **({"nickname": shown} if shown else {})})


def _role(known: Payload) -> str:
    return entities.role(object_in(known, "member"), object_in(known, "user")) if object_in(known, "member") else ""


def _posted(post: Payload, data: Payload, known: Payload, context: MattermostDecodeContext) -> list[IncomingEvent]:
    kind = post.get("type") or ""
    if not isinstance(kind, str):
        raise TypeError("the type of a post is a text")
    post_id, author_id = identifier(post.get("id")), identifier(post.get("user_id"))
    fields = context.fields(f"p:{post_id}", post.get("create_at"))
    if kind.startswith(SYSTEM_PREFIX):
        return _system(kind, post, known, fields, context)
    if author_id == context.me.id:
        return []
    channel_id = identifier(post.get("channel_id"))
    if not object_in(known, "channel") and text(data, "channel_type"):
        names = {"type": text(data, "channel_type"), "display_name": text(data, "channel_display_name")}
        known = {**known, "channel": names}
    moment = fields["timestamp"]
    event = MessageReceived(
        **fields,
        **_chat(channel_id, known),
        message_id=post_id,
        message_chain=[Source(id=post_id, time=moment), *_content(post, known)],
        sender=_author(post, known),
    )
    answers_bot = text(object_in(known, "root"), "user_id") == context.me.id
    return [IncomingEvent(event, thread_id=text(post, "root_id"), addresses_bot=answers_bot, role=_role(known))]


def _content(post: Payload, known: Payload) -> Any:
    names = {name: each for name, each in object_in(known, "names").items() if isinstance(each, str)}
    if "files" in known:
        post = {**post, "metadata": {**object_in(post, "metadata"), "files": known["files"]}}
    return decode_chain(post, names)


def _edited(post: Payload, known: Payload, context: MattermostDecodeContext) -> list[IncomingEvent]:
    """Decodes an edit of the text. Mattermost also reports pinned posts and changed properties as edits."""
    post_id, author_id = identifier(post.get("id")), identifier(post.get("user_id"))
    if author_id == context.me.id:
        return []
    moment = time_milliseconds(post.get("edit_at") or 0)
    channel_id = identifier(post.get("channel_id"))
    if not moment:
        updated_at = time_milliseconds(post.get("update_at") or 0)
        fields = context.fields(f"u:{post_id}:{updated_at}", updated_at)
        return [_specific("post_updated", post, channel_id, known, fields)]
    event = MessageEdited(
        **context.fields(f"e:{post_id}:{moment}", moment),
        **_chat(channel_id, known),
        message_id=post_id,
        new_content=_content(post, known),
        editor=_author(post, known),
    )
    return [IncomingEvent(event, thread_id=text(post, "root_id"), role=_role(known))]


def _deleted(post: Payload, operator_id: str, known: Payload, context: MattermostDecodeContext) -> list[IncomingEvent]:
    post_id = identifier(post.get("id"))
    event = MessageDeleted(
        **context.fields(f"d:{post_id}", post.get("delete_at") or post.get("update_at") or 0),
        **_chat(identifier(post.get("channel_id")), known),
        message_id=post_id,
        operator=User(id=operator_id) if operator_id else None,
    )
    return [IncomingEvent(event, thread_id=text(post, "root_id"))]


def _reaction(
    kind: str, reaction: Payload, channel_id: str, known: Payload, context: MattermostDecodeContext
) -> list[IncomingEvent]:
    user_id, post_id = identifier(reaction.get("user_id")), identifier(reaction.get("post_id"))
    if user_id == context.me.id:
        return []
    name = identifier(reaction.get("emoji_name"))
    times = [time_milliseconds(reaction.get(each) or 0) for each in ("create_at", "update_at", "delete_at")]
    event_id = f"r:{content_id(kind, post_id, user_id, name, *times)}"
    event = MessageReaction(
        **context.fields(event_id, max(times)),
        **_chat(identifier(channel_id), known),
        message_id=post_id,
        user=_person(user_id, known),
        reaction=emoji_character(name),
        is_add=kind == "reaction_added",
    )
    return [IncomingEvent(event, role=_role(known))]


def _removed(data: Payload, event: Payload, known: Payload, context: MattermostDecodeContext) -> list[IncomingEvent]:
    """Decodes the removal of the bot. That of others is reported by a system post, which has a time."""
    channel_id = channel_of(event)
    removed_id = text(data, "user_id") or text(object_in(event, "broadcast"), "user_id")
    if removed_id != context.me.id or not channel_id:
        return []
    operator = User(id=text(data, "remover_id")) if text(data, "remover_id") else None
    event_id = f"x:{content_id(channel_id, text(known, 'last_post'))}"
    group = Group(id=channel_id, name=text(object_in(known, "channel"), "display_name"))
    return [IncomingEvent(BotRemoved(group=group, operator=operator, **context.fields(event_id)))]


def _system(
    kind: str, post: Payload, known: Payload, fields: dict[str, Any], context: MattermostDecodeContext
) -> list[IncomingEvent]:
    """Decodes a post of the server, which tells about a change of the channel."""
    if kind in REPEATED:
        return []
    channel_id = identifier(post.get("channel_id"))
    if kind not in (*JOINED, *LEFT):
        return [_specific(kind, post, channel_id, known, fields)]
    actor_id, user_id = identifier(post.get("user_id")), _changed_user(post)
    group = Group(id=channel_id, name=text(object_in(known, "channel"), "display_name"))
    operator = User(id=actor_id) if actor_id != user_id else None
    member = GroupMember(user=_person(user_id, known), group_id=channel_id)
    if user_id == context.me.id:
        return [IncomingEvent(BotInvited(group=group, inviter=operator, **fields))] if kind in JOINED else []
    if kind in JOINED:
        join_type: Any = "invite" if operator else None
        joined = MemberJoined(group=group, member=member, inviter=operator, join_type=join_type, **fields)
        return [IncomingEvent(joined)]
    left = MemberLeft(group=group, member=member, is_kicked=operator is not None, operator=operator, **fields)
    return [IncomingEvent(left)]


def _changed_user(post: Payload) -> str:
    """Returns the user whom a system post is about: one who was added or removed, or its author."""
    props = object_in(post, "props")
    return next(filter(None, (text(props, name) for name in CHANGED_USERS)), "") or text(post, "user_id")


def _specific(action: str, payload: Payload, channel_id: str, known: Payload, fields: dict[str, Any]) -> IncomingEvent:
    place: dict[str, Any] = {}
    if channel_id:
        place = _chat(channel_id, known)
        place.pop("group", None)
    user_id = text(payload, "user_id") or text(object_in(payload, "data"), "user_id")
    known_user = {"user_id": user_id} if user_id else {}
    event = PlatformSpecific(
        type=f"platform.{NAME}.{action}", action=action, data={"payload": payload, **place, **known_user}, **fields
    )
    return IncomingEvent(event, thread_id=text(payload, "root_id") if place else "")


def user_of(event: Payload, content: Payload) -> str:
    """Returns the user whom an event with this post or reaction is about; empty if it names none."""
    return _changed_user(content) or text(object_in(event, "data"), "user_id")
