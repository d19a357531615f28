"""Splits a page into tags and text in one pass.

Pages are untrusted: no input is scanned twice, which the standard library's parser does not guarantee (its time grows
with the square of the unclosed input).
"""

import re
from collections.abc import Iterator
from html import unescape
from typing import NamedTuple

MARKUP = re.compile(r"<(?:[a-zA-Z!?]|/[a-zA-Z])")
TAG_NAME = re.compile(r"/?[a-zA-Z][a-zA-Z0-9-]{0,30}")
MAX_ATTRIBUTE_CHARACTERS = 1024
RAW_TEXT_TAGS = frozenset({"script", "style", "textarea", "title", "noscript", "iframe", "xmp", "noembed", "noframes"})
"""Elements whose content is not parsed up to their end tag."""


class OpenTag(NamedTuple):
    """Start tag."""

    tag: str
    attributes: str
    """The unparsed attributes."""


class CloseTag(NamedTuple):
    tag: str


Token = OpenTag | CloseTag | str


def tokenize(html: str) -> Iterator[Token]:
    lowered = html.lower() if len(html.lower()) == len(html) else html
    position = 0
    while match := MARKUP.search(html, position):
        start = match.start()
        if start > position:
            yield unescape(html[position:start])
        position, token = _markup(html, start)
        if token is not None:
            yield token
        if isinstance(token, OpenTag) and token.tag in RAW_TEXT_TAGS:
            end = lowered.find(f"</{token.tag}", position)
            yield unescape(html[position : end if end >= 0 else len(html)])
            position = end if end >= 0 else len(html)
    yield unescape(html[position:])


def _markup(html: str, start: int) -> tuple[int, Token | None]:
    """Returns the position after the markup, and its token. Unclosed markup extends to the end of the page."""
    if html.startswith(("<!", "<?"), start):
        return _after(html, "-->" if html.startswith("<!--", start) else ">", start), None
    name = TAG_NAME.match(html, start + 1)
    assert name is not None
    end = _after(html, ">", start)
    tag = name[0].lower()
    if tag.startswith("/"):
        return end, CloseTag(tag[1:])
    return end, OpenTag(tag, html[name.end() : min(end, name.end() + MAX_ATTRIBUTE_CHARACTERS)])


def _after(html: str, terminator: str, start: int) -> int:
    index = html.find(terminator, start)
    return index + len(terminator) if index >= 0 else len(html)
