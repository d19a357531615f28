"""Converts segments of a OneBot message into components of a chain, and from and to CQ strings.

Data that had to be fetched is already in the segments. A segment without a component is described as text.
"""

import html
import json
import re
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

from .payloads import identifier, milliseconds, number, text

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
CODE_PREFIX = "[CQ:"
_CODE = re.compile(r"\[CQ:([A-Za-z0-9_.-]+)((?:,[^,\[\]]*)*)\]")
_ESCAPED = re.compile(r"&(?:amp|#91|#93|#44);")
_MEANT = {"&amp;": "&", "&#91;": "[", "&#93;": "]", "&#44;": ","}
MAX_CARD_CHARACTERS = 64 * 1024
"""Maximum number of characters of a card that are parsed."""
MAX_FACT_CHARACTERS = 500
TITLES = ("title", "name", "nickname")
DETAILS = ("desc", "summary", "address", "contact")
LINKS = ("jumpUrl", "qqdocurl", "url")
COORDINATES = (("lat", "lng"), ("lat", "lon"))
_XML_TEXT = {name: re.compile(rf"<{name}\b[^>]*>([^<]{{1,500}})</{name}>") for name in ("title", "summary")}
_XML_ATTRIBUTE = {name: re.compile(rf'\b{name}="([^"]{{1,1000}})"') for name in ("brief", "url")}
Data = dict[str, Any]


def segments_of(message: Any) -> list[Any]:
    """Returns the segments of a message in either format, or of a single segment."""
    if isinstance(message, str):
        if message.count(CODE_PREFIX) > MAX_SEGMENTS:
            raise ValueError(TOO_MANY)
        return list(parse_cq(message))
    if isinstance(message, dict):
        return [message]
    if isinstance(message, list):
        return message
    raise ValueError("message: a list of segments or a text is expected")


def check_size(segments: list[Any]) -> None:
    """Raises ValueError if there are more segments than any user writes. Inside a text segment nothing is counted."""
    remaining, pending = MAX_SEGMENTS, list[Any]((segments,))
    while pending:
        match pending.pop():
            case str() as text:
                remaining -= text.count(CODE_PREFIX)
            case list() as items:
                remaining -= len(items)
                pending += items
            case dict() as segment if segment.get("type") != "text":
                pending += segment.values()
        if remaining < 0:
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
        case "mface" | "marketface" if location := file_location(data):
            return Image(**location, name=_sticker_name(data) or None)
    return Platform(platform=NAME, component_type=kind, data=data, text=_description(kind, data))


def _description(kind: str, data: dict[str, Any]) -> str | None:
    try:
        return describe_segment(kind, data)
    except (ValueError, RecursionError):
        return None


