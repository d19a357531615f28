"""What of a Markdown text should stay together: code fences, tables, links, mentions. Finds, and changes nothing.

A scanner of lines and one expression are enough here, and cost less than a parser; how a text looks is not its matter.
"""

import re
from dataclasses import field

from parlour_sdk.values import dataclass

_FENCE = re.compile(r"^([ \t]{0,4})(`{3,8}|~{3,8})([^`\n]{0,60})$")
_DELIMITER = re.compile(r"^\s*\|?\s*:?-+:?\s*(\|\s*:?-+:?\s*)*\|?\s*$")
_WHOLE = re.compile(
    r"!?\[[^\[\]\n]*\]\([^()\s]*(?:\s+\"[^\"\n]*\")?\)"  # links and pictures
    r"|<[@#!&:][^<>\s]{1,100}>|<https?://[^<>\s]+>"  # mentions in angle brackets, addresses
    r"|https?://[^\s<>()]+"
    r"|@[\w.\-]{1,64}"
    r"|`[^`\n]+`|\*\*[^*\n]+\*\*|__[^_\n]+__|~~[^~\n]+~~"
)
_LINES = re.compile(r"[^\n]*\n|[^\n]+")
_LANGUAGE_CHARACTERS = 24


@dataclass(frozen=True, slots=True)
class Fence:
    """A block of code. `body_end` is where its closing line begins, or the end of the text if it has none."""

    start: int
    body: int
    body_end: int
    end: int
    opening: str
    """The line that opens it again."""
    closing: str

    def holds(self, position: int) -> bool:
        """Whether a cut here is inside the code."""
        return self.body <= position <= self.body_end and self.start < position < self.end


@dataclass(frozen=True, slots=True)
class Layout:
    fences: tuple[Fence, ...] = ()
    wholes: tuple[tuple[int, int], ...] = field(default=())
    """Stretches that are kept in one message if one can hold them: fences, tables, links, mentions."""

    def fence_at(self, position: int) -> Fence | None:
        return next((fence for fence in self.fences if fence.holds(position)), None)

    def around(self, position: int) -> list[tuple[int, int]]:
        """The stretches that a cut here would break, outermost first."""
        return [whole for whole in self.wholes if whole[0] < position < whole[1]]


def of(text: str) -> Layout:
    fences, tables = _blocks(text)
    spans = [match.span() for match in _WHOLE.finditer(text)]
    blocks = [(fence.start, fence.end) for fence in fences]
    return Layout(tuple(fences), tuple(sorted([*blocks, *tables, *spans], key=lambda span: (span[0], -span[1]))))


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
            if match is not None and _closes(opened[2], match):
                fences.append(_fence(opened, start, position))
                opened = None
            continue
        if table >= 0 and "|" not in content:
            tables.append((table, start))
            table = -1
        if match is not None:
            opened = (start, position, match)
        elif table < 0 and "|" in content and "|" in previous[1] and _DELIMITER.match(content):
            table = previous[0]
        previous = (start, content)
    if opened is not None:
        fences.append(_fence(opened, len(text), len(text)))
    if table >= 0:
        tables.append((table, len(text)))
    return fences, tables


def _closes(opening: re.Match[str], line: re.Match[str]) -> bool:
    marker, other = opening[2], line[2]
    return other[0] == marker[0] and len(other) >= len(marker) and not line[3].strip()


def _fence(opened: tuple[int, int, re.Match[str]], body_end: int, end: int) -> Fence:
    start, body, match = opened
    indent, marker, language = match[1], match[2], match[3].strip()
    named = language if len(language) <= _LANGUAGE_CHARACTERS and language.isascii() else ""
    return Fence(start, body, body_end, end, f"{indent}{marker}{named}\n", f"{indent}{marker}")
