"""Converts the content of a Lark message into components of a chain, in order. Files already have their content."""

import json
import re
from typing import Any

from parlour.platforms._kit.payloads import UNREADABLE, Payload, number, object_in, objects_in, text
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

from .entities import NAME, time_milliseconds

FILES, QUOTED, CHILDREN = "files", "quoted", "children"
"""Keys that are added to a message: its files by key, the message that it answers, and those that it forwards."""
EVERYONE = "@_all"
MAX_FACT_CHARACTERS = 500
_PLACEHOLDER = re.compile(r"@_user_\d+|@_all\b")
_TAG = re.compile(r'<at user_id="([^"<>]+)">([^<>]*)</at>')
_NAMED = {"share_chat": "a shared chat", "share_user": "a shared contact", "location": "a location", "todo": "a task",
          "vote": "a vote", "calendar": "a calendar event", "hongbao": "a red packet", "system": "a system message",
          "video_chat": "a meeting", "share_calendar_event": "a calendar event"}  # fmt: skip


def decode_chain(message: Payload, depth: int = 0) -> MessageChain:
    """Converts a message. Never fails: an unreadable message becomes Unknown."""
    try:
        content = read_content(message)
        chain = _components(text(message, "message_type") or text(message, "msg_type"), content, message, depth)
    except UNREADABLE:
        return [Unknown(text="[a message that can't be read]")]
    return chain or [Unknown(text="[a message without anything that can be shown]")]


def read_content(message: Payload) -> Payload:
    """Returns the content of a message, which is JSON in a text. Raises ValueError if it is something else."""
    content = message.get("content")
    if content is None:
        content = object_in(message, "body").get("content")
    if not isinstance(content, str):
        raise ValueError("the content of a message is a text")
    try:
        read = json.loads(content)
    except ValueError:
        return {"text": content}  # forwarded and recalled messages have a sentence instead
    if not isinstance(read, dict):
        raise ValueError("the content of a message is an object")
    return read


def file_keys(message: Payload) -> list[tuple[str, str]]:
    """Returns the keys of the files in a message, each with the kind under which Lark gives it out."""
    try:
        content = read_content(message)
    except UNREADABLE:
        return []
    kind = text(message, "message_type") or text(message, "msg_type")
    if kind == "post":
        elements = [each for row in _rows(content) for each in row]
        keys = [(text(each, "image_key"), "image") for each in elements if each.get("tag") == "img"]
        keys += [(text(each, "file_key"), "file") for each in elements if each.get("tag") == "media"]
    elif kind == "image":
        keys = [(text(content, "image_key"), "image")]
    elif kind in ("file", "audio", "media"):
        keys = [(text(content, "file_key"), "file")]
    else:
        keys = []
    return [each for each in keys if each[0]]


def _components(kind: str, content: Payload, message: Payload, depth: int) -> MessageChain:
    match kind:
        case "text":
            return _text_components(text(content, "text"), message)
        case "post":
            return _post(content, message)
        case "image":
            return [_file(Image, text(content, "image_key"), "an image", content, message)]
        case "file":
            return [_file(File, text(content, "file_key"), "a file", content, message)]
        case "audio":
            return [_file(Voice, text(content, "file_key"), "a voice message", content, message)]
        case "media":
            return [_file(Video, text(content, "file_key"), "a video", content, message)]
        case "sticker":
            return [Unknown(text="[a sticker]")]
        case "merge_forward":
            return _forward(message, depth)
        case "interactive":
            facts = " ".join(_texts(content))[:MAX_FACT_CHARACTERS]
            shown = f"[card: {facts}]" if facts else "[card]"
            return [Platform(platform=NAME, component_type="card", data=content, text=shown)]
    name = _NAMED.get(kind, kind or "a message of an unknown kind")
    facts = " ".join(_texts(content))[:MAX_FACT_CHARACTERS]
    return [Platform(platform=NAME, component_type=kind or "unknown", data=content, text=f"[{name}: {facts}]")]


def _text_components(content: str, message: Payload) -> MessageChain:
    """Splits a text into plain parts and mentions."""
    chain: list[Component] = []
    position = 0
    known = _mentions(message)
    for match in _PLACEHOLDER.finditer(content):
        _add(chain, Plain(text=content[position : match.start()]))
        _add(chain, _mention(match[0], known))
        position = match.end()
    _add(chain, Plain(text=content[position:]))
    return chain


def _mentions(message: Payload) -> dict[str, Payload]:
    return {text(each, "key"): each for each in objects_in(message, "mentions")}


def _mention(key: str, known: dict[str, Payload], name: str = "") -> Component:
    if key in (EVERYONE, "all"):
        return AtAll()
    mention = known.get(key, {})
    ids = mention.get("id")
    target = ids.get("open_id") if isinstance(ids, dict) else ids
    shown = text(mention, "name") or name
    if isinstance(target, str) and target:
        return At(target=target, display=shown or None)
    return Plain(text=f"@{shown}" if shown else key)


