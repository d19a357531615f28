"""Reads HTML with the parser of the standard library: headings, texts, tables and code, without navigation."""

from collections.abc import Iterator
from html.parser import HTMLParser
from pathlib import Path

from parlour.core.knowledge.chunking import Block, BlockKind

from .text import decode

SKIPPED = frozenset(("script", "style", "noscript", "template", "svg", "nav", "footer", "aside", "form", "iframe"))
HEADINGS = {f"h{level}": level for level in range(1, 7)}
_BLOCK_TAGS = (
    "p div section article main header li ul ol dl dt dd blockquote figure figcaption br hr address details body"
)
BLOCKS = frozenset(_BLOCK_TAGS.split())
VOID = frozenset(("br", "hr", "img", "input", "meta", "link", "wbr", "source", "col", "area", "base", "embed", "track"))


def read_html(path: Path) -> Iterator[Block]:
    return html_blocks(decode(path.read_bytes()))


def html_blocks(text: str, page: int = 0, outer: tuple[str, ...] = ()) -> Iterator[Block]:
    """Yields the blocks of a page below its headings."""
    reader = _Reader(page, outer)
    reader.feed(text)
    reader.close()
    reader.end_block()
    yield from reader.blocks


class _Reader(HTMLParser):
    def __init__(self, page: int, outer: tuple[str, ...]) -> None:
        super().__init__(convert_charrefs=True)
        self.blocks: list[Block] = []
        self.title = ""
        self._page = page
        self._outer = outer
        self._headings: list[str] = []
        self._text: list[str] = []
        self._skipping: list[str] = []
        self._heading_level = 0
        self._in_title = False
        self._code_depth = 0
        self._rows: list[list[str]] | None = None

    def handle_starttag(self, tag: str, attributes: list[tuple[str, str | None]]) -> None:
        if tag in SKIPPED or (tag == "header" and not self._skipping and ("role", "banner") in attributes):
            self._skipping.append(tag)
        elif self._skipping:
            return
        elif tag == "title":
            self._in_title = True
        elif tag in HEADINGS:
            self.end_block()
            self._heading_level = HEADINGS[tag]
        elif tag == "pre":
            self.end_block()
            self._code_depth += 1
        elif tag == "table":
            self.end_block()
            self._rows = []
        elif tag == "tr" and self._rows is not None:
            self._rows.append([])
        elif tag in ("td", "th") and self._rows:
            self._text = []
        elif tag in BLOCKS and self._rows is None and not self._code_depth:
            self.end_block()
            if tag == "li":
                self._text.append("- ")

    def handle_endtag(self, tag: str) -> None:
        if self._skipping:
            if tag == self._skipping[-1]:
                self._skipping.pop()
        elif tag == "title":
            self._in_title = False
        elif tag in HEADINGS and self._heading_level:
            title = " ".join("".join(self._text).split())
            self._text = []
            level = self._heading_level
            self._headings = [*self._headings[: level - 1], *[""] * (level - 1 - len(self._headings)), title]
            self._heading_level = 0
        elif tag == "pre" and self._code_depth:
            self._end("code")
            self._code_depth -= 1
        elif tag in ("td", "th") and self._rows:
            self._rows[-1].append(" ".join("".join(self._text).split()))
            self._text = []
        elif tag == "table" and self._rows is not None:
            self._end_table()
        elif tag in BLOCKS and tag not in VOID and self._rows is None and not self._code_depth:
            self.end_block()

    def handle_data(self, data: str) -> None:
        if self._in_title:
            self.title += data
        elif not self._skipping:
            self._text.append(data)

    def end_block(self) -> None:
        """Ends the current paragraph."""
        if self._rows is None and not self._heading_level:
            self._end("text")

    def _end(self, kind: BlockKind) -> None:
        text = "".join(self._text)
        content = text.strip("\n") if kind == "code" else " ".join(text.split())
        self._text = []
        if content.strip(" -"):
            self.blocks.append(Block(content, (*self._outer, *self._headings), self._page, kind))

    def _end_table(self) -> None:
        rows = [row for row in self._rows or () if any(row)]
        self._rows, self._text = None, []
        if rows:
            self.blocks.append(Block(table_text(rows), (*self._outer, *self._headings), self._page, "table"))


def table_text(rows: list[list[str]]) -> str:
    """Returns rows as a table in Markdown; the first one has the names of the columns."""
    lines = [f"| {' | '.join(cell.replace('|', '/') for cell in row)} |" for row in rows]
    return "\n".join([lines[0], f"|{'---|' * len(rows[0])}", *lines[1:]])
