"""Finds passages by the words of a query, weighted by how rare each is in the base.

Rare words are looked up in the full-text index with all passages that contain them. A frequent word says little, and
reading all of its passages would be slow, so its frequency is estimated from a sample of the base.
"""

import asyncio

from parlour.core.journal import Journal, Search, Select, where
from parlour.core.model.ids import KnowledgeBaseId
from parlour.core.store.tables import KNOWLEDGE_CHUNKS
from parlour_sdk.values import dataclass

from .fusion import rarity
from .records import split_words
from .search_words import query_words, with_mark

RARE_PASSAGES = 1000
"""Largest number of passages with a rare word."""
SAMPLE_PASSAGES = 500
"""Passages from which the frequency of frequent words is estimated."""
MAX_QUERY_WORDS = 64


@dataclass(frozen=True, slots=True)
class WordMatches:
    """The matches of a query's words in a base."""

    weights: dict[str, float]
    """Weights of the words."""
    candidates: list[str]
    """Ids of passages that contain rare words, those with the most weight first."""


class WordSearch:
    """Searches the words of one base."""

    def __init__(self, journal: Journal, kb_id: KnowledgeBaseId) -> None:
        self._journal = journal
        self._kb_id = kb_id
        self._sample: list[set[str]] | None = None

    async def find(self, query: str, passages: int, limit: int) -> WordMatches:
        """Returns the weights of the query's words and the best passages by rare words."""
        factors = dict(list(query_words(query).items())[:MAX_QUERY_WORDS])
        found = await asyncio.gather(*(self._passages_with(word) for word in factors))
        weights: dict[str, float] = {}
        scores: dict[str, float] = {}
        for (word, factor), ids in zip(factors.items(), found, strict=True):
            is_rare = len(ids) <= RARE_PASSAGES
            count = len(ids) if is_rare else await self._estimate(word, passages)
            weights[word] = factor * rarity(max(passages, len(ids)), count)
            if is_rare:
                for chunk_id in ids:
                    scores[chunk_id] = scores.get(chunk_id, 0.0) + weights[word]
        candidates = sorted(scores, key=lambda each: (-scores[each], each))[:limit]
        if not candidates and factors:
            candidates = await self._with_all(list(factors), limit)
        return WordMatches(weights, candidates)

    def forget_sample(self) -> None:
        """Takes a new sample at the next search."""
        self._sample = None

    async def _passages_with(self, word: str) -> list[str]:
        """Returns passages that contain the word, at most one more than a rare word has."""
        search = Search(
            KNOWLEDGE_CHUNKS,
            "words",
            tuple(with_mark(self._kb_id, [word])),
            where(kb_id=self._kb_id),
            limit=RARE_PASSAGES + 1,
            columns=("chunk_id",),
            ranked=False,
        )
        return [row["chunk_id"] for row in await self._journal.search(search)]

    async def _with_all(self, words: list[str], limit: int) -> list[str]:
        marked = tuple(with_mark(self._kb_id, words))
        search = Search(
            KNOWLEDGE_CHUNKS, "words", marked, where(kb_id=self._kb_id), limit, columns=("chunk_id",), ranked=False
        )
        return [row["chunk_id"] for row in await self._journal.search(search)]

    async def _estimate(self, word: str, passages: int) -> float:
        if self._sample is None:
            conditions = where(kb_id=self._kb_id)
            query = Select(KNOWLEDGE_CHUNKS, conditions, ("words",), order=("chunk_id",), limit=SAMPLE_PASSAGES)
            self._sample = [split_words(self._kb_id, row["words"]) for row in await self._journal.read(query)]
        share = sum(word in words for words in self._sample) / max(1, len(self._sample))
        return max(RARE_PASSAGES, share * passages)
