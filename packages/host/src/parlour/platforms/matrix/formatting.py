"""Converts Markdown into the HTML of a formatted body.

Everything else is escaped, and only tags that Matrix knows are produced.
"""

import re
from collections.abc import Callable, Mapping
from functools import cache
from html import escape

from parlour.core.delivery.rendering.markdown_parser import markdown_parser

OPENED, CLOSED = "\ue000", "\ue001"
"""Delimiters around the number of a mention in a text that is to be formatted."""
_MARK = re.compile(f"{OPENED}([0-9]+){CLOSED}")
_MARKUP = re.compile(r"[\\`*_\[\]<>#~|]|^\s*(?:[-+]|\d+[.)])\s|^\s{4}|^[=-]+\s*$|https?://", re.MULTILINE)
_SCHEMES = ("http://", "https://", "mailto:")


def render_html(text: str, mentions: Mapping[int, str]) -> str:
    """Renders a text as HTML; empty if it needs no formatting. `mentions` are the links that replace their marks."""
    if not mentions and _MARKUP.search(text) is None:
        return ""
    html = _renderer()(text).strip().replace("\n</code>", "</code>")
    html = _unwrap_paragraph(html)
    return _MARK.sub(lambda mark: mentions.get(int(mark[1]), ""), html)


def strip_marks(text: str) -> str:
    """Removes mark characters from a text, so that only the marks of this module remain."""
    return text.replace(OPENED, "").replace(CLOSED, "")


def mark(number: int) -> str:
    return f"{OPENED}{number}{CLOSED}"


def pill(user_id: str, label: str) -> str:
    return f'<a href="https://matrix.to/#/{escape(user_id)}">{escape(label)}</a>'


def _unwrap_paragraph(html: str) -> str:
    """Removes the paragraph tags around a single paragraph, which would add space above and below it."""
    if html.startswith("<p>") and html.endswith("</p>") and html.count("<p>") == 1:
        return html.removeprefix("<p>").removesuffix("</p>")
    return html


@cache
def _renderer() -> Callable[[str], str]:
    parser = markdown_parser(breaks=True)
    parser.disable("image")  # Matrix shows no external images; a link remains
    parser.validateLink = lambda url: url.strip().lower().startswith(_SCHEMES)  # type: ignore[method-assign]
    return parser.render
