"""Handles text as the Bot API does: measured in UTF-16 units, trimmed, with entities given or parsed from markup."""

import re
from html.parser import HTMLParser
from typing import Any

from .failures import Failed
from .native import Payload

LONGEST_TEXT, LONGEST_CAPTION = 4096, 1024
_TAGS = {
    "b": "bold", "strong": "bold", "i": "italic", "em": "italic", "u": "underline", "s": "strikethrough",
    "del": "strikethrough", "code": "code", "pre": "pre", "blockquote": "blockquote", "tg-spoiler": "spoiler",
    "a": "text_link",
}  # fmt: skip
_MARKS = {"*": "bold", "_": "italic", "~": "strikethrough", "`": "code"}
_RESERVED = set("[]()>#+-=|{}.!")
_COMMAND = re.compile(r"(?<![\w/])/[a-zA-Z0-9_]{1,32}(?:@\w{3,32})?")
_MENTION = re.compile(r"(?<!\w)@[a-zA-Z]\w{3,31}")
Formatted = tuple[str, list[Payload]]


def units(text: str) -> int:
    return len(text.encode("utf-16-le", "surrogatepass")) // 2


def formatted(params: Payload, name: str = "text") -> Formatted:
    """Returns the text and its entities. Raises Failed with Telegram's text."""
    text, given = params.get(name, ""), params.get("entities" if name == "text" else "caption_entities") or []
    if not isinstance(text, str):
        raise Failed(400, f"Bad Request: {name} must be a string")
    mode = str(params.get("parse_mode") or "").lower()
    if mode == "html":
        text, given = _html(text)
    elif mode.startswith("markdown"):
        text, given = _markdown(text)
    text, entities = _trimmed(text, [_checked(each, units(text)) for each in given])
    longest = LONGEST_TEXT if name == "text" else LONGEST_CAPTION
    if units(text) > longest:
        raise Failed(400, f"Bad Request: message {'' if name == 'text' else 'caption '}is too long")
    return text, sorted([*entities, *_found(text, entities)], key=lambda each: each["offset"])


def _checked(entity: Any, most: int) -> Payload:
    good = isinstance(entity, dict) and all(isinstance(entity.get(name), int) for name in ("offset", "length"))
    if not good or entity["offset"] < 0 or entity["length"] < 1 or entity["offset"] + entity["length"] > most:
        raise Failed(400, "Bad Request: can't parse entities: an entity is out of the text's bounds")
    return dict(entity)


def _trimmed(text: str, entities: list[Payload]) -> Formatted:
    shorter = text.lstrip()
    cut = units(text) - units(shorter)
    shorter = shorter.rstrip()
    most = units(shorter)
    moved = [(max(0, each["offset"] - cut), each["offset"] - cut + each["length"], each) for each in entities]
    within = [(start, min(end, most), each) for start, end, each in moved]
    kept = [{**each, "offset": start, "length": end - start} for start, end, each in within if start < end]
    return shorter, kept


def _found(text: str, entities: list[Payload]) -> list[Payload]:
    """Returns mentions and commands, which Telegram finds by itself outside of code."""
    found = [("mention", match) for match in _MENTION.finditer(text)]
    found += [("bot_command", match) for match in _COMMAND.finditer(text)]
    places = [
        {"type": kind, "offset": units(text[: match.start()]), "length": units(match[0])} for kind, match in found
    ]
    return [place for place in places if not any(_within(place, each) for each in entities)]


def _within(place: Payload, other: Payload) -> bool:
    return bool(other["offset"] <= place["offset"] < other["offset"] + other["length"])


def _html(text: str) -> Formatted:
    reader = _Html()
    reader.feed(text)
    reader.close()
    if reader.open:
        raise Failed(
            400, f"Bad Request: can't parse entities: Can't find end tag corresponding to {reader.open[-1][0]}"
        )
    return reader.text, reader.entities


class _Html(HTMLParser):
    def __init__(self) -> None:
        super().__init__(convert_charrefs=True)
        self.text = ""
        self.entities: list[Payload] = []
        self.open: list[tuple[str, int, Payload]] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        if tag not in _TAGS:
            raise Failed(400, f'Bad Request: can\'t parse entities: Unsupported start tag "{tag}"')
        address = {"url": dict(attrs).get("href") or ""} if tag == "a" else {}
        self.open.append((tag, units(self.text), address))

    def handle_endtag(self, tag: str) -> None:
        if not self.open or self.open[-1][0] != tag:
            raise Failed(400, f'Bad Request: can\'t parse entities: Unexpected end tag "{tag}"')
        name, start, more = self.open.pop()
        if units(self.text) > start:
            self.entities.append({"type": _TAGS[name], "offset": start, "length": units(self.text) - start, **more})

    def handle_data(self, data: str) -> None:
        self.text += data


def _markdown(text: str) -> Formatted:
    """Parses the marks of single characters; reserved characters must be escaped."""
    told, entities, opened, at = "", list[Payload](), list[tuple[str, int]](), 0
    while at < len(text):
        sign = text[at]
        if sign == "\\" and at + 1 < len(text):
            told += text[at + 1]
            at += 2
            continue
        if sign in _MARKS and opened and opened[-1][0] == sign:
            _, start = opened.pop()
            entities.append({"type": _MARKS[sign], "offset": start, "length": units(told) - start})
        elif sign in _MARKS:
            opened.append((sign, units(told)))
        elif sign in _RESERVED:
            reason = f"Character '{sign}' is reserved and must be escaped with the preceding '\\'"
            raise Failed(400, f"Bad Request: can't parse entities: {reason}")
        else:
            told += sign
        at += 1
    if opened:
        raise Failed(400, "Bad Request: can't parse entities: Can't find end of the entity")
    return told, entities
