"""Finds the parts of a Markdown text that should not be cut: code fences, tables, links, mentions.

A line scanner and one regular expression are enough for this, and faster than a parser.
"""

import re
from bisect import bisect_left
from collections.abc import Sequence
from operator import attrgetter, itemgetter

from parlour_sdk.values import dataclass

_FENCE = re.compile(r"^([ \t]{0,4})(`{3,}(?=[^`\n]*$)|~{3,})([^\n]*)$")
_RULE = re.compile(r":?-+:?")
_WHOLE = re.compile(
    r"!?\[[^\[\]\n]*\]\([^()\s]*(?:\s+\"[^\"\n]*\")?\)"  # links and pictures
    r"|<[@#!&:][^<>\s]{1,100}>|<https?://[^<>\s]+>"  # mentions in angle brackets, addresses
    r"|https?://[!-'*-;=?-~]+"  # stops at text that follows without a space, as in Chinese
    r"|@[\w.\-]{1,64}"
    r"|`[^`\n]+`|\*\*[^*\n]+\*\*|__[^_\n]+__|~~[^~\n]+~~"
)
_LINES = re.compile(r"[^\n]*\n|[^\n]+")
_LANGUAGE_CHARACTERS = 24


@dataclass(frozen=True, slots=True)
class Fence:
    """A code block. `body_end` is where its closing line begins, or the end of the text if it has none."""

    start: int
    language_start: int
    """The position after the opening marker; the rest of that line is the language."""
    body: int
    body_end: int
    end: int
    """The position after the closing marker."""
    opening: str
    """The line that reopens it in the next message."""
    opening_without_language: str
    """The opening line without the language."""
    closing: str

    def needs_reopening(self, position: int) -> bool:
        """Returns whether the text after a cut at this position is code that needs a new opening line."""
        return self.language_start <= position <= self.body_end and position < self.end

    def is_closed_by(self, line: str) -> bool:
        match = _FENCE.match(line)
        return match is not None and _closes(self.closing.lstrip(), match)


@dataclass(frozen=True, slots=True)
class Layout:
    """The positions in a text that should not be cut."""

    fences: tuple[Fence, ...] = ()
    blocks: tuple[tuple[int, int], ...] = ()
    """Ranges that are kept in one message if they fit into one: fences and tables."""
    spans: tuple[tuple[int, int], ...] = ()
    """Ranges within a line, possibly inside a block, that are kept together: links, mentions, bold text."""

    def fence_around(self, position: int) -> Fence | None:
        """Returns the fence that begins before this position and does not end before it."""
        index = bisect_left(self.fences, position, key=attrgetter("start")) - 1
        return self.fences[index] if index >= 0 and position <= self.fences[index].end else None

    def code_fence_at(self, position: int) -> Fence | None:
        """Returns the fence whose code a cut at this position would interrupt."""
        fence = self.fence_around(position)
        return fence if fence is not None and fence.needs_reopening(position) else None

    def ranges_at(self, position: int) -> list[tuple[int, int]]:
        """Returns the ranges that a cut at this position would break, outermost first."""
        return [*_range_around(self.blocks, position), *_range_around(self.spans, position)]


def parse_layout(text: str) -> Layout:
    """Finds the fences, tables and spans of a text."""
    fences, tables = _blocks(text)
    blocks = [(fence.start, fence.end) for fence in fences]
    spans = (match.span() for match in _WHOLE.finditer(text))
    return Layout(tuple(fences), tuple(sorted([*blocks, *tables])), tuple(spans))


def opens_fence(line: str) -> bool:
    return _FENCE.match(line) is not None


def unclosed_fence(text: str) -> Fence | None:
    """Returns the code fence that is still open at the end of the text."""
    if "```" not in text and "~~~" not in text:
        return None
    fences, _ = _blocks(text)
    return fences[-1] if fences and fences[-1].body_end == fences[-1].end else None


def _range_around(ranges: Sequence[tuple[int, int]], position: int) -> Sequence[tuple[int, int]]:
    """Returns the range that a cut at this position would break. Ranges are sorted and do not overlap."""
    index = bisect_left(ranges, position, key=itemgetter(0)) - 1
    return ranges[index : index + 1] if index >= 0 and position < ranges[index][1] else ()


def _blocks(text: str) -> tuple[list[Fence], list[tuple[int, int]]]:
    fences: list[Fence] = []
    tables: list[tuple[int, int]] = []
    open_fence: tuple[int, int, re.Match[str]] | None = None
    table = -1
    previous = (0, "")
    position = 0
    for line in _LINES.findall(text):
        start, position = position, position + len(line)
        content = line.rstrip("\n")
        match = _FENCE.match(content)
        if open_fence is not None:
            if match is not None and _closes(open_fence[2][2], match):
                fences.append(_fence(open_fence, start, start + match.end(2)))
                open_fence = None
            continue
        if table >= 0 and "|" not in content:
            tables.append((table, start))
            table = -1
        if match is not None:
            open_fence = (start, position, match)
        elif table < 0 and "|" in content and "|" in previous[1] and _is_delimiter(content):
            table = previous[0]
        previous = (start, content)
    if open_fence is not None:
        fences.append(_fence(open_fence, len(text), len(text)))
    if table >= 0:
        tables.append((table, len(text)))
    return fences, tables


def _is_delimiter(line: str) -> bool:
    """Returns whether a line separates a table's head from its body.

    The cells are matched one by one, because a single expression is very slow on a line of blanks.
    """
    cells = line.strip().removeprefix("|").removesuffix("|").split("|")
    return all(_RULE.fullmatch(cell.strip()) for cell in cells)


def _closes(marker: str, line: re.Match[str]) -> bool:
    line_marker = line[2]
    return line_marker[0] == marker[0] and len(line_marker) >= len(marker) and not line[3].strip()


def _fence(open_fence: tuple[int, int, re.Match[str]], body_end: int, end: int) -> Fence:
    start, body, match = open_fence
    indent, marker, language = match[1], match[2], match[3].strip()
    short_language = language if len(language) <= _LANGUAGE_CHARACTERS and language.isascii() else ""
    opening_marker = f"{indent}{marker}"
    return Fence(
        start,
        start + match.end(2),
        body,
        body_end,
        end,
        f"{opening_marker}{short_language}\n",
        f"{opening_marker}\n",
        opening_marker,
    )
