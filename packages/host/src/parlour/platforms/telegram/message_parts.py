"""Converts the parts of a Telegram message into components of a chain, in order.

The content of files is already in it.
"""

from typing import Any

from parlour_sdk.protocol.chain import (
    At,
    Component,
    Face,
    File,
    Forward,
    ForwardNode,
    Image,
    MessageChain,
    Plain,
    Platform,
    Quote,
    Unknown,
    Video,
    Voice,
)
from parlour_sdk.protocol.limits import NESTED_QUOTES

from . import special_content, users
from .users import BotAccount
from .values import NAME, Payload, identifier, number, object_in, text

ALBUM = "album"
"""Key under which the messages of an album are collected in its first one."""
CONTENT, PROBLEM = "content_base64", "problem"
"""Keys that are added to a file: its content, or the reason why there is none."""
STICKER, PICTURE = "sticker", "picture"
"""Key of a sticker, and the key under which its picture is added to it."""
MEDIA: dict[str, type[Image] | type[Voice] | type[Video] | type[File]] = {
    "photo": Image,
    "animation": Video,
    "video": Video,
    "video_note": Video,
    "voice": Voice,
    "audio": Voice,
    "document": File,
}
TELEGRAM_KINDS = ("dice", "location", "venue", "contact", "poll", "game", "invoice", "story", "giveaway", "checklist")
MAX_DEPTH = NESTED_QUOTES - 1


def decode_chain(message: Payload, me: BotAccount, depth: int = 0) -> MessageChain:
    """Converts a message. Never fails: an unreadable message becomes Unknown."""
    try:
        quote = _quote(message, me, depth)
        said = [each for part in _parts(message) for each in _part_components(part, me)]
        origin = object_in(message, "forward_origin")
        if origin and depth < MAX_DEPTH:
            said = [Forward(nodes=[_node(origin, said)])]
    except (ValueError, TypeError, KeyError, AttributeError):
        return [Unknown(text="[a message that can't be read]")]
    return [*quote, *(said or [Unknown(text="[a message without anything that can be shown]")])]


def _parts(message: Payload) -> list[Payload]:
    album = message.get(ALBUM)
    return album if isinstance(album, list) else [message]


def _part_components(message: Payload, me: BotAccount) -> MessageChain:
    shown = [*_media(message), *_own_kinds(message)]
    caption = text_components(message.get("caption"), message.get("caption_entities"), me)
    above = message.get("show_caption_above_media") is True
    return [*text_components(message.get("text"), message.get("entities"), me), *(caption if above else ()), *shown] + (
        [] if above else caption
    )


