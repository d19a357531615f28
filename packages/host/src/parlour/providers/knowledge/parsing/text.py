"""Reads text, Markdown and tables of text. Old encodings are recognized."""

import csv
import io
import re
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path

from parlour.core.knowledge.chunking import Block

from .errors import Unreadable
from .file_types import looks_like_text

ENCODINGS = ("utf-8-sig", "gb18030", "big5", "shift_jis", "cp1252")
"""Encodings that are tried one after the other."""
MAX_ROWS = 50_000
"""Rows of one table that are read; more are refused."""
MAX_CELLS = 500
SNIFFED_CHARACTERS = 16_384
_FENCE = re.compile(r"^ {0,3}(```+|~~~+)")
_HEADING = re.compile(r"^ {0,3}(#{1,6})\s+(.*?)\s*#*\s*$")
_UNDERLINE = re.compile(r"^ {0,3}(=+|-{3,})\s*$")
_IDEOGRAPHS = re.compile("[\u3040-\u30ff\u4e00-\u9fff]")
_COMMON = frozenset(
    "的一是不了在人有我他这中大来上国个到说们为子和你地出道也时年得就那要下以生会自着去之过家学对可她里后小么心多"
)


def decode(content: bytes) -> str:
    """Returns the text of bytes in any known encoding."""
    if content.startswith((b"\xff\xfe", b"\xfe\xff")):
        return content.decode("utf-16", "replace")
    candidates = []
    for encoding in ENCODINGS:
        try:
            text = content.decode(encoding)
        except UnicodeDecodeError:
            continue
        if encoding == "utf-8-sig":
            return text
        candidates.append(text)
    if not candidates:
        raise Unreadable("file.encoding", "the encoding of the text is not known; save it as UTF-8")
    return max(candidates, key=_plausibility)


def _plausibility(text: str) -> float:
    """Returns a higher number for text that people write; the first of equal candidates is taken."""
    sample = text[:20_000]
    ideographs = _IDEOGRAPHS.findall(sample)
    common = sum(letter in _COMMON for letter in ideographs) / max(1, len(ideographs))
    kana = sum("\u3041" <= letter <= "\u30fa" for letter in ideographs) / max(1, len(ideographs))
    odd = sum(not (letter.isprintable() or letter.isspace()) or "\ue000" <= letter <= "\uf8ff" for letter in sample)
    halfwidth = sum("\uff61" <= letter <= "\uff9f" for letter in sample)
    return float(round(common + kana - 5 * (odd + halfwidth) / max(1, len(sample)), 3))


def read_plain(path: Path) -> Iterator[Block]:
    """Yields the paragraphs of a text file."""
    content = path.read_bytes()
    if not looks_like_text(content[:4096]):
        raise Unreadable("file.type", "the file is not text")
    for paragraph in re.split(r"\n\s*\n", decode(content).replace("\r\n", "\n").replace("\r", "\n")):
        if paragraph.strip():
            yield Block(paragraph.strip())


def read_markdown(path: Path) -> Iterator[Block]:
    return markdown_blocks(decode(path.read_bytes()).replace("\r\n", "\n"))


def markdown_blocks(text: str, page: int = 0) -> Iterator[Block]:
    """Yields the paragraphs, tables and code of Markdown, below their headings. A `#` in code is no heading."""
    headings: list[str] = []
    lines: list[str] = []
    fence = ""

    def block() -> Iterator[Block]:
        content = "\n".join(lines).strip("\n")
        kind = "table" if lines and all(line.lstrip().startswith("|") for line in lines) else "text"
        lines.clear()
        if content.strip():
            yield Block(content, tuple(headings), page, kind)  # type: ignore[arg-type]

    for line in text.split("\n"):
        mark = _FENCE.match(line)
        if fence:
            lines.append(line)
            if mark and line.strip().startswith(fence) and not line.strip().strip(fence[0]):
                content, fence = "\n".join(lines), ""
                lines.clear()
                yield Block(content, tuple(headings), page, "code")
        elif mark:
            yield from block()
            fence, lines[:] = mark[1], [line]
        elif heading := _HEADING.match(line):
            yield from block()
            _set_heading(headings, len(heading[1]), heading[2])
        elif _UNDERLINE.match(line) and len(lines) == 1 and lines[0].strip() and not lines[0].lstrip().startswith("|"):
            title = lines.pop().strip()
            _set_heading(headings, 1 if "=" in line else 2, title)
        elif line.strip():
            lines.append(line)
        else:
            yield from block()
    yield from block()


def _set_heading(headings: list[str], level: int, title: str) -> None:
    headings[:] = [*headings[: level - 1], *[""] * (level - 1 - len(headings)), title]


def read_table(path: Path) -> Iterator[Block]:
    """Yields the rows of a table of text, separated by commas, semicolons or tabs."""
    text = decode(path.read_bytes())
    try:
        dialect: type[csv.Dialect] = csv.Sniffer().sniff(text[:SNIFFED_CHARACTERS], ",;\t|")
    except csv.Error:
        dialect = csv.excel
    try:
        yield from row_blocks(csv.reader(io.StringIO(text, newline=""), dialect))
    except csv.Error as error:
        raise Unreadable("parse.failed", f"the table can't be read: {error}") from error


def row_blocks(rows: Iterable[Sequence[str]], headings: tuple[str, ...] = ()) -> Iterator[Block]:
    """Yields rows as `column: value` pairs. The first row has the names of the columns."""
    names: list[str] | None = None
    for number, row in enumerate(rows):
        if number > MAX_ROWS:
            raise Unreadable("file.too_large", f"a table has more than {MAX_ROWS} rows")
        cells = [" ".join(str(cell).split()) if cell is not None else "" for cell in row[:MAX_CELLS]]
        if not any(cells):
            continue
        if names is None:
            names = [name or f"column {index}" for index, name in enumerate(cells, 1)]
            continue
        pairs = {
            names[index] if index < len(names) else f"column {index + 1}": cell
            for index, cell in enumerate(cells)
            if cell
        }
        yield Block("; ".join(f"{name}: {value}" for name, value in pairs.items()) + "\n", headings, 0, "row", pairs)
    if names is not None and number == 0:
        yield Block("; ".join(names), headings)
