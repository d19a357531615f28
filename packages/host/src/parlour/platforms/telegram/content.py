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

from . import entities
from .entities import NAME, BotAccount, Payload, identifier, number, object_in, text

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
MAX_FACT_CHARACTERS = 500
MAX_OPTIONS = 20


def decode_chain(message: Payload, account: BotAccount, depth: int = 0) -> MessageChain:
    """Converts a message. Never fails: an unreadable message becomes Unknown."""
    try:
        quote = _quote(message, account, depth)
        chain = [each for part in _parts(message) for each in _part_components(part, account)]
        origin = object_in(message, "forward_origin")
        if origin and depth < MAX_DEPTH:
            chain = [Forward(nodes=[_node(origin, chain)])]
    except (ValueError, TypeError, KeyError, AttributeError):
        return [Unknown(text="[a message that can't be read]")]
    return [*quote, *(chain or [Unknown(text="[a message without anything that can be shown]")])]


def _parts(message: Payload) -> list[Payload]:
    album = message.get(ALBUM)
    return album if isinstance(album, list) else [message]


def _part_components(message: Payload, account: BotAccount) -> MessageChain:
    media = [*_media(message), *_own_kinds(message)]
    caption = text_components(message.get("caption"), message.get("caption_entities"), account)
    caption_above = message.get("show_caption_above_media") is True
    return [
        *text_components(message.get("text"), message.get("entities"), account),
        *(caption if caption_above else ()),
        *media,
    ] + ([] if caption_above else caption)


