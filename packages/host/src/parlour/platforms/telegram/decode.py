"""Converts an update of Telegram into platform events. Pure: data that has to be fetched is already in it.

An update that can't be read becomes `platform.telegram.malformed`, so that it is visible and does not affect other
updates.
"""

import re
from typing import Any

from parlour.core.platforms.port import IncomingEvent
from parlour.platforms._kit.buttons import parse_button_data
from parlour.platforms._kit.payloads import malformed_event
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

from . import entities, membership
from .content import decode_chain
from .entities import NAME, BotAccount, Payload, identifier, object_in, time_milliseconds

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
        incoming = _incoming(kind, update, context)
    except (ValueError, TypeError, KeyError, AttributeError, IndexError) as error:  # pydantic's errors are ValueErrors
        incoming = [_malformed(update, context, error)]
    locale = _locale(update.get(kind))
    return [IncomingEvent(each.event.carrying(update), **_rest(each, kind), locale=locale) for each in incoming]


def _rest(incoming: IncomingEvent, kind: str) -> dict[str, Any]:
    return {
        "thread_id": incoming.thread_id,
        "self_id": incoming.self_id,
        "addresses_bot": incoming.addresses_bot,
        "role": incoming.role,
        "native_type": kind[:120],
    }


def _locale(payload: Any) -> str:
    """Returns the language of the user who caused the update, as reported by the user's Telegram client."""
    author = payload.get("from") if isinstance(payload, dict) else None
    code = author.get("language_code") if isinstance(author, dict) else None
    return code[:LOCALE_CHARACTERS] if isinstance(code, str) else ""


def update_kind(update: Payload) -> str:
    return next((name for name in update if name not in ("update_id", ROLE_KEY)), "")


def _incoming(kind: str, update: Payload, context: TelegramDecodeContext) -> list[IncomingEvent]:
    content = update[kind]
    if kind in MESSAGES:
        return _message(update, content, context)
    self_id, role = context.me.id, str(update.get(ROLE_KEY) or "")
    fields = event_fields(update, content, context)
    if kind in EDITED_MESSAGES:
        return [
            IncomingEvent(_edited(content, fields, context), thread_id=topic_id(content), self_id=self_id, role=role)
        ]
    match kind:
        case "message_reaction":
            return [IncomingEvent(each, self_id=self_id, role=role) for each in _reactions(content, fields)]
        case "callback_query":
            message = object_in(content, "message")
            return [IncomingEvent(_pressed(content, fields), thread_id=topic_id(message), self_id=self_id, role=role)]
        case "chat_member" | "my_chat_member":
            changes = membership.events_from_update(content, context.bot_id, context.me)
            return [IncomingEvent(each, self_id=self_id) for each in changes]
    return [IncomingEvent(_specific(kind, content, fields), self_id=self_id)]


def _message(update: Payload, message: Payload, context: TelegramDecodeContext) -> list[IncomingEvent]:
    account, thread = context.me, topic_id(message)
    author = entities.sender(message)
    if author.id == account.id:
        return []
    if any(name in message for name in _JOINED):
        changes = membership.events_from_service_message(message, context.bot_id, account)
        return [IncomingEvent(each, self_id=account.id) for each in changes]
    fields = event_fields(update, message, context)
    changed = [name for name in _UPDATED if name in message]
    if changed:
        return [IncomingEvent(_info(message, changed, author, fields), self_id=account.id)]
    service = next((name for name in message if SERVICE.fullmatch(name)), "")
    if service:
        return [IncomingEvent(_specific(service, message, fields), thread_id=thread, self_id=account.id)]
    role = "admin" if _speaks_for_group(message) else str(update.get(ROLE_KEY) or "")
    event = _received(message, author, fields, account)
    return [
        IncomingEvent(
            event, thread_id=thread, self_id=account.id, addresses_bot=_is_addressed(message, account), role=role
        )
    ]


def event_fields(update: Payload, payload: Payload, context: TelegramDecodeContext) -> dict[str, Any]:
    """Returns the fields that every event has. An update has the same number when it is delivered again."""
    timestamp = _timestamp(payload)
    return {
        "event_id": f"{identifier(update['update_id'])}:{timestamp}",
        "timestamp": timestamp,
        "bot_id": context.bot_id,
        "adapter_name": NAME,
    }


def _timestamp(payload: Payload) -> int:
    """Returns the time of an update in milliseconds; 0 if Telegram sends none, as for a pressed button."""
    name = next((name for name in ("edit_date", "date") if name in payload), "")
    return time_milliseconds(payload, name) if name else 0


