"""Converts an event of KOOK's gateway into common events. Pure: what has to be looked up is already in it.

An event that can't be read becomes `platform.kook.malformed`, so that it is visible and does not affect others.
"""

import json
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
)
from parlour_sdk.protocol.chain import (
    File,
    Image,
    MessageChain,
    Platform,
    Quote,
    Source,
    Unknown,
    Video,
    Voice,
)
from parlour_sdk.protocol.people import ChatType, Group, GroupMember, User
from parlour_sdk.protocol.platform_events import (
    BotInvited,
    BotRemoved,
    GroupInfoUpdated,
    InteractionReceived,
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

from . import entities, kmarkdown
from .entities import NAME, KookAccount, time_milliseconds

TEXT, IMAGE, VIDEO, FILE, AUDIO, KMARKDOWN, CARD, SYSTEM = 1, 2, 3, 4, 8, 9, 10, 255
MEDIA: dict[int, type[Image] | type[Video] | type[File] | type[Voice]] = {
    IMAGE: Image,
    VIDEO: Video,
    FILE: File,
    AUDIO: Voice,
}
GUILD_KEY = "known_guild"
"""Key under which the server of an event is added to it."""
MAX_FACT_CHARACTERS = 500


@dataclass(frozen=True, slots=True)
class KookDecodeContext:
    """The bot whose events are decoded."""

    bot_id: str
    me: KookAccount

    def fields(self, data: Payload) -> dict[str, Any]:
        return {
            "event_id": identifier(data.get("msg_id")),
            "timestamp": time_milliseconds(data.get("msg_timestamp")),
            "bot_id": self.bot_id,
            "adapter_name": NAME,
        }


def decode(data: Any, context: KookDecodeContext) -> list[IncomingEvent]:
    """Decodes an event; the bot's own messages produce none."""
    try:
        incoming = _incoming(data, context)
    except UNREADABLE as error:
        malformed = malformed_event(NAME, context.bot_id, _public(data), type(error).__name__)
        incoming = [IncomingEvent(malformed)]
    kind = str(object_in(data, "extra").get("type") if isinstance(data, dict) else "")
    return [
        IncomingEvent(
            each.event.carrying(data),
            self_id=context.me.id,
            addresses_bot=each.addresses_bot,
            role=each.role,
            native_type=kind[:120],
        )
        for each in incoming
    ]


def _public(data: Any) -> Any:
    return {name: each for name, each in data.items() if name != GUILD_KEY} if isinstance(data, dict) else data


def _incoming(data: Payload, context: KookDecodeContext) -> list[IncomingEvent]:
    if data["type"] == SYSTEM:
        return _system(data, context)
    author = object_in(data["extra"], "author")
    author_id = identifier(data.get("author_id"))
    if author_id == context.me.id:
        return []
    chat = _chat(data)
    fields = context.fields(data)
    message_id = fields["event_id"]
    event = MessageReceived(
        **fields,
        **chat,
        message_id=message_id,
        message_chain=[Source(id=message_id, time=fields["timestamp"]), *chain_of(data, context.me)],
        sender=entities.user({**author, "id": author_id}),
    )
    quote = object_in(data["extra"], "quote")
    answers_bot = object_in(quote, "author").get("id") == context.me.id
    return [IncomingEvent(event, addresses_bot=answers_bot, role=_role(data, author, author_id))]


def _role(data: Payload, author: Payload, user_id: str) -> str:
    guild = object_in(data, GUILD_KEY)
    if not guild or data.get("channel_type") != "GROUP":
        return ""
    role_ids = author.get("roles")
    return entities.role(user_id, role_ids if isinstance(role_ids, list) else [], guild)


def _chat(data: Payload) -> dict[str, Any]:
    """Returns the chat of a message: the channel, or the user who wrote directly."""
    match data["channel_type"]:
        case "PERSON":
            return {"chat_type": "private", "chat_id": identifier(data.get("author_id"))}
        case "GROUP":
            channel_id = identifier(data.get("target_id"))
            group = Group(id=channel_id, name=text(data["extra"], "channel_name"))
            return {"chat_type": "group", "chat_id": channel_id, "group": group}
    raise ValueError("this is no type of channel")


def chain_of(message: Payload, me: KookAccount) -> MessageChain:
    """Converts the content of a message. Never fails: an unreadable message becomes Unknown."""
    try:
        return [*_quote(message, me), *_content(message, me)]
    except UNREADABLE:
        return [Unknown(text="[a message that can't be read]")]


def _content(message: Payload, me: KookAccount) -> MessageChain:
    kind, content, extra = message["type"], message["content"], object_in(message, "extra")
    if not isinstance(content, str):
        raise TypeError("the content of a message is a text")
    if kind in MEDIA:
        attachment = object_in(extra, "attachments") or object_in(message, "attachments")
        url = text(attachment, "url") or content
        size = attachment.get("size")
        return [
            MEDIA[kind](
                url=url,
                name=text(attachment, "name") or None,
                size=size if isinstance(size, int) else None,
                mime_type=text(attachment, "file_type") or None,
            )
        ]
    if kind == CARD:
        return [_card(each) for each in _cards(content)] or [Unknown(text="[an empty card]")]
    if kind in (TEXT, KMARKDOWN):
        parts = object_in(extra, "kmarkdown") or object_in(message, "mention_info")
        names = {text(each, "id"): text(each, "username") for each in objects_in(parts, "mention_part")}
        names |= {str(each.get("role_id")): text(each, "name") for each in objects_in(parts, "mention_role_part")}
        own_roles = (
            frozenset(_texts(extra.get("mention_roles"))) if me.id in _texts(extra.get("mention")) else frozenset()
        )
        chain = kmarkdown.read(content, names, own_roles, me.id, is_markup=kind == KMARKDOWN)
        return chain or [Unknown(text="[a message without anything that can be shown]")]
    return [Unknown(text=f"[a message of the kind {kind}]")]


def _texts(value: Any) -> list[str]:
    return [str(each) for each in value if isinstance(each, int | str)] if isinstance(value, list) else []


def _quote(message: Payload, me: KookAccount) -> MessageChain:
    quote = object_in(object_in(message, "extra"), "quote") or object_in(message, "quote")
    message_id = text(quote, "rong_id") or text(quote, "msg_id")
    if not message_id:
        return []
    author = object_in(quote, "author")
    readable = isinstance(quote.get("content"), str) and "type" in quote
    origin = _content({**quote, "extra": {}}, me) if readable else []
    name = text(author, "nickname") or text(author, "username")
    return [Quote(id=message_id, sender=text(author, "id") or None, name=name or None, origin=origin)]


def _cards(content: str) -> list[Payload]:
    cards = json.loads(content)
    return [each for each in cards if isinstance(each, dict)] if isinstance(cards, list) else []


def _card(card: Payload) -> Platform:
    facts = "; ".join(_card_texts(card))[:MAX_FACT_CHARACTERS]
    return Platform(platform=NAME, component_type="card", data=card, text=f"[card: {facts}]" if facts else "[card]")


def _card_texts(value: Any, depth: int = 8) -> list[str]:
    """Returns the texts in a card, at any depth."""
    if not depth:
        return []
    if isinstance(value, dict):
        own = [value["content"]] if isinstance(value.get("content"), str) else []
        return own + [each for part in value.values() for each in _card_texts(part, depth - 1)]
    return [each for part in value for each in _card_texts(part, depth - 1)] if isinstance(value, list) else []


# --- events of the system


def _system(data: Payload, context: KookDecodeContext) -> list[IncomingEvent]:
    extra, fields = data["extra"], context.fields(data)
    kind, body = identifier(extra["type"]), object_in(extra, "body")
    if kind in ("updated_message", "updated_private_message"):
        return _edited(kind, body, data, fields, context)
    if kind in ("deleted_message", "deleted_private_message"):
        return [
            IncomingEvent(MessageDeleted(**fields, **_place(kind, body), message_id=identifier(body.get("msg_id"))))
        ]
    if kind.endswith(("added_reaction", "deleted_reaction")):
        return _reaction(kind, body, fields, context)
    if kind == "message_btn_click":
        return [IncomingEvent(_pressed(body, data, fields), role=_role_in_guild(body, data))]
    events = _membership(kind, body, data, fields)
    if events is None:
        place = _place(kind, body) if body.get("channel_id") else {}
        place.pop("group", None)
        user = {"user_id": identifier(body["user_id"])} if isinstance(body.get("user_id"), str) else {}
        specific = PlatformSpecific(
            type=f"platform.{NAME}.{kind}", action=kind, data={"payload": body, **place, **user}, **fields
        )
        events = [specific]
    return [IncomingEvent(each) for each in events]


def _place(kind: str, body: Payload) -> dict[str, Any]:
    if "private" in kind:
        return {"chat_type": "private", "chat_id": identifier(body.get("author_id") or body.get("user_id"))}
    channel_id = identifier(body.get("channel_id"))
    return {"chat_type": "group", "chat_id": channel_id, "group": Group(id=channel_id)}


def _edited(
    kind: str, body: Payload, data: Payload, fields: dict[str, Any], context: KookDecodeContext
) -> list[IncomingEvent]:
    author_id = text(body, "author_id") or text(body, "user_id")
    if author_id == context.me.id:
        return []
    event = MessageEdited(
        **fields,
        **_place(kind, body),
        message_id=identifier(body.get("msg_id")),
        new_content=chain_of({"type": KMARKDOWN, **body, "extra": body}, context.me),
        editor=User(id=author_id or "0"),
    )
    return [IncomingEvent(event)]


def _reaction(kind: str, body: Payload, fields: dict[str, Any], context: KookDecodeContext) -> list[IncomingEvent]:
    user_id = identifier(body.get("user_id"))
    if user_id == context.me.id:
        return []
    event = MessageReaction(
        **fields,
        **_place(kind, body),
        message_id=identifier(body.get("msg_id")),
        user=User(id=user_id),
        reaction=identifier(object_in(body, "emoji").get("id")),
        is_add="added" in kind,
    )
    return [IncomingEvent(event)]


def _pressed(body: Payload, data: Payload, fields: dict[str, Any]) -> PlatformEvent:
    person = object_in(body, "user_info")
    user_id = identifier(body.get("user_id"))
    action_id, value = parse_button_data(identifier(body.get("value")))
    is_private = text(body, "channel_type") == "PERSON" or not body.get("guild_id")
    chat_id = user_id if is_private else identifier(body.get("target_id"))
    chat_type: ChatType = "private" if is_private else "group"
    group = {} if is_private else {"group": Group(id=chat_id)}
    return InteractionReceived(
        **fields,
        chat_type=chat_type,
        chat_id=chat_id,
        **group,  # type: ignore[arg-type]
        interaction_id=fields["event_id"],
        user=entities.user({**person, "id": user_id}),
        action_id=action_id,
        value=value,
        message_id=identifier(body.get("msg_id")),
    )


def _role_in_guild(body: Payload, data: Payload) -> str:
    guild = object_in(data, GUILD_KEY)
    roles = object_in(body, "user_info").get("roles")
    return entities.role(text(body, "user_id"), roles if isinstance(roles, list) else [], guild) if guild else ""


def _membership(kind: str, body: Payload, data: Payload, fields: dict[str, Any]) -> list[PlatformEvent] | None:
    guild = object_in(data, GUILD_KEY)
    guild_id = text(body, "guild_id") or text(body, "id") or identifier(data.get("target_id"))
    group = Group(id=guild_id, name=text(guild, "name"))

    def member(user_id: Any) -> GroupMember:
        return GroupMember(user=User(id=identifier(user_id)), group_id=guild_id)

    match kind:
        case "joined_guild":
            return [MemberJoined(group=group, member=member(body.get("user_id")), **fields)]
        case "exited_guild":
            return [MemberLeft(group=group, member=member(body.get("user_id")), **fields)]
        case "added_block_list" | "deleted_block_list":
            operator = User(id=text(body, "operator_id")) if text(body, "operator_id") else None
            entity = MemberBanned if kind.startswith("added") else MemberUnbanned
            return [
                entity(
                    group=group,
                    member=member(each),
                    operator=operator,
                    **{**fields, "event_id": f"{fields['event_id']}:{each}"},
                )
                for each in _texts(body.get("user_id"))
            ]
        case "updated_guild":
            return [GroupInfoUpdated(group=entities.guild_group({**body, "id": guild_id}), **fields)]
        case "updated_channel":
            return [GroupInfoUpdated(group=entities.channel_group(body), **fields)]
        case "self_joined_guild":
            return [BotInvited(group=group, **fields)]
        case "self_exited_guild":
            return [BotRemoved(group=group, **fields)]
    return None
