"""Splits text of any script into search terms.

Words of alphabets are used whole. Chinese, Japanese and Korean are written without spaces, so their text is split into
overlapping pairs of characters, which finds every word of two or more characters, and into single characters.
"""

import base64
import hashlib
import re
import unicodedata
from functools import cache, lru_cache

from parlour.core.model.ids import ConversationId

MAX_TERMS_PER_ITEM = 20_000
"""Largest number of terms of one transcript item; further text is not found."""
MAX_TERM_CHARACTERS = 100
"""Largest length of a term; longer ones are cut off."""
_IDEOGRAPHS = (
    "\u3005\u3007\u3041-\u309f\u30a0-\u30ff\u3400-\u4dbf\u4e00-\u9fff\uac00-\ud7af\uf900-\ufaff\U00020000-\U0003fffd"
)


def index_terms(text: str) -> list[str]:
    """Returns the terms by which a text can be found."""
    folded_text = _fold(text)
    terms: list[str] = _token_pattern().findall(folded_text)
    if not folded_text.isascii():
        terms = [term for token in terms for term in _token_terms(token)]
    return [term[:MAX_TERM_CHARACTERS] for term in terms[:MAX_TERMS_PER_ITEM]]


def query_terms(query: str) -> list[str]:
    """Returns the terms of a query, all of which must match; empty if the query has no word."""
    terms: list[str] = []
    for token in _token_pattern().findall(_fold(query)):
        terms += _pairs(token) if _ideograph_pattern().match(token) and len(token) > 1 else [token]
    return list(dict.fromkeys(term[:MAX_TERM_CHARACTERS] for term in terms))


def conversation_terms(conversation_id: ConversationId, terms: list[str]) -> list[str]:
    """Prefixes terms with a mark of their conversation, so that a search reads no other conversation.

    A separate term for the conversation would have the same effect, but each ranking would have to count through it.
    Two conversations may have the same mark, so a search must also name the conversation.
    """
    mark = _conversation_mark(conversation_id)
    return [mark + term for term in terms]


@lru_cache(maxsize=1000)
def _conversation_mark(conversation_id: ConversationId) -> str:
    return base64.b32encode(hashlib.blake2s(conversation_id.encode(), digest_size=5).digest()).decode().lower()


@cache
def _token_pattern() -> re.Pattern[str]:
    """Compiles the pattern of words on first use, since the large character ranges make that slow."""
    return re.compile(f"[{_IDEOGRAPHS}]+|[^\\W_{_IDEOGRAPHS}]+")


@cache
def _ideograph_pattern() -> re.Pattern[str]:
    return re.compile(f"[{_IDEOGRAPHS}]")


def _token_terms(token: str) -> list[str]:
    return [*token, *_pairs(token)] if _ideograph_pattern().match(token) else [token]


def _pairs(token: str) -> list[str]:
    return [token[index : index + 2] for index in range(len(token) - 1)]


def _fold(text: str) -> str:
    """Normalizes full-width and composed forms, case and accents."""
    if text.isascii():
        return text.lower()
    decomposed = unicodedata.normalize("NFKD", text.casefold())
    plain = "".join(letter for letter in decomposed if not unicodedata.combining(letter) or _is_voicing_mark(letter))
    return unicodedata.normalize("NFKC", plain)


def _is_voicing_mark(mark: str) -> bool:
    """Returns whether a mark is a Japanese voicing mark; it makes another letter, unlike an accent."""
    return mark in "\u3099\u309a"
