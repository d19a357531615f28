"""Returns the words by which a passage is found.

These are stems of Latin words, single characters and pairs of characters of Chinese, Japanese and Korean, and reference
numbers as a whole. A passage and a query pass the same steps, so that "requests" finds "request". Words that every
question has are left out of queries, since they say nothing about the answer.
"""

import base64
import hashlib
import re
from pathlib import Path

from parlour.core.store.text_search import index_terms, query_terms

MAX_WORDS = 20_000
"""Largest number of different words of one passage; further ones are not found."""
MIN_STEM_LETTERS = 3
"""Smallest number of letters that stay when an ending is cut off."""
MARK_LETTERS = 5
"""Letters before each stored word that tell the passages of one base from all others."""
STOP_WORDS = frozenset(Path(__file__).with_name("data").joinpath("stop_words.txt").read_text(encoding="utf-8").split())
"""Words that questions have in English, and pairs of characters that they have in Chinese."""
STOP_CHARACTERS = frozenset(
    "的了吗我能什么多少怎哪几是在有不要可以为和与或把被给让到从就都也还很一个这那样啊呢吧里用会"
)
"""Characters that questions have, in Chinese."""
CHARACTER_WEIGHT = 0.5
"""Weight of a single character of a query; a pair has 1."""
CODE_WEIGHT = 2.0
"""Weight of a whole reference number, whose parts may be frequent."""
_ENDINGS = (("ies", "y"), ("sses", "ss"), ("ing", ""), ("ed", ""), ("es", ""), ("s", ""), ("e", ""))
_CODE = re.compile(r"[a-z]+[-_/.]?[0-9][a-z0-9]*(?:[-_/.][0-9]+)*|[0-9]+(?:[-_/.][a-z0-9]+)+")
_WORD = re.compile(r"[\w'-]+")
FIRST_IDEOGRAPH = "\u3005"
_LATIN = re.compile(r"[a-z]+")


def passage_words(text: str) -> list[str]:
    """Returns the different words of a passage."""
    return list(dict.fromkeys([*map(stem, index_terms(text)), *_codes(text)]))[:MAX_WORDS]


def query_words(query: str) -> dict[str, float]:
    """Returns the different words of a query that say something, with their weight; all of them if none does."""
    terms = query_terms(query)
    telling = [term for term in terms if term not in STOP_WORDS]
    weights = dict.fromkeys(map(stem, telling or terms), 1.0) | dict.fromkeys(_codes(query), CODE_WEIGHT)
    for character in index_terms(query):
        if len(character) == 1 and character >= FIRST_IDEOGRAPH and character not in STOP_CHARACTERS:
            weights.setdefault(character, CHARACTER_WEIGHT)
    return weights


def embedded_query(query: str) -> str:
    """Returns a query as it is embedded offline: without words that every question has."""
    words = [word for word in _WORD.findall(query) if word.lower() not in STOP_WORDS]
    return " ".join(words) or query


def stem(word: str) -> str:
    """Cuts a common English ending off. Words of other scripts, and those with digits, stay as they are."""
    if len(word) <= MIN_STEM_LETTERS or not _LATIN.fullmatch(word):
        return word
    for ending, replacement in _ENDINGS:
        if word.endswith(ending) and not word.endswith("ss") and len(word) - len(ending) >= MIN_STEM_LETTERS:
            stemmed = word[: len(word) - len(ending)] + replacement
            return stemmed[:-1] if _has_doubled_end(stemmed) and ending in ("ing", "ed") else stemmed
    return word


def with_mark(collection: str, words: list[str]) -> list[str]:
    """Prefixes words with a mark of their collection, so that a search reads no other one.

    Two collections may have the same mark, so a search must also name the base.
    """
    digest = hashlib.blake2s(collection.encode(), digest_size=4).digest()
    mark = base64.b32encode(digest).decode().lower()[:MARK_LETTERS]
    return [mark + word for word in words]


def _codes(text: str) -> list[str]:
    """Returns reference numbers such as `HR-2101` as words of their own: their parts may be frequent."""
    return ["code" + re.sub(r"[-_/.]", "", code) for code in _CODE.findall(text.lower())]


def _has_doubled_end(word: str) -> bool:
    return len(word) > MIN_STEM_LETTERS and word[-1] == word[-2] and word[-1] not in "aeiouls"
