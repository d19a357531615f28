"""Splits a text into pieces that fit into one message each.

Cuts at a paragraph if one is late enough, else at the end of a line or sentence, else between words, else between
graphemes. The texts of the pieces join to the whole. A code fence that is cut is closed in one piece and reopened in
the next, and its opening and closing lines are never broken. `layout` finds the fences.
"""

import re
from collections.abc import Callable, Iterator

from parlour.core.platforms.manifest import TextUnit
from parlour_sdk.values import dataclass

from . import layout
from .layout import Layout

Measure = Callable[[str], int]
_PARAGRAPH = re.compile(r"\n[ \t]*\n\s*")
_LINE = re.compile(r"\n")
_SENTENCE = re.compile(r"[.!?…][\"'”’)\]]*\s+|[。！？；…][”』」）]*\s*")
_WORD = re.compile(r"\s+")
_SCRAP = 20
"""Characters of code that should at least precede a closing line in the same piece."""
GRAPHEME = r"[\U0001F1E6-\U0001F1FF]{2}[\p{GCB=Extend}\p{GCB=ZWJ}\p{GCB=SpacingMark}]*+|\X"
"""Pattern of one visible character. Flags are matched as pairs, because \\X looks back over all flags for each."""
_TRIES = 16
"""Number of graphemes that are tried for a cut that breaks no fence. Only a crafted text has none among them."""


def _utf16(text: str) -> int:
    return len(text) if text.isascii() else len(text.encode("utf-16-le", "surrogatepass")) // 2


def _bytes(text: str) -> int:
    return len(text) if text.isascii() else len(text.encode("utf-8", "surrogatepass"))


MEASURES: dict[TextUnit, Measure] = {"characters": len, "utf16": _utf16, "bytes": _bytes}
"""The length of a text in each unit in which platforms count."""


@dataclass(frozen=True, slots=True)
class TextPiece:
    """One piece of a text."""

    text: str
    prefix: str = ""
    """The opening line that is put before code whose fence was cut."""
    suffix: str = ""

    @property
    def shown_text(self) -> str:
        return f"{self.prefix}{self.text}{self.suffix}"


def split(text: str, limit: int, measure: Measure) -> Iterator[TextPiece]:
    """Splits a text. Each shown piece is within the limit, or a single character.

    A fence that is opened in a piece is also closed in it, unless the two lines take more than half of the limit.
    """
    if len(text) <= limit and measure(text) <= limit:
        return iter((TextPiece(text),))
    return _Splitter(text, layout.parse_layout(text), max(limit, 1), measure).pieces()


