"""Renders Markdown as plain text layout, for platforms such as QQ that show text as it is written.

Emphasis loses its marks; headings, lists, quotes, tables and links stay readable as lines of text.
"""

from collections.abc import Callable, Iterable, Sequence
from functools import cache, lru_cache
from typing import Any

from .markdown_parser import markdown_parser

RULE = "———"


@cache
def _parser() -> Callable[[str], Sequence[Any]]:
    """Returns a parser that shows link reference definitions as text; unused ones would disappear otherwise."""
    return markdown_parser().disable("reference").parse


@lru_cache(maxsize=8)  # a text is measured first and then converted
def to_plain_text(text: str) -> str:
    """Converts Markdown to plain text. Keeps the white space around it, which separates it from the rest of the
    message.
    """
    converted = "\n".join(_Blocks(_parser()(text)).lines()).strip()
    if not converted:
        return text  # such as quotes nested deeper than the parser supports
    leading, trailing = text[: len(text) - len(text.lstrip())], text[len(text.rstrip()) :]
    return f"{leading}{converted}{trailing}"


class _Blocks:
    """Walks over block tokens and collects lines."""

    def __init__(self, tokens: Sequence[Any]) -> None:
        self._tokens = tokens
        self._lines: list[str] = []
        self._prefixes: list[str] = []
        """Prefixes of open quotes and list items, outermost first."""
        self._bullet = ""
        """The mark of a list item whose first line has not been added yet."""
        self._numbers: list[int | None] = []
        """The next number of each open list; None for bullets."""
        self._row: list[str] | None = None

    def lines(self) -> list[str]:
        for token in self._tokens:
            self._token(token)
        return self._lines

    def _token(self, token: Any) -> None:
        match token.type:
            case "inline" if self._row is not None:
                self._row.append(_inline(token.children).replace("\n", " "))
            case "inline":
                self._add(_inline(token.children))
            case "fence" | "code_block":
                self._add(token.content.rstrip("\n"))
                self._add_blank_line()
            case "hr":
                self._add(RULE)
                self._add_blank_line()
            case "html_block":
                self._add(token.content.rstrip("\n"))
                self._add_blank_line()
            case "tr_open":
                self._row = []
            case "tr_close":
                self._add(" | ".join(self._row or ()))
                self._row = None
            case "bullet_list_open" | "ordered_list_open":
                is_ordered = token.type == "ordered_list_open"
                self._numbers.append(int(token.attrGet("start") or 1) if is_ordered else None)
            case "list_item_open":
                self._item()
            case "blockquote_open":
                self._prefixes.append("> ")
            case "list_item_close":
                self._prefixes.pop()
                self._bullet = ""
            case "blockquote_close":
                if self._lines and self._lines[-1] == "".join(self._prefixes).rstrip():
                    self._lines.pop()
                self._prefixes.pop()
                self._add_blank_line()
            case "bullet_list_close" | "ordered_list_close":
                self._numbers.pop()
                if not self._numbers:
                    self._add_blank_line()
            case "paragraph_close" if not token.hidden and not self._numbers:
                self._add_blank_line()
            case "heading_close" | "table_close":
                self._add_blank_line()

    def _item(self) -> None:
        number = self._numbers[-1]
        if number is not None:
            self._numbers[-1] = number + 1
        self._bullet = "• " if number is None else f"{number}. "
        self._prefixes.append("  ")

    def _add(self, text: str) -> None:
        for line in text.split("\n"):
            prefix = "".join(self._prefixes)
            if self._bullet:
                prefix = prefix[:-2] + self._bullet
                self._bullet = ""
            self._lines.append(f"{prefix}{line}".rstrip())

    def _add_blank_line(self) -> None:
        """Adds one empty line before the next block."""
        quote = "".join(each for each in self._prefixes if each != "  ").rstrip()
        if self._lines and self._lines[-1] not in ("", quote):
            self._lines.append(quote)


def _inline(tokens: Iterable[Any] | None) -> str:
    """Joins inline tokens without their marks."""
    fragments: list[str] = []
    links: list[tuple[str, int]] = []
    for token in tokens or ():
        match token.type:
            case "softbreak" | "hardbreak":
                fragments.append("\n")
            case "image":
                fragments.append(_link(token.content, str(token.attrGet("src") or "")))
            case "link_open":
                links.append((str(token.attrGet("href") or ""), len(fragments)))
            case "link_close":
                address, start = links.pop()
                label = "".join(fragments[start:])
                fragments[start:] = [_link(label, address)]
            case _:
                fragments.append(token.content)
    return "".join(fragments)


def _link(label: str, address: str) -> str:
    if not label or label == address or f"mailto:{label}" == address:
        return label or address
    return f"{label} ({address})" if address else label
