"""Converts Markdown into text with entities.

It parses the few HTML tags that delivery produces, which are always closed.
"""

from html.parser import HTMLParser
from typing import Any

from parlour.core.delivery.rendering.html import to_html
from parlour.core.delivery.rendering.text_formatter import has_markup

from .text_entities import MAX_TEXT_LENGTH, EntityText, utf16_length

_KINDS = {"b": "bold", "i": "italic", "s": "strikethrough", "code": "code", "pre": "pre", "blockquote": "blockquote"}
_LANGUAGE = "language-"
_LINKS = ("http://", "https://", "mailto:")
"""Allowed link schemes. A tg:// address could mention a user or command the app."""


def render_markdown(text: str, markdown: bool) -> EntityText:
    """Converts a text; it stays unchanged if Markdown is disabled, there is no markup, or the result is too long."""
    if not markdown or not has_markup(text):
        return EntityText(text)
    reader = _Reader()
    reader.feed(to_html(text))
    reader.close()
    made = reader.made
    if made.blank or utf16_length(made.text) > MAX_TEXT_LENGTH:
        return EntityText(text)
    whole = EntityText(text[: len(text) - len(text.lstrip())])
    whole.join(made)
    whole.add(text[len(text.rstrip()) :])  # keeps the surrounding whitespace, which separates it from the next part
    return whole


class _Reader(HTMLParser):
    def __init__(self) -> None:
        super().__init__(convert_charrefs=True)
        self.made = EntityText()
        self._open: list[tuple[str, int, dict[str, Any]]] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        named = dict(attrs)
        start = utf16_length(self.made.text)
        if tag == "a":
            self._open.append((tag, start, {"type": "text_link", "url": named.get("href") or ""}))
        elif tag == "code" and self._inside("pre"):
            language = (named.get("class") or "").removeprefix(_LANGUAGE)
            self._open[-1][2].update({"language": language} if language else {})
            self._open.append((tag, start, {}))
        else:
            self._open.append((tag, start, {"type": _KINDS[tag]} if tag in _KINDS else {}))

    def handle_endtag(self, tag: str) -> None:
        if not self._open or self._open[-1][0] != tag:
            return
        _, start, entity = self._open.pop()
        size = utf16_length(self.made.text) - start
        shown = entity.get("type") != "text_link" or entity["url"].startswith(_LINKS)
        if entity and size and shown and not (entity["type"] == "blockquote" and self._inside("blockquote")):
            self.made.entities.append({"offset": start, "length": size, **entity})

    def handle_data(self, data: str) -> None:
        self.made.text += data

    def _inside(self, tag: str) -> bool:
        return any(each[0] == tag for each in self._open)
