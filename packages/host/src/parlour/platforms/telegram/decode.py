"""Converts an update of Telegram into platform events. Pure: data that has to be fetched is already in it.

An update that can't be read becomes `platform.telegram.malformed`, so that it is visible and does not affect other
updates.
"""

import hashlib
import json
import re
from typing import Any

from parlour.core.encoding import dumps
from parlour.core.platforms.port import IncomingEvent
from parlour_sdk.protocol.chain import Source
from parlour_sdk.protocol.people import User
from parlour_sdk.protocol.platform_events import (
    GroupInfoUpdated,
    InteractionReceived,
    MessageEdited,
    MessageReaction,
    MessageReceived,
    PlatformEvent,
    PlatformSpecific,
)
from parlour_sdk.values import dataclass

from . import membership, users
from .buttons import parse_button_data
from .message_parts import decode_chain
from .users import BotAccount
from .values import NAME, Payload, identifier, object_in, time_milliseconds

MALFORMED = "malformed"
MAX_PAYLOAD_CHARACTERS = 4000
ROLE_KEY = "sender_role"
"""Key under which the sender's role is added to an update."""
MESSAGES = ("message", "channel_post")
EDITED_MESSAGES = ("edited_message", "edited_channel_post")
_JOINED = ("new_chat_members", "left_chat_member")
_UPDATED = {"new_chat_title": "name", "new_chat_photo": "avatar_url", "delete_chat_photo": "avatar_url"}
SERVICE = re.compile(
    r"migrate_(to|from)_chat_id|pinned_message|forum_topic_\w+|general_forum_topic_\w+|video_chat_\w+"
    r"|(supergroup|channel|group)_(chat_)?created|message_auto_delete_timer_changed|users_shared|chat_shared"
    r"|successful_payment|refunded_payment|write_access_allowed|web_app_data|boost_added|chat_background_set"
    r"|proximity_alert_triggered|connected_website|giveaway_\w+|gift|unique_gift|paid_message_price_changed"
)


LOCALE_CHARACTERS = 35


@dataclass(frozen=True, slots=True)
class TelegramDecodeContext:
    """The bot whose updates are decoded."""

    bot_id: str
    me: BotAccount


def decode(update: Payload, context: TelegramDecodeContext) -> list[IncomingEvent]:
    """Decodes an update into events, in order; the bot's own messages produce none."""
    kind = update_kind(update)
    try:
        told = _incoming(kind, update, context)
    except (ValueError, TypeError, KeyError, AttributeError, IndexError) as error:  # pydantic's errors are ValueErrors
        told = [IncomingEvent(_malformed(update, context, type(error).__name__), self_id=context.me.id)]
    locale = _locale(update.get(kind))
    return [IncomingEvent(each.event.carrying(update), **_rest(each, kind), locale=locale) for each in told]


def _rest(incoming: IncomingEvent, kind: str) -> dict[str, Any]:
    return {
        "thread_id": incoming.thread_id,
        "self_id": incoming.self_id,
        "addresses_bot": incoming.addresses_bot,
        "role": incoming.role,
        "native_type": kind[:120],
    }


def _locale(told: Any) -> str:
    """Returns the language of the user who caused the update, as reported by the user's Telegram client."""
    by = told.get("from") if isinstance(told, dict) else None
    code = by.get("language_code") if isinstance(by, dict) else None
    return code[:LOCALE_CHARACTERS] if isinstance(code, str) else ""


def update_kind(update: Payload) -> str:
    return next((name for name in update if name not in ("update_id", ROLE_KEY)), "")


def _incoming(kind: str, update: Payload, context: TelegramDecodeContext) -> list[IncomingEvent]:
    told = update[kind]
    if kind in MESSAGES:
        return _message(update, told, context)
    self_id, role = context.me.id, str(update.get(ROLE_KEY) or "")
    fields = event_fields(update, told, context)
    if kind in EDITED_MESSAGES:
        return [IncomingEvent(_edited(told, fields, context), thread_id=topic_id(told), self_id=self_id, role=role)]
    match kind:
        case "message_reaction":
            return [IncomingEvent(each, self_id=self_id, role=role) for each in _reactions(told, fields)]
        case "callback_query":
            where = object_in(told, "message")
            return [IncomingEvent(_pressed(told, fields), thread_id=topic_id(where), self_id=self_id, role=role)]
        case "chat_member" | "my_chat_member":
            changes = membership.events_from_update(told, context.bot_id, context.me)
            return [IncomingEvent(each, self_id=self_id) for each in changes]
    return [IncomingEvent(_specific(kind, told, fields), self_id=self_id)]


def _message(update: Payload, message: Payload, context: TelegramDecodeContext) -> list[IncomingEvent]:
    me, thread = context.me, topic_id(message)
    author = users.sender(message)
    if author.id == me.id:
        return []
    if any(name in message for name in _JOINED):
        changes = membership.events_from_service_message(message, context.bot_id, me)
        return [IncomingEvent(each, self_id=me.id) for each in changes]
    fields = event_fields(update, message, context)
    changed = [name for name in _UPDATED if name in message]
    if changed:
        return [IncomingEvent(_info(message, changed, author, fields), self_id=me.id)]
    service = next((name for name in message if SERVICE.fullmatch(name)), "")
    if service:
        return [IncomingEvent(_specific(service, message, fields), thread_id=thread, self_id=me.id)]
    role = "admin" if _speaks_for_group(message) else str(update.get(ROLE_KEY) or "")
    event = _received(message, author, fields, me)
    return [IncomingEvent(event, thread_id=thread, self_id=me.id, addresses_bot=_is_addressed(message, me), role=role)]