def text_components(text: Any, entities: Any, account: BotAccount) -> MessageChain:
    """Splits a text into plain parts and mentions. Offsets count UTF-16 units."""
    if text is None:
        return []
    if not isinstance(text, str):
        return [Unknown(text="[text that can't be read]")]
    units, chain, position = text.encode("utf-16-le", "surrogatepass"), list[Component](), 0
    for start, end, entity in _entity_spans(entities, len(units) // 2):
        entity_text = units[2 * start : 2 * end].decode("utf-16-le", "replace")
        component = _entity(entity, entity_text, account)
        if start < position or component is None:
            continue
        _add_text(chain, units[2 * position : 2 * start].decode("utf-16-le", "replace"))
        _add_text(chain, component) if isinstance(component, str) else chain.append(component)
        position = end
    _add_text(chain, units[2 * position :].decode("utf-16-le", "replace"))
    return chain


def _add_text(chain: list[Component], text: str) -> None:
    if not text:
        return
    if chain and isinstance(chain[-1], Plain):
        chain[-1] = Plain(text=chain[-1].text + text)
    else:
        chain.append(Plain(text=text))


def _entity_spans(entities: Any, units: int) -> list[tuple[int, int, Payload]]:
    valid = [each for each in entities if isinstance(each, dict)] if isinstance(entities, list) else []
    spans = [(number(each.get("offset")), number(each.get("length")), each) for each in valid]
    bounded = [(start, start + size, each) for start, size, each in spans if start is not None and size]
    return sorted((span for span in bounded if span[1] <= units), key=lambda span: span[0])


def _entity(entity: Payload, entity_text: str, account: BotAccount) -> Component | str | None:
    match entity.get("type"):
        case "mention" if account.matches_name(entity_text):
            return At(target=account.id, display=entity_text.removeprefix("@"))
        case "mention":
            return At(target=entity_text, display=entity_text.removeprefix("@"))
        case "text_mention":
            mentioned = entities.user(entity["user"])
            return At(target=mentioned.id, display=entity_text.removeprefix("@"))
        case "text_link":
            return f"[{entity_text}]({entity['url']})"
        case "bot_command" if "@" in entity_text and account.matches_name(entity_text.partition("@")[2]):
            return entity_text.partition("@")[0]
    return None


def _media(message: Payload) -> MessageChain:
    chain: MessageChain = []
    for kind, component in MEDIA.items():
        if kind not in message or (kind == "document" and "animation" in message):
            continue
        file = message[kind][-1] if kind == "photo" else message[kind]
        chain.append(_file(kind, component, file))
    return [*chain, *_sticker(object_in(message, STICKER))]


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
    file_fields: dict[str, Any] = {
        "name": name,
        "mime_type": text(file, "mime_type"),
        "size": number(file.get("file_size")),
    }
    seconds = number(file.get("duration"))
    if component in (Voice, Video) and seconds is not None:
        file_fields["duration"] = float(seconds)
    return component(base64=file[CONTENT], **file_fields)


def _own_kinds(message: Payload) -> MessageChain:
    kinds = [kind for kind in TELEGRAM_KINDS if kind in message]
    if "venue" in kinds and "location" in kinds:  # a venue contains its location a second time
        kinds.remove("location")
    return [_own_kind(kind, object_in(message, kind)) for kind in kinds]


def _own_kind(kind: str, data: Payload) -> Platform:
    return Platform(platform=NAME, component_type=kind, data=data, text=describe(kind, data))


def _quote(message: Payload, account: BotAccount, depth: int) -> MessageChain:
    replied = object_in(message, "reply_to_message")
    if depth >= MAX_DEPTH or "forum_topic_created" in replied:
        return []
    part = object_in(message, "quote")
    quoted = text_components(part.get("text"), part.get("entities"), account) if part else []
    if not replied:
        return _external(message, quoted)
    unquoted = {name: value for name, value in replied.items() if name != "reply_to_message"}
    origin = quoted or decode_chain(unquoted, account, depth + 1)
    author = entities.sender(replied)
    message_id = identifier(replied["message_id"])
    return [Quote(id=message_id, sender=author.id, name=author.nickname or None, origin=origin)]


def _external(message: Payload, quoted: MessageChain) -> MessageChain:
    """Builds the quote of a message of another chat or of a story; its files are only named."""
    reply, story = object_in(message, "external_reply"), object_in(message, "reply_to_story")
    if not reply:
        return [Quote(origin=[_own_kind("story", story)])] if story else []
    author = _node(object_in(reply, "origin"), [])
    files = [Unknown(text=f"[{kind}]") for kind in (*MEDIA, STICKER) if kind in reply]
    return [Quote(sender=author.sender, name=author.name, origin=[*quoted, *files, *_own_kinds(reply)])]


def _node(origin: Payload, content: MessageChain) -> ForwardNode:
    origin_author = object_in(origin, "sender_user") or object_in(origin, "sender_chat") or object_in(origin, "chat")
    author = entities.user(origin_author) if origin_author else None
    seconds, message_id = number(origin.get("date")), origin.get("message_id")
    return ForwardNode(
        sender=author.id if author else None,
        name=author.nickname if author else text(origin, "sender_user_name"),
        time=seconds * 1000 if seconds is not None else None,
        message_id=identifier(message_id) if message_id is not None else None,
        chain=content,
    )


def describe(kind: str, data: Payload) -> str:
    """Builds one line such as `[poll: Where to?; options: Rome / Oslo]`."""
    details = [detail for detail in _details(kind, data) if detail]
    return f"[{kind}: {'; '.join(details)}]" if details else f"[{kind}]"


def _details(kind: str, data: Payload) -> list[str]:
    match kind:
        case "dice":
            return [" ".join(filter(None, (_line(data, "emoji"), _digits(data.get("value")))))]
        case "location":
            return [_coordinates(data)]
        case "venue":
            return [_line(data, "title"), _line(data, "address"), _coordinates(object_in(data, "location"))]
        case "contact":
            name = " ".join(filter(None, (_line(data, "first_name"), _line(data, "last_name"))))
            return [name, _line(data, "phone_number")]
        case "poll":
            return [_line(data, "question"), _options("options", data.get("options"))]
        case "checklist":
            return [_line(data, "title"), _options("tasks", data.get("tasks"))]
        case "game":
            return [_line(data, "title"), _line(data, "description")]
        case "invoice":
            return [_line(data, "title"), _line(data, "description"), _price(data)]
        case "story":
            return [_line(object_in(data, "chat"), "title") or _line(object_in(data, "chat"), "username")]
        case "giveaway":
            return [_line(data, "prize_description")]
    return []


def _line(data: Payload, name: str) -> str:
    return " ".join((text(data, name) or "")[:MAX_FACT_CHARACTERS].split())


def _options(label: str, options: Any) -> str:
    texts = [_line(each, "text") for each in options if isinstance(each, dict)] if isinstance(options, list) else []
    non_empty = [each for each in texts if each]
    ellipsis = " / ..." if len(non_empty) > MAX_OPTIONS else ""
    return f"{label}: {' / '.join(non_empty[:MAX_OPTIONS])}{ellipsis}" if non_empty else ""


def _coordinates(location: Payload) -> str:
    values = (location.get("latitude"), location.get("longitude"))
    numbers = [str(each) for each in values if _is_number(each)]
    return ", ".join(numbers) if len(numbers) == 2 else ""


def _is_number(value: Any) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool)


def _digits(value: Any) -> str:
    return "" if number(value) is None else str(value)


def _price(data: Payload) -> str:
    """Formats a price. Telegram gives amounts in the smallest unit of the currency."""
    amount = number(data.get("total_amount"))
    return f"{amount} {_line(data, 'currency')} (smallest units)" if amount is not None else ""
