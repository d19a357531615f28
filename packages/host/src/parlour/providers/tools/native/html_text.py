"""Extracts the readable text of an HTML page: paragraphs, headings, lists, tables and links.

It does no network access.
"""

import re
from html import unescape
from urllib.parse import urljoin

from .html_tokenizer import CloseTag, OpenTag, tokenize

MAX_RESOLVED_LINKS = 2000
"""Maximum number of links per page whose targets are shown."""

_UNSEEN = frozenset({"script", "style", "noscript", "template", "svg", "math", "head", "iframe", "object", "select"})
_PARAGRAPHS = frozenset(
    {"p", "div", "section", "article", "header", "footer", "main", "aside", "nav", "form", "table", "ul", "ol", "dl"}
    | {"blockquote", "figure", "pre", "h1", "h2", "h3", "h4", "h5", "h6", "hr", "address", "details"}
)
_LINES = frozenset({"br", "li", "tr", "dt", "dd", "option", "summary", "figcaption"})
_HEADINGS = {f"h{level}": f"{'#' * level} " for level in range(1, 7)}
_SPACE = re.compile(r"[ \t\r\f\v\n\u00a0]+")
_BLANK = re.compile(r"\n(?:[ \t]*\n)+")
_ATTRIBUTE = re.compile(r"""(?<![\w-])(href|alt)\s?=\s?("[^"]*"|'[^']*'|[^\s"'>]+)""", re.IGNORECASE)


def extract_text(html: str, address: str) -> str:
    reader = _Reader(address)
    for token in tokenize(html):
        match token:
            case OpenTag():
                reader.open(token)
            case CloseTag():
                reader.close(token.tag)
            case str():
                reader.read(token)
    body = _BLANK.sub("\n\n", "".join(reader.pieces)).strip()
    title = _SPACE.sub(" ", reader.title).strip()
    return f"{title}\n\n{body}".strip() if title and not body.startswith(f"# {title}") else body


class _Reader:
    def __init__(self, address: str) -> None:
        self._address = address
        self._unseen = ""
        """The hidden element whose end tag is awaited; until then everything is skipped."""
        self._pre = False
        self._in_title = False
        self._links: list[str] = []
        self._resolved = 0
        self.pieces: list[str] = []
        self.title = ""

    def open(self, token: OpenTag) -> None:
        if token.tag == "title":
            self._in_title = True
        elif token.tag == "body":
            self._unseen = ""  # closes any hidden element that was left open before the body
        elif token.tag in _UNSEEN:
            self._unseen = self._unseen or token.tag
        elif not self._unseen:
            self._show(token)

    def _show(self, token: OpenTag) -> None:
        tag = token.tag
        if tag in _PARAGRAPHS:
            self.pieces.append("\n\n" + _HEADINGS.get(tag, ""))
            self._pre = tag == "pre"
        elif tag in _LINES:
            self.pieces.append("\n- " if tag == "li" else "\n")
        elif tag in ("td", "th"):
            self.pieces.append(" | ")
        elif tag == "img" and (alternative := _attribute(token, "alt")):
            self.pieces.append(f"[image: {alternative}]")
        elif tag == "a":
            self._links.append(self._target(_attribute(token, "href")))
            self.pieces.append("[" if self._links[-1] else "")

    def close(self, tag: str) -> None:
        if tag == "title":
            self._in_title = False
        elif tag == self._unseen:
            self._unseen = ""
        elif self._unseen:
            return
        elif tag == "a" and self._links:
            target = self._links.pop()
            self.pieces.append(f"]({target})" if target else "")
        elif tag in _PARAGRAPHS:
            self.pieces.append("\n\n")
            self._pre = False

    def read(self, text: str) -> None:
        if self._in_title:
            self.title = self.title or text
        elif not self._unseen:
            self.pieces.append(text if self._pre else self._flowing(text))

    def _flowing(self, text: str) -> str:
        """Collapses whitespace; no line begins with a space."""
        flowing = _SPACE.sub(" ", text)
        return flowing.lstrip() if self.pieces and self.pieces[-1].endswith("\n") else flowing

    def _target(self, address: str) -> str:
        """Returns the absolute target of a link; empty if it does not lead to another page."""
        self._resolved += 1
        if not address or address.startswith("#") or self._resolved > MAX_RESOLVED_LINKS:
            return ""
        try:
            target = urljoin(self._address, address.strip())
        except ValueError:
            return ""
        return target if target.startswith(("http://", "https://")) else ""


def _attribute(token: OpenTag, name: str) -> str:
    for match in _ATTRIBUTE.finditer(token.attributes):
        if match[1].lower() == name:
            return unescape(match[2].strip("\"'"))
    return ""