def _rows(content: Payload) -> list[list[Payload]]:
    rows = content.get("content")
    if not isinstance(rows, list):
        return []
    return [[each for each in row if isinstance(each, dict)] for row in rows if isinstance(row, list)]


def _post(content: Payload, message: Payload) -> MessageChain:
    chain: list[Component] = []
    known = _mentions(message)
    if title := text(content, "title"):
        _add(chain, Plain(text=f"{title}\n"))
    for place, row in enumerate(_rows(content)):
        if place:
            _add(chain, Plain(text="\n"))
        for element in row:
            for component in _element(element, message, known):
                _add(chain, component)
    return chain


def _element(element: Payload, message: Payload, known: dict[str, Payload]) -> MessageChain:
    match element.get("tag"):
        case "text":
            return _text_components(text(element, "text"), message)
        case "md":
            return _markdown(text(element, "text"), known)
        case "a":
            label, address = text(element, "text"), text(element, "href")
            return [Plain(text=f"{label} ({address})" if label and label not in address else address)]
        case "at":
            return [_mention(text(element, "user_id"), known, text(element, "user_name"))]
        case "img":
            return [_file(Image, text(element, "image_key"), "an image", {}, message)]
        case "media":
            return [_file(Video, text(element, "file_key"), "a video", {}, message)]
        case "emotion":
            return [Face(id=text(element, "emoji_type") or "unknown")]
        case "code_block":
            return [Plain(text=f"```{text(element, 'language').lower()}\n{text(element, 'text')}\n```")]
        case "hr":
            return [Plain(text="---")]
    return [Plain(text=text(element, "text"))]


def _markdown(content: str, known: dict[str, Payload]) -> MessageChain:
    """Splits a Markdown text, which only the bot's own messages have, into plain parts and mentions."""
    chain: list[Component] = []
    position = 0
    for match in _TAG.finditer(content):
        _add(chain, Plain(text=content[position : match.start()].replace("&#60;", "<")))
        _add(chain, AtAll() if match[1] == "all" else At(target=match[1], display=match[2] or None))
        position = match.end()
    _add(chain, Plain(text=content[position:].replace("&#60;", "<")))
    return chain


def _add(chain: list[Component], component: Component) -> None:
    """Adds a component; adjacent texts become one."""
    if isinstance(component, Plain) and chain and isinstance(chain[-1], Plain):
        chain[-1] = Plain(text=chain[-1].text + component.text)
    elif not isinstance(component, Plain) or component.text:
        chain.append(component)


def _file(
    kind: type[Image] | type[Voice] | type[Video] | type[File], key: str, name: str, content: Payload, message: Payload
) -> Component:
    file = object_in(object_in(message, FILES), key)
    if not text(file, "base64"):
        return Unknown(text=f"[{text(content, 'file_name') or name}: {text(file, 'problem') or 'it was not fetched'}]")
    details: dict[str, Any] = {"base64": text(file, "base64"), "size": number(file.get("size"))}
    if text(content, "file_name"):
        details["name"] = text(content, "file_name")
    milliseconds = number(content.get("duration"))
    if kind in (Voice, Video) and milliseconds is not None:
        details["duration"] = milliseconds / 1000
    return kind(**details)


def _forward(message: Payload, depth: int) -> MessageChain:
    children = objects_in(message, CHILDREN)
    if not children or depth >= NESTED_QUOTES - 1:
        return [Unknown(text="[forwarded messages]")]
    return [Forward(nodes=[_node(each, depth) for each in children])]


def _node(message: Payload, depth: int) -> ForwardNode:
    return ForwardNode(
        sender=text(object_in(message, "sender"), "id") or None,
        message_id=text(message, "message_id") or None,
        time=time_milliseconds(message["create_time"]) if "create_time" in message else None,
        chain=decode_chain(message, depth + 1),
    )


def quote_of(message: Payload) -> list[Component]:
    """Returns the message that this one answers; nothing if it answers none."""
    parent = text(message, "parent_id")
    if not parent:
        return []
    quoted = object_in(message, QUOTED)
    author = text(object_in(quoted, "sender"), "id") or None
    return [Quote(id=parent, sender=author, origin=decode_chain(quoted, 1) if quoted else [])]


def _texts(value: Any, depth: int = 8) -> list[str]:
    """Returns the texts in a card, at any depth."""
    if not depth:
        return []
    if isinstance(value, dict):
        own = [value[name] for name in ("text", "content", "title", "name") if isinstance(value.get(name), str)]
        return own + [each for part in value.values() for each in _texts(part, depth - 1)]
    return [each for part in value for each in _texts(part, depth - 1)] if isinstance(value, list) else []
