"""Writes Markdown text in the dialect that its platform shows: as it is, as HTML tags, or as plain text layout."""

import re
from functools import partial

from parlour.core.platforms.manifest import AdapterManifest

from . import repeats
from .mentions import defused
from .split import Piece, split
from .text_length import MEASURES, Measure

_MARKUP = re.compile(r"[\\`*_\[\]<>&#~|!]|^\s*(?:[-+]|\d+[.)])\s|^\s{4}|^[=-]+\s*$|\S +\n", re.MULTILINE)


def has_markup(text: str) -> bool:
    """Whether Markdown may show it otherwise than it is written."""
    return _MARKUP.search(text) is not None


class Dialect:
    """Everything about the text of one platform's messages."""

    def __init__(self, manifest: AdapterManifest, max_message_size: int = 0, everyone: bool = False) -> None:
        self._everyone = "" if everyone else manifest.mentions_everyone
        self._kind = manifest.dialect
        limit = manifest.limits.text
        self._size = MEASURES[manifest.limits.text_unit]
        self.limit = (min(limit, max_message_size) if max_message_size else limit) - repeats.room(self._size)

    def pieces(self, text: str) -> list[Piece]:
        """Pieces of the Markdown text, each of which one message can hold once it is written."""
        return list(split(defused(text, self._everyone), self.limit, self.measure))

    def first(self, text: str, room: int) -> str:
        """The first of such pieces, as it is shown, in a message that has less room."""
        return next((piece.shown for piece in split(defused(text, self._everyone), room, self.measure)), "")

    def written(self, text: str) -> str:
        if self._kind == "markdown" or not has_markup(text):
            return text
        if self._kind == "plain":
            from .plain import plain

            return defused(plain(text), self._everyone)
        from .html import html

        return defused(html(text), self._everyone)

    @property
    def measure(self) -> Measure:
        return self._size if self._kind == "markdown" else partial(_measured, self)

    def size(self, text: str) -> int:
        """Of a text as it is written."""
        return self._size(text)


def _measured(dialect: Dialect, text: str) -> int:
    return dialect.size(dialect.written(text))
