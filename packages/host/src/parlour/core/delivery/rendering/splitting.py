"""Cuts a text into pieces that one message each can hold.

At a paragraph if there is one late enough, else at the end of a line or sentence, else between words, else between
graphemes. The pieces' texts join to the whole; a fence of code that is cut is closed in one and opened in the next.
"""

import re
from collections.abc import Iterator

from parlour_sdk.values import dataclass

from . import layout
from .layout import Layout
from .measuring import Measure

_PARAGRAPH = re.compile(r"\n[ \t]*\n\s*")
_LINE = re.compile(r"\n")
_SENTENCE = re.compile(r"[.!?…][\"'”’)\]]*\s+|[。！？；…][”』」）]*\s*")
_WORD = re.compile(r"\s+")


@dataclass(frozen=True, slots=True)
class Piece:
    text: str
    opened: str = ""
    """Put before it: the fence that its code belongs to."""
    closed: str = ""

    @property
    def shown(self) -> str:
        return f"{self.opened}{self.text}{self.closed}"


def split(text: str, limit: int, measure: Measure) -> list[Piece]:
    """Each piece is within the limit as it is shown, as far as the limit holds a fence's two lines and a character."""
    if len(text) <= limit and measure(text) <= limit:
        return [Piece(text)]
    splitter = _Splitter(text, layout.of(text), limit, measure)
    return list(splitter.pieces())


class _Splitter:
    def __init__(self, text: str, marks: Layout, limit: int, measure: Measure) -> None:
        self._text = text
        self._layout = marks
        self._limit = limit
        self._measure = measure

    def pieces(self) -> Iterator[Piece]:
        start = 0
        while start < len(self._text):
            piece = self._next(start)
            yield piece
            start += len(piece.text)

    def _next(self, start: int) -> Piece:
        end = self._room(start, min(len(self._text), start + self._limit))
        while end < len(self._text):
            cut = self._cut(start, end)
            room = self._room(start, cut)
            if room == cut:
                return self._piece(start, cut)
            end = room
        return self._piece(start, end)

    def _piece(self, start: int, end: int) -> Piece:
        before, after = self._layout.fence_at(start), self._layout.fence_at(end)
        text = self._text[start:end]
        if after is None or end == len(self._text):
            return Piece(text, before.opening if before else "")
        newline = "" if text.endswith("\n") else "\n"
        return Piece(text, before.opening if before else "", newline + after.closing)

    def _room(self, start: int, end: int) -> int:
        """The end, or as much before it as fits."""
        while end > start + 1 and (size := self._measure(self._piece(start, end).shown)) > self._limit:
            fitting = start + (end - start) * self._limit // size
            end = max(start + 1, min(fitting, end - 1))
        return end

    def _cut(self, start: int, end: int) -> int:
        """The best place in (start, end]."""
        third = start + (end - start) // 3
        for boundary in (_PARAGRAPH, _LINE, _SENTENCE):
            cut = self._last(boundary, start, end, third)
            if cut is not None:
                return cut
        hindered = self._kept_together(start, end)
        if hindered is not None:
            return hindered
        return self._last(_WORD, start, end, third) or self._grapheme(start, end)

    def _last(self, boundary: re.Pattern[str], start: int, end: int, least: int) -> int | None:
        found = [match.end() for match in boundary.finditer(self._text, start, end)]
        for cut in reversed(found):
            if cut <= least:
                return None
            if self._allows(boundary, start, cut, end):
                return cut
        return None

    def _allows(self, boundary: re.Pattern[str], start: int, cut: int, end: int) -> bool:
        fence = self._layout.fence_at(cut)
        if fence is not None and (boundary is not _LINE or cut in (fence.body, fence.body_end)):
            return False
        return all(not self._holds_together(start, whole, end) for whole in self._layout.around(cut))

    def _holds_together(self, start: int, whole: tuple[int, int], end: int) -> bool:
        """Whether this stretch must not be cut: it ends in this message, or the next one can hold it."""
        if whole[1] <= end:
            return True
        return whole[0] > start and self._measure(self._text[whole[0] : whole[1]]) <= self._limit

    def _kept_together(self, start: int, end: int) -> int | None:
        """Where a stretch begins that the end would break and the next message can hold."""
        for whole in self._layout.around(end):
            if self._holds_together(start, whole, end):
                return whole[0]
        return None

    def _grapheme(self, start: int, end: int) -> int:
        fence = self._layout.fence_at(end)
        if fence is not None and end >= fence.body_end > start + 1:
            end = fence.body_end - 1
        cut = start + _graphemes_within(self._text[start : end + 64], end - start)
        return cut if cut > start else end  # one grapheme that no message holds


def _graphemes_within(text: str, characters: int) -> int:
    """The length of the whole graphemes among the first so many characters."""
    if text[:characters].isascii() and text[characters : characters + 1].isascii():
        return characters - (text[characters - 1 : characters + 1] == "\r\n")
    import regex  # only texts that are cut within a word need it

    length = 0
    for match in regex.finditer(r"\X", text):
        if match.end() > characters:
            break
        length = match.end()
    return length