def _media(kind: str, data: dict[str, Any]) -> Component:
    location = file_location(data)
    name = next(filter(None, (text(data, each) for each in NAMES)), None) or _file_name(data)
    if location is None:
        return Unknown(text=f"[{kind}: {name}]" if name else f"[{kind}]")
    size = number(data.get("file_size"))
    return MEDIA[kind](**location, name=name, size=size)


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
    author = sender if isinstance(sender, dict) else quoted
    sender_id = author.get("user_id")
    return Quote(
        id=identifier(data["id"]),
        sender=identifier(sender_id) if sender_id else None,
        name=text(author, "card") or text(author, "nickname"),
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
    content = data.get("message", data.get("content", []))
    message_id = data.get("message_id", data.get("id"))
    return ForwardNode(
        sender=str(user) if user else None,
        name=text(sender, "card") or text(sender, "nickname") or text(sender, "name"),
        time=milliseconds(data.get("time")),
        message_id=str(message_id) if message_id else None,
        chain=chain_of(segments_of(content), depth + 1),
    )


def _face_name(data: dict[str, Any]) -> str | None:
    raw = data.get("raw")
    return text(raw, "faceText") if isinstance(raw, dict) else None


def _file_name(data: dict[str, Any]) -> str | None:
    name = text(data, "file")
    return None if name is None or "://" in name else name.replace("\\", "/").rpartition("/")[2][:200] or None


def parse_cq(text: str) -> list[Segment]:
    """Parses a CQ string. Anything but a well-formed code is text."""
    segments: list[Segment] = []
    end = 0
    for match in _CODE.finditer(text):
        _add_text(segments, text[end : match.start()])
        segments.append({"type": match[1], "data": _data(match[2])})
        end = match.end()
    _add_text(segments, text[end:])
    return segments


def format_segments(segments: list[Segment]) -> str:
    return "".join(_format(segment) for segment in segments)


def _format(segment: Segment) -> str:
    data = segment.get("data") or {}
    if segment["type"] == "text":
        return escape_cq(str(data.get("text", "")))
    values = "".join(
        f",{name}={escape_cq(_to_text(value), comma=True)}" for name, value in data.items() if value is not None
    )
    return f"[CQ:{segment['type']}{values}]"


def escape_cq(text: str, comma: bool = False) -> str:
    text = text.replace("&", "&amp;").replace("[", "&#91;").replace("]", "&#93;")
    return text.replace(",", "&#44;") if comma else text


def unescape_cq(text: str) -> str:
    return _ESCAPED.sub(lambda match: _MEANT[match[0]], text) if "&" in text else text


def _add_text(segments: list[Segment], text: str) -> None:
    if text:
        segments.append({"type": "text", "data": {"text": unescape_cq(text)}})


def _data(parameters: str) -> dict[str, str]:
    pairs = (parameter.partition("=") for parameter in parameters.split(",")[1:])
    return {name: unescape_cq(value) for name, _, value in pairs if name}


def _to_text(value: Any) -> str:
    return str(int(value)) if isinstance(value, bool) else str(value)


def describe_segment(kind: str, data: Data) -> str | None:
    """Returns a description of the segment, or None if it has nothing that can be shown as text."""
    match kind:
        case "json":
            return _json_card(data.get("data"))
        case "xml":
            return _xml_card(data.get("data"))
        case "share":
            return _label_details("link", *_values(data, "title", "content", "url"))
        case "location":
            return _label_details("location", *_values(data, "title", "content"), _coordinates(data))
        case "contact":
            return _label_details("contact", " ".join(_values(data, "type", "id")))
        case "music":
            return _label_details("music", *_values(data, "title", "content", "url")) or _label_details(
                "music", *_values(data, "id")
            )
        case "dice":
            return _label_details("dice", *_values(data, "result"))
        case "rps":
            return _label_details("rock-paper-scissors", *_values(data, "result"))
        case "poke":
            return _label_details("poke", *_values(data, "name"))
        case "mface" | "marketface":
            return _label_details("sticker", _sticker_name(data))
        case "markdown":
            return text(data, "content")
    return None


def _sticker_name(data: Data) -> str:
    """Returns the sticker's caption, which implementations send in brackets."""
    return (text(data, "summary") or "").strip("[]")


def _json_card(card: Any) -> str | None:
    """Describes the card of a mini app: its prompt, or title, description and link of its content."""
    if isinstance(card, str):
        if len(card) > MAX_CARD_CHARACTERS:
            return None
        card = json.loads(card)
    if not isinstance(card, dict):
        return None
    views = card.get("meta")
    view_data = [each for each in views.values() if isinstance(each, dict)] if isinstance(views, dict) else []
    details = [detail for view in view_data[:3] for detail in _view_facts(view)]
    return _label_details("card", *(details or _values(card, "prompt", "desc")))


def _view_facts(view: Data) -> list[str]:
    details = [next(iter(_values(view, *names)), "") for names in (TITLES, DETAILS, LINKS)]
    return [each for each in (*details[:2], _coordinates(view), details[2]) if each]


def _xml_card(card: Any) -> str | None:
    if not isinstance(card, str) or len(card) > MAX_CARD_CHARACTERS:
        return None
    matches = [_XML_TEXT["title"].search(card), _XML_TEXT["summary"].search(card), _XML_ATTRIBUTE["url"].search(card)]
    if not any(matches[:2]):
        matches[0] = _XML_ATTRIBUTE["brief"].search(card)
    return _label_details("card", *(html.unescape(each[1]) for each in matches if each))


def _coordinates(data: Data) -> str:
    for names in COORDINATES:
        values = _values(data, *names)
        if len(values) == 2:
            return ", ".join(values)
    return ""


def _values(data: Data, *names: str) -> list[str]:
    values = (data.get(name) for name in names)
    scalars = (each for each in values if isinstance(each, str | int | float) and not isinstance(each, bool))
    return [text for each in scalars if (text := " ".join(str(each)[:MAX_FACT_CHARACTERS].split()))]


def _label_details(kind: str, *details: str) -> str | None:
    unique = [detail for detail in dict.fromkeys(details) if detail]
    return f"[{kind}: {'; '.join(unique)}]" if unique else None
