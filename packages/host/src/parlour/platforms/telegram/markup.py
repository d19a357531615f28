"""Converts Markdown into text with entities.

It parses the few HTML tags that delivery produces, which are always closed.
"""

from dataclasses import field
from html.parser import HTMLParser
from typing import Any

from parlour.core.delivery.rendering.html import to_html
from parlour.core.delivery.rendering.text_formatter import has_markup
from parlour_sdk.values import dataclass

from .entities import Payload

MAX_TEXT_LENGTH = 4096
MAX_CAPTION_LENGTH = 1024
_KINDS = {"b": "bold", "i": "italic", "s": "strikethrough", "code": "code", "pre": "pre", "blockquote": "blockquote"}
_LANGUAGE = "language-"
_LINKS = ("http://", "https://", "mailto:")
"""Allowed link schemes. A tg:// address could mention a user or command the app."""


def utf16_length(text: str) -> int:
    return len(text) if text.isascii() else len(text.encode("utf-16-le", "surrogatepass")) // 2


@dataclass(slots=True)
class EntityText:
    """A text and its entities, whose offsets count UTF-16 code units."""

    text: str = ""
    entities: list[Payload] = field(default_factory=list)

    def add(self, text: str, **entity: object) -> None:
        """Appends a text, with an entity over all of it if one is given."""
        if entity and text:
            self.entities.append({"offset": utf16_length(self.text), "length": utf16_length(text), **entity})
        self.text += text

    def join(self, other: "EntityText") -> None:
        start = utf16_length(self.text)
        self.entities += [{**entity, "offset": entity["offset"] + start} for entity in other.entities]
        self.text += other.text

    @property
    def blank(self) -> bool:
        """True if the text has only whitespace, which Telegram refuses as a message."""
        return not self.text.strip()

    def parameters(self, name: str = "text") -> Payload:
        """Returns the parameters of a method, named `text` or `caption`."""
        entities_name = f"{name}_entities" if name == "caption" else "entities"
        return {name: self.text, **({entities_name: self.entities} if self.entities else {})}


def render_markdown(text: str, markdown: bool) -> EntityText:
    """Converts a text; it stays unchanged if Markdown is disabled, there is no markup, or the result is too long."""
    if not markdown or not has_markup(text):
        return EntityText(text)
    reader = _Reader()
    reader.feed(to_html(text))
    reader.close()
    rendered = reader.made
    if rendered.blank or utf16_length(rendered.text) > MAX_TEXT_LENGTH:
        return EntityText(text)
    result = EntityText(text[: len(text) - len(text.lstrip())])
    result.join(rendered)
    result.add(text[len(text.rstrip()) :])  # keeps the surrounding whitespace, which separates it from the next part
    return result


class _Reader(HTMLParser):
    def __init__(self) -> None:
        super().__init__(convert_charrefs=True)
        self.made = EntityText()
        self._open: list[tuple[str, int, dict[str, Any]]] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        attributes = dict(attrs)
        start = utf16_length(self.made.text)
        if tag == "a":
            self._open.append((tag, start, {"type": "text_link", "url": attributes.get("href") or ""}))
        elif tag == "code" and self._inside("pre"):
            language = (attributes.get("class") or "").removeprefix(_LANGUAGE)
            self._open[-1][2].update({"language": language} if language else {})
            self._open.append((tag, start, {}))
        else:
            self._open.append((tag, start, {"type": _KINDS[tag]} if tag in _KINDS else {}))

    def handle_endtag(self, tag: str) -> None:
        if not self._open or self._open[-1][0] != tag:
            return
        _, start, entity = self._open.pop()
        size = utf16_length(self.made.text) - start
        is_valid = entity.get("type") != "text_link" or entity["url"].startswith(_LINKS)
        if entity and size and is_valid and not (entity["type"] == "blockquote" and self._inside("blockquote")):
            self.made.entities.append({"offset": start, "length": size, **entity})

    def handle_data(self, data: str) -> None:
        self.made.text += data

    def _inside(self, tag: str) -> bool:
        return any(each[0] == tag for each in self._open)