def event_fields(update: Payload, told: Payload, context: TelegramDecodeContext) -> dict[str, Any]:
    """Returns the fields that every event has. An update has the same number when it is delivered again."""
    when = _when(told)
    return {
        "event_id": f"{identifier(update['update_id'])}:{when}",
        "timestamp": when,
        "bot_id": context.bot_id,
        "adapter_name": NAME,
    }


def _when(told: Payload) -> int:
    """Returns the time of an update in milliseconds; 0 if Telegram sends none, as for a pressed button."""
    name = next((name for name in ("edit_date", "date") if name in told), "")
    return time_milliseconds(told, name) if name else 0


def topic_id(message: Payload) -> str:
    """Returns the topic of a message. Outside topics, a thread number only marks a reply to a reply."""
    topic = message.get("message_thread_id")
    return identifier(topic) if topic is not None and message.get("is_topic_message") is True else ""


def _place(chat: Payload) -> dict[str, Any]:
    kind = users.chat_type(chat)
    group = users.group(chat) if kind == "group" else None
    return {"chat_type": kind, "chat_id": identifier(chat["id"]), "group": group}


def _received(message: Payload, author: User, fields: dict[str, Any], me: BotAccount) -> MessageReceived:
    message_id = identifier(message["message_id"])
    source = Source(id=message_id, time=fields["timestamp"])
    chain = [source, *decode_chain(message, me)]
    return MessageReceived(
        message_id=message_id, message_chain=chain, sender=author, **_place(message["chat"]), **fields
    )


def _edited(message: Payload, fields: dict[str, Any], context: TelegramDecodeContext) -> MessageEdited:
    return MessageEdited(
        message_id=identifier(message["message_id"]),
        new_content=decode_chain(message, context.me),
        editor=users.sender(message),
        **_place(message["chat"]),
        **fields,
    )


def _info(message: Payload, changed: list[str], author: User, fields: dict[str, Any]) -> GroupInfoUpdated:
    named = list(dict.fromkeys(_UPDATED[name] for name in changed))
    return GroupInfoUpdated(group=users.group(message["chat"]), operator=author, changed_fields=named, **fields)


def _reactions(told: Payload, fields: dict[str, Any]) -> list[PlatformEvent]:
    """Builds one event for each reaction that was added or removed."""
    old, new = ([_reaction(each) for each in told[name]] for name in ("old_reaction", "new_reaction"))
    who = users.user(told.get("user") or told["actor_chat"])
    changes = [(each, False) for each in old if each not in new] + [(each, True) for each in new if each not in old]
    return [
        MessageReaction(
            message_id=identifier(told["message_id"]),
            user=who,
            reaction=reaction,
            is_add=added,
            **_place(told["chat"]),
            **{**fields, "event_id": f"{fields['event_id']}:{place}"},
        )
        for place, (reaction, added) in enumerate(changes)
    ]


def _reaction(told: Payload) -> str:
    return str(told.get("emoji") or told.get("custom_emoji_id") or told["type"])


def _pressed(query: Payload, fields: dict[str, Any]) -> PlatformEvent:
    message = object_in(query, "message")
    if not message:
        return _specific("callback_query", query, fields)
    action, value = parse_button_data(str(query.get("data") or query.get("game_short_name") or ""))
    return InteractionReceived(
        interaction_id=identifier(query["id"]),
        user=users.user(query["from"]),
        action_id=action,
        value=value,
        message_id=identifier(message["message_id"]),
        **_place(message["chat"]),
        **fields,
    )


def _is_addressed(message: Payload, me: BotAccount) -> bool:
    """Returns whether the message replies to one of the bot's messages or is a command with the bot's name."""
    answered = object_in(message, "reply_to_message")
    if answered and "forum_topic_created" not in answered and users.sender(answered).id == me.id:
        return True
    said = message.get("text")
    command = re.match(r"/\w+@(\w+)", said) if isinstance(said, str) else None
    return command is not None and me.matches_name(command[1])


def _speaks_for_group(message: Payload) -> bool:
    speaking, chat = object_in(message, "sender_chat"), message["chat"]
    return bool(speaking) and speaking.get("id") == chat["id"] and chat["type"] != "channel"


def _specific(kind: str, told: Any, fields: dict[str, Any]) -> PlatformSpecific:
    """Builds a platform-specific event, named as in the Bot API, with its chat."""
    if not re.fullmatch(r"\w{1,80}", kind) or not isinstance(told, dict):
        raise ValueError("the update has no kind")
    chat = object_in(told, "chat") or object_in(object_in(told, "message"), "chat")
    place = {"chat_type": users.chat_type(chat), "chat_id": identifier(chat["id"])} if chat else {}
    return PlatformSpecific(type=f"platform.{NAME}.{kind}", action=kind, data={**told, **place}, **fields)


def _malformed(update: Payload, context: TelegramDecodeContext, problem: str) -> PlatformSpecific:
    shown = json.dumps(update, sort_keys=True, default=str)
    return PlatformSpecific(
        type=f"platform.{NAME}.{MALFORMED}",
        event_id=hashlib.sha256(shown.encode(errors="replace")).hexdigest()[:32],
        timestamp=0,
        bot_id=context.bot_id,
        adapter_name=NAME,
        action=MALFORMED,
        data={"problem": problem, "payload": dumps(update)[:MAX_PAYLOAD_CHARACTERS]},
    )
