"""Converts Markdown to the markup that a platform shows: Markdown, HTML tags, or plain text.

Mentions of everyone are defused: they stay readable but notify no users.
"""

import re
from functools import cache, partial

from parlour.core.platforms.manifest import AdapterManifest

from . import repeat_notes
from .split import MEASURES, Measure, TextPiece, split

_MARKUP = re.compile(r"[\\`*_\[\]<>&#~|!]|^\s*(?:[-+]|\d+[.)])\s|^\s{4}|^[=-]+\s*$|\S +\n", re.MULTILINE)
ZERO_WIDTH = "\u200b"


def has_markup(text: str) -> bool:
    """Returns whether Markdown could render the text differently from how it is written."""
    return _MARKUP.search(text) is not None


class TextFormatter:
    """Measures, splits and converts the texts of one platform's messages."""

    def __init__(self, manifest: AdapterManifest, max_message_size: int = 0, allow_everyone: bool = False) -> None:
        self._everyone_pattern = "" if allow_everyone else manifest.mentions_everyone
        self._kind = manifest.dialect
        limit = manifest.limits.text
        self._size = MEASURES[manifest.limits.text_unit]
        self.limit = (min(limit, max_message_size) if max_message_size else limit) - repeat_notes.longest_note_size(
            self._size
        )

    def split_text(self, text: str) -> list[TextPiece]:
        """Splits the Markdown text into pieces that each fit into one message after conversion."""
        return list(split(defuse_mentions(text, self._everyone_pattern), self.limit, self.measure))

    def first_piece(self, text: str, size: int) -> str:
        """Returns the first piece, with its fences closed, for a message that has less room."""
        return next(
            (piece.shown_text for piece in split(defuse_mentions(text, self._everyone_pattern), size, self.measure)), ""
        )

    def format_text(self, text: str) -> str:
        """Converts the text to the platform's markup, with mentions of everyone defused."""
        if self._kind == "markdown" or not has_markup(text):
            return text
        if self._kind == "plain":
            from .plain import to_plain_text

            return defuse_mentions(to_plain_text(text), self._everyone_pattern)
        from .html import to_html

        return defuse_mentions(to_html(text), self._everyone_pattern)

    @property
    def measure(self) -> Measure:
        return self._size if self._kind == "markdown" else partial(_formatted_size, self)

    def size(self, text: str) -> int:
        """Returns the size of a text that is already converted."""
        return self._size(text)


def _formatted_size(dialect: TextFormatter, text: str) -> int:
    return dialect.size(dialect.format_text(text))


@cache
def _pattern(expression: str) -> re.Pattern[str]:
    return re.compile(expression, re.IGNORECASE)


def defuse_mentions(text: str, expression: str) -> str:
    """Inserts an invisible break into each mention. `expression` is the pattern of such mentions on the platform."""
    if not expression or (pattern := _pattern(expression)).search(text) is None:
        return text
    defused = pattern.sub(_insert_break, text)
    return defused if pattern.search(defused) is None else pattern.sub(_break_every_character, text)


def _insert_break(match: re.Match[str]) -> str:
    return match[0][:1] + ZERO_WIDTH + match[0][1:]


def _break_every_character(match: re.Match[str]) -> str:
    return ZERO_WIDTH.join(match[0])
