"""Orders memories by how well they fit a question: by its words, and by its meaning where the offline model is
installed.
"""

import asyncio
from collections.abc import Sequence

from parlour.core.knowledge.fusion import coverage, rarity
from parlour.core.knowledge.search_words import passage_words, query_words
from parlour.core.model.memory import Memory

from ..knowledge.installation import is_installed


async def best_first(query: str, memories: Sequence[Memory]) -> list[Memory]:
    """Returns the memories, those that fit best first, the newest first among equal ones."""
    scores = await asyncio.to_thread(_scores, query, [memory.text for memory in memories])
    order = sorted(range(len(memories)), key=lambda index: (-scores[index], -memories[index].updated_at))
    return [memories[index] for index in order]


def _scores(query: str, texts: Sequence[str]) -> list[float]:
    words = [set(passage_words(text)) for text in texts]
    factors = query_words(query)
    weights = {
        word: factor * rarity(len(texts), sum(word in each for each in words)) for word, factor in factors.items()
    }
    scores = [coverage(weights, each) for each in words]
    if not is_installed():
        return scores
    from ..knowledge.offline_embedding import load_model

    vectors = load_model().embed([query, *texts])
    similarities = vectors[1:] @ vectors[0]
    return [score + float(similarity) for score, similarity in zip(scores, similarities, strict=True)]
