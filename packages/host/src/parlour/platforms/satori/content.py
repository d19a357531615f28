"""Converts the elements of a Satori message into components, in order."""

import base64
import binascii
from collections.abc import Iterable, Mapping
from typing import Any
from urllib.parse import unquote_to_bytes

from parlour.platforms._kit.payloads import UNREADABLE
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

from .elements import Element, parse
from .entities import NAME

MEDIA: dict[str, type[Image | Voice | Video | File]] = {"img": Image, "audio": Voice, "video": Video, "file": File}
STYLES = frozenset(
    ("b", "strong", "i", "em", "u", "ins", "s", "del", "spl", "code", "sup", "sub", "pre", "template", "text")
)
MAX_NESTED = 3
Files = Mapping[str, tuple[bytes, str]]
"""Contents that were fetched from the server, with their types, by their addresses."""


def read_content(content: str, files: Files) -> MessageChain:
    """Converts a message. Never fails: what can't be read becomes Unknown."""
    try:
        return _merged(_components(parse(content), files, 0))
    except UNREADABLE:
        return [Unknown(text="[a message that can't be read]")]


def sources(content: str) -> list[str]:
    """Returns the addresses of all files of a message."""
    waiting, found = parse(content), list[str]()
    while waiting:
        each = waiting.pop()
        if each.name in MEDIA and each.attribute("src", "url"):
            found.append(each.attribute("src", "url"))
        waiting += each.children
    return found


def _components(elements: Iterable[Element], files: Files, depth: int) -> list[Component]:
    found: list[Component] = []
    for each in elements:
        found += _component(each, files, depth)
    return found


def _component(each: Element, files: Files, depth: int) -> list[Component]:
    match each.name:
        case "":
            return [Plain(text=each.text)]
        case "at":
            return [_mention(each)]
        case "emoji" | "face":
            return [Face(id=each.attribute("id") or "?", name=each.attribute("name") or None)]
        case "br":
            return [Plain(text="\n")]
        case "p":
            return [*_components(each.children, files, depth), Plain(text="\n")]
        case "a":
            label, address = each.texts(), each.attribute("href")
            shown = f"{label} ({address})" if label and address and label != address else label or address
            return [Plain(text=shown)]
        case "sharp":
            return [Plain(text=f"#{each.attribute('name', 'id')}")]
        case "quote":
            return [_quote(each, files, depth)]
        case "message":
            return _messages(each, files, depth)
        case "button":
            data = {**each.attributes, "label": each.texts()}
            return [Platform(platform=NAME, component_type="button", data=data, text=f"[button: {each.texts()}]")]
        case name if name in MEDIA:
            return [_file(each, files)]
        case name if name in STYLES:
            return _components(each.children, files, depth)
    text = each.texts()
    shown = f"[{each.name}: {text}]" if text else f"[{each.name}]"
    return [Platform(platform=NAME, component_type=each.name, data=dict(each.attributes), text=shown)]


def _mention(each: Element) -> Component:
    if each.attribute("type") in ("all", "here"):
        return AtAll()
    if each.attribute("id"):
        return At(target=each.attribute("id"), display=each.attribute("name") or None)
    return Plain(text=f"@{each.attribute('role', 'name')}")


def _quote(each: Element, files: Files, depth: int) -> Component:
    author = next((child for child in each.children if child.name == "author"), Element())
    content = [child for child in each.children if child.name != "author"]
    origin = _merged(_components(content, files, depth + 1)) if depth < MAX_NESTED else []
    return Quote(
        id=each.attribute("id") or None,
        sender=author.attribute("id", "user-id") or None,
        name=author.attribute("name", "nickname") or None,
        origin=origin,
    )


def _messages(each: Element, files: Files, depth: int) -> list[Component]:
    """Returns a forward, or the content of a part of a message."""
    if each.attribute("forward") != "true" or depth >= MAX_NESTED:
        return _components(each.children, files, depth)
    inner = [child for child in each.children if child.name == "message"]
    if not inner and each.attribute("id"):
        return [Forward(nodes=[ForwardNode(message_id=each.attribute("id"))])]
    return [Forward(nodes=[_node(child, files, depth) for child in inner])]


def _node(each: Element, files: Files, depth: int) -> ForwardNode:
    author = next((child for child in each.children if child.name == "author"), Element())
    content = [child for child in each.children if child.name != "author"]
    return ForwardNode(
        sender=author.attribute("id", "user-id") or None,
        name=author.attribute("name", "nickname") or None,
        message_id=each.attribute("id") or None,
        chain=_merged(_components(content, files, depth + 1)),
    )


def _file(each: Element, files: Files) -> Component:
    kind, source, name = MEDIA[each.name], each.attribute("src", "url"), each.attribute("title", "file") or None
    fetched = files.get(source) or _inline(source)
    duration = each.attribute("duration")
    timed: dict[str, Any] = (
        {"duration": float(duration)}
        if kind in (Voice, Video) and duration.replace(".", "", 1).isascii() and duration.replace(".", "", 1).isdigit()
        else {}
    )
    if fetched is not None:
        content, mime_type = fetched
        encoded = base64.b64encode(content).decode()
        return kind(base64=encoded, name=name, mime_type=mime_type or None, size=len(content), **timed)
    if source.startswith(("http://", "https://")):
        return kind(url=source, name=name, **timed)
    return Unknown(text=f"[{name or each.name}: it could not be fetched]")


def _inline(source: str) -> tuple[bytes, str] | None:
    """Returns the content of a data address with its type."""
    if not source.startswith("data:") or "," not in source:
        return None
    head, _, body = source[5:].partition(",")
    mime_type = head.partition(";")[0]
    if not head.endswith(";base64"):
        return unquote_to_bytes(body), mime_type
    try:
        return base64.b64decode(body, validate=True), mime_type
    except (binascii.Error, ValueError):
        return None


def _merged(components: list[Component]) -> list[Component]:
    """Joins texts that follow each other."""
    merged: list[Component] = []
    for each in components:
        if isinstance(each, Plain) and merged and isinstance(merged[-1], Plain):
            merged[-1] = Plain(text=merged[-1].text + each.text)
        else:
            merged.append(each)
    return merged
