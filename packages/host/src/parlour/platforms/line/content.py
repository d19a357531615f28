"""Converts the content of a LINE message into components of a chain. Files already have their content."""

from typing import Any

from parlour.platforms._kit.ids import compose_id
from parlour.platforms._kit.payloads import UNREADABLE, Payload, identifier, number, object_in, objects_in, text
from parlour_sdk.protocol.chain import (
    At,
    AtAll,
    Component,
    Face,
    File,
    Image,
    MessageChain,
    Plain,
    Platform,
    Quote,
    Unknown,
    Video,
    Voice,
)

from .entities import EMOJI, NAME, STICKER

CONTENT, PROBLEM = "content_base64", "problem"
"""Keys that are added to a file: its content, or the reason why there is none."""
FILES = ("image", "video", "audio", "file")
_KINDS: dict[str, type[Image] | type[Voice] | type[Video] | type[File]] = {
    "image": Image,
    "audio": Voice,
    "video": Video,
    "file": File,
}
_TYPES = {"image": "image/jpeg", "audio": "audio/mp4", "video": "video/mp4"}


def decode_chain(message: Payload) -> MessageChain:
    """Converts a message. Never fails: an unreadable message becomes Unknown."""
    try:
        return [*_quote(message), *_content(message)]
    except UNREADABLE:
        return [Unknown(text="[a message that can't be read]")]


def _quote(message: Payload) -> MessageChain:
    quoted = text(message, "quotedMessageId")
    return [Quote(id=quoted)] if quoted else []


def _content(message: Payload) -> MessageChain:
    match message.get("type"):
        case "text":
            return _text(message)
        case "sticker":
            sticker = compose_id(STICKER, identifier(message.get("packageId")), identifier(message.get("stickerId")))
            words = [each for each in message.get("keywords") or [] if isinstance(each, str)]
            return [Face(id=sticker, name=text(message, "text") or ", ".join(words[:3]) or None)]
        case "location":
            fields = ("title", "address", "latitude", "longitude")
            data = {name: message[name] for name in fields if isinstance(message.get(name), str | int | float)}
            shown = ", ".join(str(data[name]) for name in fields if name in data)
            return [Platform(platform=NAME, component_type="location", data=data, text=f"[location: {shown}]")]
        case str(kind) if kind in FILES:
            return [_file(kind, message)]
        case kind:
            return [Unknown(text=f"[a message of the kind {str(kind)[:60]}]")]


def _text(message: Payload) -> MessageChain:
    """Splits a text into plain parts, mentions and emojis. LINE counts positions in UTF-16 units."""
    content = message["text"]
    if not isinstance(content, str):
        raise TypeError("a text is expected")
    units = content.encode("utf-16-le", "surrogatepass")
    chain: list[Component] = []
    position = 0
    for start, end, component in sorted(_parts(message), key=lambda part: part[0]):
        if start < position or end * 2 > len(units):
            continue
        _add_text(chain, units[position * 2 : start * 2])
        if isinstance(component, At) and component.display is None:
            shown = units[start * 2 : end * 2].decode("utf-16-le", "replace").removeprefix("@")
            component = At(target=component.target, display=shown)
        chain.append(component)
        position = end
    _add_text(chain, units[position * 2 :])
    return chain


def _parts(message: Payload) -> list[tuple[int, int, Component]]:
    """Returns the mentions and emojis of a text, each with its place."""
    parts: list[tuple[int, int, Component]] = []
    for each in objects_in(object_in(message, "mention"), "mentionees"):
        component: Component | None = AtAll() if each.get("type") == "all" else None
        if component is None and text(each, "userId"):
            component = At(target=text(each, "userId"))
        _add_part(parts, each, component)
    for each in objects_in(message, "emojis"):
        face = compose_id(EMOJI, identifier(each.get("productId")), identifier(each.get("emojiId")))
        _add_part(parts, each, Face(id=face))
    return parts


def _add_part(parts: list[tuple[int, int, Component]], place: Payload, component: Component | None) -> None:
    start, length = number(place.get("index")), number(place.get("length"))
    if component is not None and start is not None and length:
        parts.append((start, start + length, component))


def _add_text(chain: list[Component], units: bytes) -> None:
    if units:
        chain.append(Plain(text=units.decode("utf-16-le", "replace")))


def _file(kind: str, message: Payload) -> Component:
    name = text(message, "fileName")
    provider = object_in(message, "contentProvider")
    if provider.get("type") == "external":
        source: dict[str, Any] = {"url": text(provider, "originalContentUrl") or None}
    else:
        source = {"base64": text(message, CONTENT) or None}
    if not any(source.values()):
        reason = text(message, PROBLEM) or "it could not be fetched"
        return Unknown(text=f"[{name or kind}: {reason}]")
    duration = number(message.get("duration"))
    if kind in ("audio", "video") and duration is not None:
        source["duration"] = duration / 1000
    source |= {"name": name or None, "size": number(message.get("fileSize")), "mime_type": _TYPES.get(kind)}
    return _KINDS[kind](**source)


def mentions_bot(message: Payload, own_id: str) -> bool:
    found = objects_in(object_in(message, "mention"), "mentionees")
    return any(each.get("isSelf") is True or (own_id and each.get("userId") == own_id) for each in found)
