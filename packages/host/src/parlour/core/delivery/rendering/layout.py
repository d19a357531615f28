"""What of a Markdown text should stay together: code fences, tables, links, mentions. Finds, and changes nothing.

A scanner of lines and one expression are enough here, and cost less than a parser; how a text looks is not its matter.
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
    r"|https?://[!-'*-;=?-~]+"  # not what follows at once in a script without blanks
    r"|@[\w.\-]{1,64}"
    r"|`[^`\n]+`|\*\*[^*\n]+\*\*|__[^_\n]+__|~~[^~\n]+~~"
)
_LINES = re.compile(r"[^\n]*\n|[^\n]+")
_LANGUAGE_CHARACTERS = 24


@dataclass(frozen=True, slots=True)
class Fence:
    """A block of code. `body_end` is where its closing line begins, or the end of the text if it has none."""

    start: int
    named: int
    """Behind the marker that opens it; what follows in that line is the language."""
    body: int
    body_end: int
    end: int
    """Behind the marker that closes it."""
    opening: str
    """The line that opens it again."""
    unnamed: str
    """That line without the language."""
    closing: str

    def holds(self, position: int) -> bool:
        """Whether what follows a cut here is code that has to be opened again."""
        return self.named <= position <= self.body_end and position < self.end

    def closed_by(self, line: str) -> bool:
        match = _FENCE.match(line)
        return match is not None and _closes(self.closing.lstrip(), match)


@dataclass(frozen=True, slots=True)
class Layout:
    fences: tuple[Fence, ...] = ()
    blocks: tuple[tuple[int, int], ...] = ()
    """Stretches that are kept in one message if one can hold them: fences and tables."""
    spans: tuple[tuple[int, int], ...] = ()
    """The same within a line, and perhaps within a block: links, mentions, words in bold."""

    def fence_around(self, position: int) -> Fence | None:
        """The one that begins before this and does not end before it."""
        index = bisect_left(self.fences, position, key=attrgetter("start")) - 1
        return self.fences[index] if index >= 0 and position <= self.fences[index].end else None

    def fence_at(self, position: int) -> Fence | None:
        fence = self.fence_around(position)
        return fence if fence is not None and fence.holds(position) else None

    def around(self, position: int) -> list[tuple[int, int]]:
        """The stretches that a cut here would break, outermost first."""
        return [*_around(self.blocks, position), *_around(self.spans, position)]


def of(text: str) -> Layout:
    fences, tables = _blocks(text)
    blocks = [(fence.start, fence.end) for fence in fences]
    spans = (match.span() for match in _WHOLE.finditer(text))
    return Layout(tuple(fences), tuple(sorted([*blocks, *tables])), tuple(spans))


def opens(line: str) -> bool:
    return _FENCE.match(line) is not None


def unclosed(text: str) -> Fence | None:
    """The block of code that the text ends in."""
    if "```" not in text and "~~~" not in text:
        return None
    fences, _ = _blocks(text)
    return fences[-1] if fences and fences[-1].body_end == fences[-1].end else None


def _around(stretches: Sequence[tuple[int, int]], position: int) -> Sequence[tuple[int, int]]:
    """The one of these that a cut here would break; they are in order, and none is inside another."""
    index = bisect_left(stretches, position, key=itemgetter(0)) - 1
    return stretches[index : index + 1] if index >= 0 and position < stretches[index][1] else ()


def _blocks(text: str) -> tuple[list[Fence], list[tuple[int, int]]]:
    fences: list[Fence] = []
    tables: list[tuple[int, int]] = []
    opened: tuple[int, int, re.Match[str]] | None = None
    table = -1
    previous = (0, "")
    position = 0
    for line in _LINES.findall(text):
        start, position = position, position + len(line)
        content = line.rstrip("\n")
        match = _FENCE.match(content)
        if opened is not None:
            if match is not None and _closes(opened[2][2], match):
                fences.append(_fence(opened, start, start + match.end(2)))
                opened = None
            continue
        if table >= 0 and "|" not in content:
            tables.append((table, start))
            table = -1
        if match is not None:
            opened = (start, position, match)
        elif table < 0 and "|" in content and "|" in previous[1] and _is_delimiter(content):
            table = previous[0]
        previous = (start, content)
    if opened is not None:
        fences.append(_fence(opened, len(text), len(text)))
    if table >= 0:
        tables.append((table, len(text)))
    return fences, tables


def _is_delimiter(line: str) -> bool:
    """Of a table's head from its body. By cells, since one expression for all of it takes ages over a blank line."""
    cells = line.strip().removeprefix("|").removesuffix("|").split("|")
    return all(_RULE.fullmatch(cell.strip()) for cell in cells)


def _closes(marker: str, line: re.Match[str]) -> bool:
    other = line[2]
    return other[0] == marker[0] and len(other) >= len(marker) and not line[3].strip()


def _fence(opened: tuple[int, int, re.Match[str]], body_end: int, end: int) -> Fence:
    start, body, match = opened
    indent, marker, language = match[1], match[2], match[3].strip()
    named = language if len(language) <= _LANGUAGE_CHARACTERS and language.isascii() else ""
    unnamed = f"{indent}{marker}"
    return Fence(start, start + match.end(2), body, body_end, end, f"{unnamed}{named}\n", f"{unnamed}\n", unnamed)
