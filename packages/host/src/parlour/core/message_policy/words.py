"""Finds words of lists in texts and masks them, whatever their case, width, or invisible characters in between.

A text is compared grapheme by grapheme, each in its compatibility form without case. A mask therefore keeps the number
of graphemes, and a text that arrives in pieces is masked in the same way as a whole one.
"""

import unicodedata
from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from functools import lru_cache
from itertools import pairwise

from parlour_sdk.values import dataclass

MASK = "*"


@dataclass(frozen=True, slots=True)
class Graphemes:
    """A text as its graphemes, with the text that words are compared with."""

    graphemes: tuple[str, ...]
    folded: str
    owners: Sequence[int]
    """Position of the grapheme that each character of `folded` comes from."""

    @classmethod
    def of(cls, text: str) -> "Graphemes":
        if _is_plain(text):
            return cls(tuple(text), text.lower(), range(len(text)))
        graphemes, folded, owners = tuple(split_graphemes(text)), list[str](), list[int]()
        for position, grapheme in enumerate(graphemes):
            characters = fold(grapheme)
            folded.append(characters)
            owners += [position] * len(characters)
        return cls(graphemes, "".join(folded), tuple(owners))

    def masked(self, spans: Iterable[tuple[int, int]]) -> list[str]:
        """Returns the graphemes, with those of these spans of `folded` masked."""
        hidden = {self.owners[index] for start, end in spans for index in range(start, end)}
        return [
            MASK if position in hidden and not each.isspace() else each for position, each in enumerate(self.graphemes)
        ]


class WordMatcher:
    """Finds many words at once: each position of a text is looked up by the characters that begin there."""

    def __init__(self, words: Iterable[str]) -> None:
        self._words = {folded for word in words if (folded := "".join(map(fold, split_graphemes(word))))}
        self._lengths: dict[str, tuple[int, ...]] = {}
        lengths: defaultdict[str, set[int]] = defaultdict(set)
        for word in self._words:
            lengths[word[:2]].add(len(word))
        self._lengths = {start: tuple(sorted(each)) for start, each in lengths.items()}
        self.longest = max(map(len, self._words), default=0)
        """Characters of the longest word."""

    def spans(self, folded: str) -> Iterator[tuple[int, int]]:
        """Yields start and end of every word in a folded text, also of words inside or across others."""
        words, lengths = self._words, self._lengths
        pairs = map("".join, pairwise(folded))
        if lengths.keys().isdisjoint(folded) and lengths.keys().isdisjoint(pairs):
            return  # no word begins anywhere, which is so for most texts
        for start in range(len(folded)):
            for key in (folded[start], folded[start : start + 2]):
                for length in lengths.get(key, ()):
                    if start + length <= len(folded) and folded[start : start + length] in words:
                        yield start, start + length


@lru_cache(maxsize=64)
def matcher_of(words: tuple[str, ...]) -> WordMatcher:
    """Returns the matcher of these words. Building one for some hundred words takes as long as a whole message."""
    return WordMatcher(words)


@lru_cache(maxsize=4096)
def fold(grapheme: str) -> str:
    """Returns a grapheme as it is compared: in its compatibility form, without case and without format characters."""
    folded = unicodedata.normalize("NFKC", unicodedata.normalize("NFKC", grapheme).casefold())
    return folded if folded.isascii() else "".join(each for each in folded if unicodedata.category(each) != "Cf")


def split_graphemes(text: str) -> Sequence[str]:
    """Splits a text into the characters that a person sees."""
    if _is_plain(text):
        return text
    import regex

    graphemes: list[str] = regex.findall(r"\X", text)
    return graphemes


def _is_plain(text: str) -> bool:
    """Returns whether each character is a grapheme whose compatibility form is itself."""
    return text.isascii() and "\r" not in text
