"""Converts Markdown to the few HTML tags that chat platforms accept, such as b, i, code and a. Tables become text."""

from collections.abc import Callable, Iterable, Sequence
from functools import cache
from html import escape
from typing import Any
from unicodedata import east_asian_width

from .markdown_parser import markdown_parser

_TAGS = {"strong": "b", "em": "i", "s": "s", "blockquote": "blockquote"}
_SCHEMES = ("http://", "https://", "mailto:", "tg://")


@cache
def _parser() -> Callable[[str], Sequence[Any]]:
    return markdown_parser().parse


def to_html(text: str) -> str:
    writer = _Writer()
    writer.write(_parser()(text))
    return "".join(writer.out).strip("\n")


class _Writer:
    """Writes the tokens of the Markdown parser as tags."""

    def __init__(self) -> None:
        self.out: list[str] = []
        self._lists: list[int | None] = []
        """The next number of each open list; None for bullets."""
        self._links: list[bool] = []
        self._rows: list[list[str]] | None = None

    def write(self, tokens: Iterable[Any]) -> None:
        for token in tokens:
            self._token(token)

    def _token(self, token: Any) -> None:
        match token.type:
            case "inline":
                self._inline(token)
            case "text":
                self.out.append(escape(token.content, quote=False))
            case "softbreak" | "hardbreak":
                self.out.append("\n")
            case "code_inline":
                self.out.append(f"<code>{escape(token.content, quote=False)}</code>")
            case "fence" | "code_block":
                self._code(token.info.split()[0] if token.info.strip() else "", token.content)
            case "hr":
                self.out.append("———\n\n")
            case "image":
                self._image(token)
            case "link_open" | "link_close":
                self._link(token)
            case "table_open":
                self._rows = []
            case "tr_open" if self._rows is not None:
                self._rows.append([])
            case "table_close":
                self._table()
            case "html_inline" | "html_block":
                self.out.append(escape(token.content, quote=False))
            case _:
                self._structure(token)

    def _inline(self, token: Any) -> None:
        if self._rows:
            self._rows[-1].append(_plain_text(token.children or ()))
        else:
            self.write(token.children or ())

    def _structure(self, token: Any) -> None:
        name, _, side = token.type.rpartition("_")
        if name in _TAGS:
            self.out.append(f"<{_TAGS[name]}>" if side == "open" else f"</{_TAGS[name]}>")
            if name == "blockquote":
                self._trim_before_close(side)
        elif name == "heading":
            self.out.append("<b>" if side == "open" else "</b>\n\n")
        elif name == "paragraph" and side == "close":
            self.out.append("\n" if token.hidden or self._lists else "\n\n")
        elif name in ("bullet_list", "ordered_list"):
            self._list(token, side)
        elif name == "list_item" and side == "open":
            self._item()

    def _trim_before_close(self, side: str) -> None:
        if side == "close":
            closing_tag = self.out.pop()
            self.out = ["".join(self.out).rstrip("\n"), closing_tag, "\n\n"]

    def _list(self, token: Any, side: str) -> None:
        if side == "open":
            first = int(token.attrGet("start") or 1) if token.type == "ordered_list_open" else None
            self._lists.append(first)
            return
        self._lists.pop()
        if not self._lists:
            self.out.append("\n")

    def _item(self) -> None:
        number = self._lists[-1]
        if number is not None:
            self._lists[-1] = number + 1
        self.out.append("  " * (len(self._lists) - 1) + ("• " if number is None else f"{number}. "))

    def _code(self, language: str, code: str) -> None:
        escaped_code = escape(code.rstrip("\n"), quote=False)
        class_attribute = f' class="language-{escape(language)}"' if language else ""
        self.out.append(
            f"<pre><code{class_attribute}>{escaped_code}</code></pre>\n\n"
            if class_attribute
            else f"<pre>{escaped_code}</pre>\n\n"
        )

    def _image(self, token: Any) -> None:
        source, label = str(token.attrGet("src") or ""), token.content or "image"
        self.out.append(_anchor(source, escape(label, quote=False)))

    def _link(self, token: Any) -> None:
        if token.type == "link_open":
            address = str(token.attrGet("href") or "")
            self._links.append(address.startswith(_SCHEMES))
            if self._links[-1]:
                self.out.append(f'<a href="{escape(address)}">')
        elif self._links.pop():
            self.out.append("</a>")

    def _table(self) -> None:
        rows, self._rows = self._rows or [], None
        self.out.append(f"<pre>{escape(_align_table(rows), quote=False)}</pre>\n\n")


def _anchor(address: str, label: str) -> str:
    return f'<a href="{escape(address)}">{label}</a>' if address.startswith(_SCHEMES) else label


def _plain_text(tokens: Iterable[Any]) -> str:
    return "".join(" " if token.type in ("softbreak", "hardbreak") else token.content for token in tokens)


def _align_table(rows: Sequence[Sequence[str]]) -> str:
    """Returns the rows as lines of equal width, with a rule below the first one."""
    if not rows:
        return ""
    columns = max(len(row) for row in rows)
    padded_rows = [[*row, *[""] * (columns - len(row))] for row in rows]
    widths = [max(_display_width(row[column]) for row in padded_rows) for column in range(columns)]
    lines = [" | ".join(_pad(cell, widths[number]) for number, cell in enumerate(row)).rstrip() for row in padded_rows]
    rule = "-+-".join("-" * each for each in widths)
    return "\n".join([lines[0], rule, *lines[1:]])


def _display_width(text: str) -> int:
    """Returns the display width in columns; a Chinese character takes two."""
    return sum(2 if east_asian_width(each) in "WF" else 1 for each in text)


def _pad(text: str, columns: int) -> str:
    return text + " " * (columns - _display_width(text))
