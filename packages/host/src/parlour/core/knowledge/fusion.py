"""Combines what two searches of one base found: by the meaning of the query, and by its words.

Plain rank fusion lets a confident list be spoiled by a random one. So both searches give a score between 0 and 1 that
means the same in every base: how far a similarity is above that of unrelated passages, and which part of the query's
words, weighted by their rarity, a passage contains.
"""

import math
from collections.abc import Collection, Mapping, Sequence

from parlour_sdk.values import dataclass

BEST_DEVIATIONS = 6.0
"""Standard deviations above the mean similarity at which the score of a passage is 1."""
DEFAULT_WEIGHT = 0.5
"""Weight of the meaning; the rest is that of the words."""
RANK_OFFSET = 60
"""Constant of reciprocal rank fusion, for stores that can't say how similar unrelated passages are."""


@dataclass(frozen=True, slots=True)
class Background:
    """Mean and standard deviation of a query's similarity to the passages of a base."""

    mean: float
    deviation: float

    def score(self, similarity: float) -> float:
        """Returns a score from 0 to 1; unrelated passages have about 0."""
        if self.deviation <= 0:
            return 0.0
        return min(1.0, max(0.0, (similarity - self.mean) / self.deviation / BEST_DEVIATIONS))


def rarity(passages: int, passages_with_word: float) -> float:
    """Returns the weight of a word that this many passages of a base contain."""
    return math.log(1 + (passages - min(passages, passages_with_word) + 0.5) / (passages_with_word + 0.5))


def coverage(weights: Mapping[str, float], passage_words: Collection[str]) -> float:
    """Returns the part of a query's words that a passage contains, by their weights."""
    total = sum(weights.values())
    return sum(weight for word, weight in weights.items() if word in passage_words) / total if total else 0.0


def fuse(vector: float, words: float, weight: float) -> float:
    """Returns the score of a passage from those of its meaning and its words."""
    return weight * vector + (1 - weight) * words


def rank_scores(ids: Sequence[str]) -> dict[str, float]:
    """Returns scores by rank alone, so that the first has 1."""
    return {each: (RANK_OFFSET + 1) / (RANK_OFFSET + 1 + rank) for rank, each in enumerate(ids)}
