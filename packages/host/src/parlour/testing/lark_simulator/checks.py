"""Checks the content of messages and cards as strictly as Lark does, with its error numbers."""

import json
import re
from typing import Any

from .world import Json, LarkRefusal

MAX_TEXT_BYTES, MAX_RICH_BYTES, MAX_ELEMENTS = 150 * 1024, 30 * 1024, 200
TAGS = ("text", "a", "at", "img", "media", "emotion", "md", "hr", "code_block")
_ELEMENT_ID = re.compile(r"[A-Za-z][A-Za-z0-9_]{0,19}")


def read_content(kind: Any, content: Any) -> Json:
    """Returns the content of a message if Lark would accept it. Raises LarkRefusal."""
    if not isinstance(content, str):
        raise LarkRefusal(230001, "content is not a string in json format")
    try:
        read = json.loads(content)
    except ValueError:
        raise LarkRefusal(230001, "content is not a string in json format") from None
    if not isinstance(read, dict):
        raise LarkRefusal(230001, "content is not a string in json format")
    size = len(content.encode())
    match kind:
        case "text":
            if not isinstance(read.get("text"), str) or not read["text"].strip():
                raise LarkRefusal(230001, "text content is empty")
            _check_size(size, MAX_TEXT_BYTES)
        case "post":
            _check_post(read)
            _check_size(size, MAX_RICH_BYTES)
        case "image":
            _need(read, "image_key")
        case "file" | "audio" | "media":
            _need(read, "file_key")
        case "interactive":
            if read.get("type") != "card":
                check_card(read)
            _check_size(size, MAX_RICH_BYTES)
        case _:
            raise LarkRefusal(230001, "invalid msg_type")
    return read


def _need(content: Json, name: str) -> None:
    if not isinstance(content.get(name), str) or not content[name]:
        raise LarkRefusal(230001, f"{name} is missing")


def _check_size(size: int, most: int) -> None:
    if size > most:
        raise LarkRefusal(230025, "The length of the message content reaches its limit.")


def _check_post(content: Json) -> None:
    if not content or not all(
        isinstance(each, dict) and isinstance(each.get("content"), list) for each in content.values()
    ):
        raise LarkRefusal(230001, "invalid post content")
    for language in content.values():
        for row in language["content"]:
            tags = [each.get("tag") for each in row]
            if not all(tag in TAGS for tag in tags) or ("md" in tags and len(row) > 1):
                raise LarkRefusal(230001, "invalid post tag")


def check_card(card: Json) -> None:
    """Raises LarkRefusal for a card that Lark can't show."""
    if card.get("schema") != "2.0" or not isinstance(card.get("body"), dict):
        raise LarkRefusal(230099, "Failed to create card content, ext=ErrCode: 200621; ErrMsg: parse card json err")
    seen: set[str] = set()
    elements = list(_elements(card["body"].get("elements")))
    if len(elements) > MAX_ELEMENTS:
        raise LarkRefusal(230099, "Failed to create card content, ext=ErrCode: 11310; ErrMsg: too many elements")
    for each in elements:
        element_id = each.get("element_id")
        if element_id is not None and (not _ELEMENT_ID.fullmatch(element_id) or element_id in seen):
            raise LarkRefusal(230099, "Failed to create card content, ext=ErrCode: 300301; ErrMsg: invalid element id")
        seen.add(element_id or "")
        if each.get("tag") == "button" and not isinstance(each.get("behaviors"), list):
            raise LarkRefusal(230099, "Failed to create card content, ext=ErrCode: 11246; ErrMsg: invalid button")


def _elements(value: Any) -> Any:
    if not isinstance(value, list):
        raise LarkRefusal(230099, "Failed to create card content, ext=ErrCode: 11246; ErrMsg: elements is no list")
    for each in value:
        if not isinstance(each, dict) or not isinstance(each.get("tag"), str):
            raise LarkRefusal(230099, "Failed to create card content, ext=ErrCode: 11246; ErrMsg: invalid element")
        yield each
        for column in each.get("columns", ()):
            yield from _elements(column.get("elements"))


def buttons_of(card: Json) -> list[Json]:
    """Returns the buttons of a card."""
    return [each for each in _elements(card.get("body", {}).get("elements", [])) if each["tag"] == "button"]