def text_components(said: Any, entities: Any, me: BotAccount) -> MessageChain:
    """Splits a text into plain parts and mentions. Offsets count UTF-16 units."""
    if said is None:
        return []
    if not isinstance(said, str):
        return [Unknown(text="[text that can't be read]")]
    units, chain, at = said.encode("utf-16-le", "surrogatepass"), list[Component](), 0
    for start, end, entity in _places(entities, len(units) // 2):
        shown = units[2 * start : 2 * end].decode("utf-16-le", "replace")
        component = _entity(entity, shown, me)
        if start < at or component is None:
            continue
        _add_text(chain, units[2 * at : 2 * start].decode("utf-16-le", "replace"))
        _add_text(chain, component) if isinstance(component, str) else chain.append(component)
        at = end
    _add_text(chain, units[2 * at :].decode("utf-16-le", "replace"))
    return chain


def _add_text(chain: list[Component], text: str) -> None:
    if not text:
        return
    if chain and isinstance(chain[-1], Plain):
        chain[-1] = Plain(text=chain[-1].text + text)
    else:
        chain.append(Plain(text=text))


def _places(entities: Any, units: int) -> list[tuple[int, int, Payload]]:
    told = [each for each in entities if isinstance(each, dict)] if isinstance(entities, list) else []
    places = [(number(each.get("offset")), number(each.get("length")), each) for each in told]
    known = [(start, start + size, each) for start, size, each in places if start is not None and size]
    return sorted((place for place in known if place[1] <= units), key=lambda place: place[0])


def _entity(entity: Payload, shown: str, me: BotAccount) -> Component | str | None:
    match entity.get("type"):
        case "mention" if me.matches_name(shown):
            return At(target=me.id, display=shown.removeprefix("@"))
        case "mention":
            return At(target=shown, display=shown.removeprefix("@"))
        case "text_mention":
            mentioned = users.user(entity["user"])
            return At(target=mentioned.id, display=shown.removeprefix("@"))
        case "text_link":
            return f"[{shown}]({entity['url']})"
        case "bot_command" if "@" in shown and me.matches_name(shown.partition("@")[2]):
            return shown.partition("@")[0]
    return None


def _media(message: Payload) -> MessageChain:
    told: MessageChain = []
    for kind, component in MEDIA.items():
        if kind not in message or (kind == "document" and "animation" in message):
            continue
        file = message[kind][-1] if kind == "photo" else message[kind]
        told.append(_file(kind, component, file))
    return [*told, *_sticker(object_in(message, STICKER))]


def _sticker(sticker: Payload) -> MessageChain:
    """Builds the sticker, and its picture if that could be downloaded."""
    if not sticker:
        return []
    face = Face(id=identifier(sticker["file_id"]), name=text(sticker, "emoji"))
    picture = object_in(sticker, PICTURE)
    if CONTENT not in picture:
        return [face]
    return [face, Image(base64=picture[CONTENT], size=number(picture.get("file_size")))]


def _file(kind: str, component: type[Image] | type[Voice] | type[Video] | type[File], file: Payload) -> Component:
    name = text(file, "file_name")
    if CONTENT not in file:
        label = f"{kind}: {name}" if name else kind
        reason = file.get(PROBLEM)
        return Unknown(text=f"[{label}; {reason}]" if reason else f"[{label}]")
    known: dict[str, Any] = {"name": name, "mime_type": text(file, "mime_type"), "size": number(file.get("file_size"))}
    seconds = number(file.get("duration"))
    if component in (Voice, Video) and seconds is not None:
        known["duration"] = float(seconds)
    return component(base64=file[CONTENT], **known)


def _own_kinds(message: Payload) -> MessageChain:
    kinds = [kind for kind in TELEGRAM_KINDS if kind in message]
    if "venue" in kinds and "location" in kinds:  # a venue contains its location a second time
        kinds.remove("location")
    return [_own_kind(kind, object_in(message, kind)) for kind in kinds]


def _own_kind(kind: str, data: Payload) -> Platform:
    return Platform(platform=NAME, component_type=kind, data=data, text=special_content.describe(kind, data))


def _quote(message: Payload, me: BotAccount, depth: int) -> MessageChain:
    answered = object_in(message, "reply_to_message")
    if depth >= MAX_DEPTH or "forum_topic_created" in answered:
        return []
    part = object_in(message, "quote")
    quoted = text_components(part.get("text"), part.get("entities"), me) if part else []
    if not answered:
        return _external(message, quoted)
    unquoted = {name: value for name, value in answered.items() if name != "reply_to_message"}
    origin = quoted or decode_chain(unquoted, me, depth + 1)
    author = users.sender(answered)
    message_id = identifier(answered["message_id"])
    return [Quote(id=message_id, sender=author.id, name=author.nickname or None, origin=origin)]


def _external(message: Payload, quoted: MessageChain) -> MessageChain:
    """Builds the quote of a message of another chat or of a story; its files are only named."""
    reply, story = object_in(message, "external_reply"), object_in(message, "reply_to_story")
    if not reply:
        return [Quote(origin=[_own_kind("story", story)])] if story else []
    author = _node(object_in(reply, "origin"), [])
    files = [Unknown(text=f"[{kind}]") for kind in (*MEDIA, STICKER) if kind in reply]
    return [Quote(sender=author.sender, name=author.name, origin=[*quoted, *files, *_own_kinds(reply)])]


def _node(origin: Payload, said: MessageChain) -> ForwardNode:
    told = object_in(origin, "sender_user") or object_in(origin, "sender_chat") or object_in(origin, "chat")
    author = users.user(told) if told else None
    seconds, message_id = number(origin.get("date")), origin.get("message_id")
    return ForwardNode(
        sender=author.id if author else None,
        name=author.nickname if author else text(origin, "sender_user_name"),
        time=seconds * 1000 if seconds is not None else None,
        message_id=identifier(message_id) if message_id is not None else None,
        chain=said,
    )