def topic_id(message: Payload) -> str:
    """Returns the topic of a message. Outside topics, a thread number only marks a reply to a reply."""
    topic = message.get("message_thread_id")
    return identifier(topic) if topic is not None and message.get("is_topic_message") is True else ""


def _chat_fields(chat: Payload) -> dict[str, Any]:
    kind = entities.chat_type(chat)
    group = entities.group(chat) if kind == "group" else None
    return {"chat_type": kind, "chat_id": identifier(chat["id"]), "group": group}


def _received(message: Payload, author: User, fields: dict[str, Any], account: BotAccount) -> MessageReceived:
    message_id = identifier(message["message_id"])
    source = Source(id=message_id, time=fields["timestamp"])
    chain = [source, *decode_chain(message, account)]
    return MessageReceived(
        message_id=message_id, message_chain=chain, sender=author, **_chat_fields(message["chat"]), **fields
    )


def _edited(message: Payload, fields: dict[str, Any], context: TelegramDecodeContext) -> MessageEdited:
    return MessageEdited(
        message_id=identifier(message["message_id"]),
        new_content=decode_chain(message, context.me),
        editor=entities.sender(message),
        **_chat_fields(message["chat"]),
        **fields,
    )


def _info(message: Payload, changed: list[str], author: User, fields: dict[str, Any]) -> GroupInfoUpdated:
    changed_fields = list(dict.fromkeys(_UPDATED[name] for name in changed))
    return GroupInfoUpdated(
        group=entities.group(message["chat"]), operator=author, changed_fields=changed_fields, **fields
    )


def _reactions(payload: Payload, fields: dict[str, Any]) -> list[PlatformEvent]:
    """Builds one event for each reaction that was added or removed."""
    old_reactions, new_reactions = (
        [_reaction(each) for each in payload[name]] for name in ("old_reaction", "new_reaction")
    )
    user = entities.user(payload.get("user") or payload["actor_chat"])
    changes = [(each, False) for each in old_reactions if each not in new_reactions] + [
        (each, True) for each in new_reactions if each not in old_reactions
    ]
    return [
        MessageReaction(
            message_id=identifier(payload["message_id"]),
            user=user,
            reaction=reaction,
            is_add=added,
            **_chat_fields(payload["chat"]),
            **{**fields, "event_id": f"{fields['event_id']}:{index}"},
        )
        for index, (reaction, added) in enumerate(changes)
    ]


def _reaction(reaction: Payload) -> str:
    return str(reaction.get("emoji") or reaction.get("custom_emoji_id") or reaction["type"])


def _pressed(query: Payload, fields: dict[str, Any]) -> PlatformEvent:
    message = object_in(query, "message")
    if not message:
        return _specific("callback_query", query, fields)
    action, value = parse_button_data(str(query.get("data") or query.get("game_short_name") or ""))
    return InteractionReceived(
        interaction_id=identifier(query["id"]),
        user=entities.user(query["from"]),
        action_id=action,
        value=value,
        message_id=identifier(message["message_id"]),
        **_chat_fields(message["chat"]),
        **fields,
    )


def _is_addressed(message: Payload, account: BotAccount) -> bool:
    """Returns whether the message replies to one of the bot's messages or is a command with the bot's name."""
    replied = object_in(message, "reply_to_message")
    if replied and "forum_topic_created" not in replied and entities.sender(replied).id == account.id:
        return True
    text = message.get("text")
    command = re.match(r"/\w+@(\w+)", text) if isinstance(text, str) else None
    return command is not None and account.matches_name(command[1])


def _speaks_for_group(message: Payload) -> bool:
    speaking, chat = object_in(message, "sender_chat"), message["chat"]
    return bool(speaking) and speaking.get("id") == chat["id"] and chat["type"] != "channel"


def _specific(kind: str, payload: Any, fields: dict[str, Any]) -> PlatformSpecific:
    """Builds a platform-specific event, named as in the Bot API, with its chat."""
    if not re.fullmatch(r"\w{1,80}", kind) or not isinstance(payload, dict):
        raise ValueError("the update has no kind")
    chat = object_in(payload, "chat") or object_in(object_in(payload, "message"), "chat")
    chat_fields = {"chat_type": entities.chat_type(chat), "chat_id": identifier(chat["id"])} if chat else {}
    return PlatformSpecific(type=f"platform.{NAME}.{kind}", action=kind, data={**payload, **chat_fields}, **fields)


def _malformed(update: Payload, context: TelegramDecodeContext, error: Exception) -> IncomingEvent:
    event = malformed_event(NAME, context.bot_id, update, type(error).__name__)
    return IncomingEvent(event, self_id=context.me.id)
