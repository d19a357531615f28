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
    text, given_entities = params.get(name, ""), params.get("entities" if name == "text" else "caption_entities") or []
    if not isinstance(text, str):
        raise Failed(400, f"Bad Request: {name} must be a string")
    mode = str(params.get("parse_mode") or "").lower()
    if mode == "html":
        text, given_entities = _html(text)
    elif mode.startswith("markdown"):
        text, given_entities = _markdown(text)
    text, entities = _trimmed(text, [_checked(each, units(text)) for each in given_entities])
    longest = LONGEST_TEXT if name == "text" else LONGEST_CAPTION
    if units(text) > longest:
        raise Failed(400, f"Bad Request: message {'' if name == 'text' else 'caption '}is too long")
    return text, sorted([*entities, *_detected(text, entities)], key=lambda each: each["offset"])


def _checked(entity: Any, length: int) -> Payload:
    is_valid = isinstance(entity, dict) and all(isinstance(entity.get(name), int) for name in ("offset", "length"))
    if not is_valid or entity["offset"] < 0 or entity["length"] < 1 or entity["offset"] + entity["length"] > length:
        raise Failed(400, "Bad Request: can't parse entities: an entity is out of the text's bounds")
    return dict(entity)


def _trimmed(text: str, entities: list[Payload]) -> Formatted:
    shorter = text.lstrip()
    removed = units(text) - units(shorter)
    shorter = shorter.rstrip()
    length = units(shorter)
    shifted = [(max(0, each["offset"] - removed), each["offset"] - removed + each["length"], each) for each in entities]
    bounded = [(start, min(end, length), each) for start, end, each in shifted]
    remaining = [{**each, "offset": start, "length": end - start} for start, end, each in bounded if start < end]
    return shorter, remaining


def _detected(text: str, entities: list[Payload]) -> list[Payload]:
    """Returns mentions and commands, which Telegram finds by itself outside of code."""
    matches = [("mention", match) for match in _MENTION.finditer(text)]
    matches += [("bot_command", match) for match in _COMMAND.finditer(text)]
    spans = [
        {"type": kind, "offset": units(text[: match.start()]), "length": units(match[0])} for kind, match in matches
    ]
    return [span for span in spans if not any(_within(span, each) for each in entities)]


def _within(inner: Payload, outer: Payload) -> bool:
    return bool(outer["offset"] <= inner["offset"] < outer["offset"] + outer["length"])


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
        name, start, attributes = self.open.pop()
        if units(self.text) > start:
            self.entities.append(
                {"type": _TAGS[name], "offset": start, "length": units(self.text) - start, **attributes}
            )

    def handle_data(self, data: str) -> None:
        self.text += data


def _markdown(text: str) -> Formatted:
    """Parses the marks of single characters; reserved characters must be escaped."""
    plain_text, entities, open_marks, index = "", list[Payload](), list[tuple[str, int]](), 0
    while index < len(text):
        sign = text[index]
        if sign == "\\" and index + 1 < len(text):
            plain_text += text[index + 1]
            index += 2
            continue
        if sign in _MARKS and open_marks and open_marks[-1][0] == sign:
            _, start = open_marks.pop()
            entities.append({"type": _MARKS[sign], "offset": start, "length": units(plain_text) - start})
        elif sign in _MARKS:
            open_marks.append((sign, units(plain_text)))
        elif sign in _RESERVED:
            reason = f"Character '{sign}' is reserved and must be escaped with the preceding '\\'"
            raise Failed(400, f"Bad Request: can't parse entities: {reason}")
        else:
            plain_text += sign
        index += 1
    if open_marks:
        raise Failed(400, "Bad Request: can't parse entities: Can't find end of the entity")
    return plain_text, entities
