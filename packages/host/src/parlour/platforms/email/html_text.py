"""Converts the HTML of a mail to text: links and quotes are kept, styles and scripts are not."""

import re
from html.parser import HTMLParser

_HIDDEN = frozenset(("script", "style", "head", "title", "template"))
_BLOCKS = frozenset(
    ("p", "div", "tr", "table", "ul", "ol", "h1", "h2", "h3", "h4", "h5", "h6", "pre", "section", "article", "hr")
)
_SPACE = re.compile(r"[ \t\n\r\f\xa0]+")
IMAGE_MARK = "\ufffc"
"""Stands for an embedded picture in the text, followed by its Content-ID and a second mark."""


def html_to_text(content: str) -> str:
    """Returns the text of HTML; a picture of the mail itself is `IMAGE_MARK`, its Content-ID and `IMAGE_MARK`."""
    reader = _Reader()
    reader.feed(content)
    reader.close()
    return reader.text()


class _Reader(HTMLParser):
    def __init__(self) -> None:
        super().__init__(convert_charrefs=True)
        self._lines: list[str] = [""]
        self._hidden = 0
        self._preformatted = 0
        self._quotes = 0
        self._links: list[tuple[str, int]] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        values = {name: value or "" for name, value in attrs}
        if tag in _HIDDEN:
            self._hidden += 1
        elif tag == "br":
            self._new_line()
        elif tag == "li":
            self._new_block()
            self._add("- ")
        elif tag == "blockquote" or "gmail_quote" in values.get("class", "").split():
            self._new_block()
            if tag == "blockquote":
                self._quotes += 1
                self._lines[-1] = self._prefix()
        elif tag in _BLOCKS:
            self._new_block()
        if tag == "pre":
            self._preformatted += 1
        elif tag == "a":
            self._links.append((values.get("href", ""), len("\n".join(self._lines))))
        elif tag == "img" and values.get("src", "").lower().startswith("cid:"):
            self._add(f"{IMAGE_MARK}{values['src'][4:]}{IMAGE_MARK}")

    def handle_endtag(self, tag: str) -> None:
        if tag in _HIDDEN:
            self._hidden = max(0, self._hidden - 1)
        elif tag == "blockquote":
            self._quotes = max(0, self._quotes - 1)
            self._new_line()
        elif tag == "a" and self._links:
            self._end_link(*self._links.pop())
        elif tag in ("td", "th"):
            self._add(" ")
        elif tag in _BLOCKS or tag == "li":
            self._new_block()
        if tag == "pre":
            self._preformatted = max(0, self._preformatted - 1)

    def handle_data(self, data: str) -> None:
        if self._hidden:
            return
        if self._preformatted:
            first, *others = data.split("\n")
            self._add(first)
            for line in others:
                self._new_line()
                self._add(line)
            return
        text = _SPACE.sub(" ", data)
        if self._lines[-1] == self._prefix() or self._lines[-1].endswith(" "):
            text = text.lstrip(" ")
        self._add(text)

    def text(self) -> str:
        lines = [line.rstrip() for line in self._lines]
        while lines and not lines[-1].strip(" >"):
            lines.pop()
        return re.sub(r"\n{3,}", "\n\n", "\n".join(lines)).strip()

    def _add(self, text: str) -> None:
        if not self._hidden:
            self._lines[-1] += text

    def _end_link(self, address: str, start: int) -> None:
        label = "\n".join(self._lines)[start:].strip()
        is_web = address.startswith(("http://", "https://"))
        if is_web and label and address.rstrip("/") != label.rstrip("/"):
            self._add(f" ({address})")
        elif is_web and not label:
            self._add(address)

    def _new_line(self) -> None:
        self._lines.append(self._prefix())

    def _new_block(self) -> None:
        if self._lines[-1].strip(" >"):
            self._new_line()

    def _prefix(self) -> str:
        return "> " * min(self._quotes, 5)