class _Splitter:
    def __init__(self, text: str, marks: Layout, limit: int, measure: Measure) -> None:
        self._text = text
        self._layout = marks
        self._limit = limit
        self._measure = measure
        self._frames: dict[str, bool] = {}
        """Caches whether these fence lines take at most half of a message."""

    def pieces(self) -> Iterator[TextPiece]:
        start = 0
        while start < len(self._text):
            piece = self._next(start)
            yield piece
            start += len(piece.text)

    def _next(self, start: int) -> TextPiece:
        end = self._fitting_end(start, min(len(self._text), start + self._limit))
        while end < len(self._text):
            cut = self._cut(start, end)
            fitting_end = self._fitting_end(start, cut)
            if fitting_end == cut:
                return self._piece(start, cut)
            end = fitting_end
        return self._piece(start, end)

    def _piece(self, start: int, end: int) -> TextPiece:
        text, opening_line = self._text[start:end], self._opening_line(start)
        return TextPiece(text, opening_line, self._closing_line(opening_line + text))

    def _opening_line(self, start: int) -> str:
        fence = self._layout.code_fence_at(start)
        if fence is None:
            return ""
        return next(
            (
                line
                for line in (fence.opening, fence.opening_without_language)
                if self._has_room_for(line + fence.closing)
            ),
            "",
        )

    def _closing_line(self, text: str) -> str:
        """Returns the closing line. Checks the piece instead of the text, so that it is correct wherever the cut had to
        be.
        """
        fence = layout.unclosed_fence(text)
        if fence is None or not self._has_room_for(fence.opening_without_language + fence.closing):
            return ""
        return fence.closing if text.endswith("\n") else f"\n{fence.closing}"

    def _has_room_for(self, frame: str) -> bool:
        if frame not in self._frames:
            self._frames[frame] = self._measure(frame) * 2 <= self._limit
        return self._frames[frame]

    def _fitting_end(self, start: int, end: int) -> int:
        """Returns `end`, or the last position before it at which the piece fits."""
        while end > start + 1 and (size := self._measure(self._piece(start, end).shown_text)) > self._limit:
            estimate = start + (end - start) * self._limit // size
            end = max(start + 1, min(estimate, end - 1))
        return end

    def _cut(self, start: int, end: int) -> int:
        """Returns the best position for a cut in (start, end]."""
        min_position = start + (end - start) // 3
        for boundary in (_PARAGRAPH, _LINE, _SENTENCE):
            cut = self._last_boundary(boundary, start, end, min_position)
            if cut is not None:
                return cut
        range_start = self._start_of_unbroken_range(start, end)
        if range_start is not None:
            return range_start
        return self._last_boundary(_WORD, start, end, min_position) or self._grapheme(start, end)

    def _last_boundary(self, boundary: re.Pattern[str], start: int, end: int, min_position: int) -> int | None:
        candidates = [match.end() for match in boundary.finditer(self._text, start, end)]
        for cut in reversed(candidates):
            if cut <= min_position:
                return None
            if self._allows(boundary, start, cut, end):
                return cut
        return None

    def _allows(self, boundary: re.Pattern[str], start: int, cut: int, end: int) -> bool:
        fence = self._layout.code_fence_at(cut)
        if fence is not None and (boundary is not _LINE or cut <= fence.body or cut == fence.body_end):
            return False
        if not self._is_safe_cut(start, cut):
            return False
        return all(not self._must_not_be_cut(start, unbroken, end) for unbroken in self._layout.ranges_at(cut))

    def _must_not_be_cut(self, start: int, unbroken: tuple[int, int], end: int) -> bool:
        """Returns whether this range must not be cut: it ends within this message, or fits into the next one."""
        if unbroken[1] <= end:
            return True
        return unbroken[0] > start and self._measure(self._text[unbroken[0] : unbroken[1]]) <= self._limit

    def _start_of_unbroken_range(self, start: int, end: int) -> int | None:
        """Returns the start of a range that a cut at `end` would break and that fits into the next message."""
        for unbroken in self._layout.ranges_at(end):
            if self._must_not_be_cut(start, unbroken, end) and self._is_safe_cut(start, unbroken[0]):
                return unbroken[0]
        return None

    def _is_safe_cut(self, start: int, cut: int) -> bool:
        """Returns whether a cut here breaks no line of a fence and creates no line that looks like one."""
        if self._text[cut - 1] == "\n":
            return True
        fence = self._layout.fence_around(cut)
        if fence is not None and (cut < fence.language_start or cut > fence.body_end):
            return cut == fence.end
        begin, end = self._text.rfind("\n", start, cut) + 1, self._text.find("\n", cut)
        before, after = self._text[max(start, begin) : cut], self._text[cut : end if end >= 0 else None]
        if fence is None:
            return not layout.opens_fence(before) and not layout.opens_fence(after)
        return not fence.is_closed_by(after) and (cut <= fence.body or not fence.is_closed_by(before))

    def _grapheme(self, start: int, end: int) -> int:
        end = self._away_from_fence_lines(start, end)
        latest = cut = self._graphemes(start, end)
        for _ in range(_TRIES):
            if cut <= start:
                break
            if self._is_safe_cut(start, cut):
                return cut
            cut = self._graphemes(start, cut - 1)
        return latest if latest > start else end  # a single grapheme that does not fit into a message

    def _away_from_fence_lines(self, start: int, end: int) -> int:
        """Moves `end` away from a fence's own lines: the opening line stays with its code, and some code stays with the
        closing line.
        """
        fence = self._layout.fence_around(end)
        if fence is None or end == fence.end or fence.body < end < fence.body_end - _SCRAP:
            return end
        if end <= fence.body:
            return fence.start if fence.start > start else end
        code = max(fence.body, start)
        code_length = max(fence.body_end - 1 - code, 0)
        return max(min(code + code_length * 2 // 3, end), start + 1) if code_length or code > start else end

    def _graphemes(self, start: int, end: int) -> int:
        """Returns the end of the last complete grapheme in this range."""
        return start + _graphemes_within(self._text[start : end + 64], end - start)


def _graphemes_within(text: str, characters: int) -> int:
    """Returns the length of the complete graphemes among the first `characters` characters."""
    if text[:characters].isascii() and text[characters : characters + 1].isascii():
        return characters - (text[characters - 1 : characters + 1] == "\r\n")
    import regex  # only needed for texts that are cut within a word

    length = 0
    for match in regex.finditer(GRAPHEME, text):
        if match.end() > characters:
            break
        length = match.end()
    return length
