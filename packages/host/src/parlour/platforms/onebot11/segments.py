"""Converts segments of a OneBot message into components of a chain.

Data that had to be fetched is already in the segments.
"""

from typing import Any

from parlour_sdk.protocol.chain import (
    At,
    AtAll,
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

from . import cards, cq_codes
from .values import identifier, milliseconds, number, text

NAME = "onebot11"
MEDIA: dict[str, type[Image] | type[Voice] | type[Video] | type[File]] = {
    "image": Image,
    "record": Voice,
    "video": Video,
    "file": File,
}
NAMES = ("name", "file_name", "filename")
"""Fields that may contain a file's name; Lagrange uses the last two."""
MAX_DEPTH = NESTED_QUOTES - 1
MAX_SEGMENTS = 10_000
"""Maximum number of segments of a message with all that it quotes and forwards.

Converting each takes time in which nothing else runs.
"""
TOO_MANY = f"message: at most {MAX_SEGMENTS} segments are expected, with those of what it quotes and hands on"
Segment = dict[str, Any]


def segments_of(message: Any) -> list[Any]:
    """Returns the segments of a message in either format, or of a single segment."""
    if isinstance(message, str):
        if message.count(cq_codes.CODE_PREFIX) > MAX_SEGMENTS:
            raise ValueError(TOO_MANY)
        return list(cq_codes.parse(message))
    if isinstance(message, dict):
        return [message]
    if isinstance(message, list):
        return message
    raise ValueError("message: a list of segments or a text is expected")


def check_size(segments: list[Any]) -> None:
    """Raises ValueError if there are more segments than any user writes. Inside a text segment nothing is counted."""
    left, unseen = MAX_SEGMENTS, list[Any]((segments,))
    while unseen:
        match unseen.pop():
            case str() as told:
                left -= told.count(cq_codes.CODE_PREFIX)
            case list() as items:
                left -= len(items)
                unseen += items
            case dict() as segment if segment.get("type") != "text":
                unseen += segment.values()
        if left < 0:
            raise ValueError(TOO_MANY)


def chain_of(segments: list[Any], depth: int = 0) -> MessageChain:
    return [component_of(segment, depth) for segment in segments]


def component_of(segment: Any, depth: int = 0) -> Component:
    """Converts a segment.

    Never fails: an unreadable segment becomes Unknown, one without a common component becomes Platform.
    """
    if not isinstance(segment, dict) or not isinstance(segment.get("type"), str):
        return Unknown(text="[a segment that can't be read]")
    data = segment.get("data")
    try:
        return _component(segment["type"], data if isinstance(data, dict) else {}, depth)
    except (ValueError, TypeError, KeyError, AttributeError):
        return Unknown(text=f"[{segment['type'][:40]}]")


def _component(kind: str, data: dict[str, Any], depth: int) -> Component:
    match kind:
        case "text":
            return Plain(text="" if data["text"] is None else str(data["text"]))
        case "at" if str(data["qq"]) == "all":
            return AtAll()
        case "at":
            return At(target=identifier(data["qq"]), display=(text(data, "name") or "").removeprefix("@") or None)
        case "face":
            return Face(id=identifier(data["id"]), name=_face_name(data))
        case "image" | "record" | "video" | "file":
            return _media(kind, data)
        case "reply":
            return _quote(data, depth)
        case "forward":
            return _forward(data.get("content"), depth)
        case "node":
            return _forward([data], depth)
        case "mface" | "marketface" if place := file_location(data):
            return Image(**place, name=cards.sticker_name(data) or None)
    return Platform(platform=NAME, component_type=kind, data=data, text=_description(kind, data))


def _description(kind: str, data: dict[str, Any]) -> str | None:
    try:
        return cards.describe(kind, data)
    except (ValueError, RecursionError):
        return None


def _media(kind: str, data: dict[str, Any]) -> Component:
    place = file_location(data)
    name = next(filter(None, (text(data, each) for each in NAMES)), None) or _file_name(data)
    if place is None:
        return Unknown(text=f"[{kind}: {name}]" if name else f"[{kind}]")
    size = number(data.get("file_size"))
    return MEDIA[kind](**place, name=name, size=size)


def file_location(data: dict[str, Any]) -> dict[str, Any] | None:
    """Returns where the content of a file is, if the Host can reach it."""
    for value in (data.get("url"), data.get("file"), data.get("base64")):
        if not isinstance(value, str) or not value:
            continue
        if value.startswith(("http://", "https://")):
            return {"url": value}
        if value.startswith("base64://"):
            return {"base64": value.removeprefix("base64://")}
    return {"base64": data["base64"]} if isinstance(data.get("base64"), str) and data["base64"] else None


def _quote(data: dict[str, Any], depth: int) -> Quote:
    quoted = data.get("quoted")
    if not isinstance(quoted, dict) or depth >= MAX_DEPTH:
        return Quote(id=identifier(data["id"]))
    sender = quoted.get("sender")
    known = sender if isinstance(sender, dict) else quoted
    sender_id = known.get("user_id")
    return Quote(
        id=identifier(data["id"]),
        sender=identifier(sender_id) if sender_id else None,
        name=text(known, "card") or text(known, "nickname"),
        origin=chain_of(segments_of(quoted.get("message", [])), depth + 1),
    )


def _forward(nodes: Any, depth: int) -> Component:
    """Converts forwarded messages; a single node is a forward of one message."""
    if not isinstance(nodes, list):
        return Unknown(text="[merged forward]")
    if depth >= MAX_DEPTH:
        return Unknown(text="[merged forward, nested too deep]")
    return Forward(nodes=[_node(each, depth) for each in nodes if isinstance(each, dict)])


def _node(node: dict[str, Any], depth: int) -> ForwardNode:
    """Converts a node, which has the form of an event or of a segment of type node."""
    data = node["data"] if isinstance(node.get("data"), dict) else node
    sender = data["sender"] if isinstance(data.get("sender"), dict) else data
    user = sender.get("user_id", sender.get("uin"))
    said = data.get("message", data.get("content", []))
    message_id = data.get("message_id", data.get("id"))
    return ForwardNode(
        sender=str(user) if user else None,
        name=text(sender, "card") or text(sender, "nickname") or text(sender, "name"),
        time=milliseconds(data.get("time")),
        message_id=str(message_id) if message_id else None,
        chain=chain_of(segments_of(said), depth + 1),
    )


def _face_name(data: dict[str, Any]) -> str | None:
    raw = data.get("raw")
    return text(raw, "faceText") if isinstance(raw, dict) else None


def _file_name(data: dict[str, Any]) -> str | None:
    name = text(data, "file")
    return None if name is None or "://" in name else name.replace("\\", "/").rpartition("/")[2][:200] or None
