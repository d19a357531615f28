"""Text as words that a search can find, in every script.

Words of alphabets are taken whole. Chinese, Japanese and Korean are written without spaces, so their text is taken in
overlapping pairs of characters, which finds every word of two or more; a single character is found as itself.
"""

import base64
import hashlib
import re
import unicodedata
from functools import cache, lru_cache

WORDS_PER_ITEM = 20_000
WORD_CHARACTERS = 100
_IDEOGRAPHS = (
    "\u3005\u3007\u3041-\u309f\u30a0-\u30ff\u3400-\u4dbf\u4e00-\u9fff\uac00-\ud7af\uf900-\ufaff\U00020000-\U0003fffd"
)


def indexed(text: str) -> list[str]:
    """The words under which a text is found."""
    folded = _folded(text)
    words: list[str] = _pieces().findall(folded)
    if not folded.isascii():
        words = [word for piece in words for word in _found_by(piece)]
    return [word[:WORD_CHARACTERS] for word in words[:WORDS_PER_ITEM]]


def asked(query: str) -> list[str]:
    """The words that must all be there; none when the query has no word at all."""
    words: list[str] = []
    for piece in _pieces().findall(_folded(query)):
        words += _pairs(piece) if _ideograph().match(piece) and len(piece) > 1 else [piece]
    return list(dict.fromkeys(word[:WORD_CHARACTERS] for word in words))


def in_conversation(conversation_id: str, words: list[str]) -> list[str]:
    """The same words as that conversation's own, so that a search in it touches nothing else.

    A word for the conversation beside them would do the same, and have to be counted through for every ranking. Two
    conversations may have the same mark; whoever searches names the conversation besides.
    """
    mark = _mark(conversation_id)
    return [mark + word for word in words]


@lru_cache(maxsize=1000)
def _mark(conversation_id: str) -> str:
    return base64.b32encode(hashlib.blake2s(conversation_id.encode(), digest_size=5).digest()).decode().lower()


@cache
def _pieces() -> re.Pattern[str]:
    """Made when it is first used: so many characters take their time."""
    return re.compile(f"[{_IDEOGRAPHS}]+|[^\\W_{_IDEOGRAPHS}]+")


@cache
def _ideograph() -> re.Pattern[str]:
    return re.compile(f"[{_IDEOGRAPHS}]")


def _found_by(piece: str) -> list[str]:
    return [*piece, *_pairs(piece)] if _ideograph().match(piece) else [piece]


def _pairs(piece: str) -> list[str]:
    return [piece[index : index + 2] for index in range(len(piece) - 1)]


def _folded(text: str) -> str:
    """Full-width and composed forms, capitals and accents are the same letters."""
    if text.isascii():
        return text.lower()
    decomposed = unicodedata.normalize("NFKD", text.casefold())
    plain = "".join(letter for letter in decomposed if not unicodedata.combining(letter) or _voiced(letter))
    return unicodedata.normalize("NFKC", plain)


def _voiced(mark: str) -> bool:
    """Japanese voicing marks make other letters, not accents."""
    return mark in "\u3099\u309a"
