"""Embeds texts by the offline model or by a configured model, and reranks passages by a configured one."""

import asyncio
import random
from collections.abc import Sequence
from typing import Any

from parlour.core.knowledge.ports import KnowledgeFailed, Vectors
from parlour.core.knowledge.search_words import embedded_query
from parlour.core.model.ids import ModelId
from parlour.core.model.knowledge import OFFLINE_EMBEDDING
from parlour.core.model.providers import CallContext, Models, ProviderFailed
from parlour_sdk.protocol.models import Embed, Rerank

from . import offline_embedding

TEXTS_AT_ONCE = 64
"""Texts of one request to a model."""
ATTEMPTS = 3
FIRST_RETRY_SECONDS = 1.0


class ModelEmbeddings:
    """Implements the ports of embeddings and of reranking."""

    def __init__(self, models: Models) -> None:
        self._models = models

    async def embed(
        self, model_id: ModelId, texts: Sequence[str], context: CallContext, is_query: bool = False
    ) -> Vectors:
        if model_id == OFFLINE_EMBEDDING:
            wanted = [embedded_query(text) for text in texts] if is_query else list(texts)
            return await asyncio.to_thread(lambda: offline_embedding.load_model().embed(wanted))
        batches = [texts[start : start + TEXTS_AT_ONCE] for start in range(0, len(texts), TEXTS_AT_ONCE)]
        attempts = 1 if is_query else ATTEMPTS
        answers = [await self._embed_batch(model_id, list(batch), context, attempts) for batch in batches]
        return await asyncio.to_thread(_unit_vectors, [vector for answer in answers for vector in answer])

    async def rerank(
        self, model_id: ModelId, query: str, texts: Sequence[str], context: CallContext
    ) -> Sequence[tuple[int, float]]:
        try:
            answer = await self._models.rerank(
                context, Rerank(call_id="", model_id=model_id, query=query, documents=list(texts))
            )
        except ProviderFailed as failure:
            raise _failure(failure) from failure
        return [(each.index, each.score) for each in answer.results]

    async def _embed_batch(
        self, model_id: ModelId, texts: list[str], context: CallContext, attempts: int
    ) -> list[list[float]]:
        delay = FIRST_RETRY_SECONDS
        while True:
            attempts -= 1
            try:
                answer = await self._models.embed(context, Embed(call_id="", model_id=model_id, texts=texts))
                break
            except ProviderFailed as failure:
                if not attempts or not failure.retryable:
                    raise _failure(failure) from failure
            await asyncio.sleep(delay * (1 + random.random()))
            delay *= 4
        if len(answer.embeddings) != len(texts):
            raise KnowledgeFailed("embed.refused", "the model gave another number of vectors than texts were sent")
        return answer.embeddings


def _failure(failure: ProviderFailed) -> KnowledgeFailed:
    return KnowledgeFailed("embed.refused", f"the embedding model failed: {failure.message}", failure.retryable)


def _unit_vectors(vectors: list[list[float]]) -> Any:
    import numpy as np

    try:
        array = np.asarray(vectors, np.float32)
    except ValueError as error:
        raise KnowledgeFailed("embed.dimension", "the model gave vectors of different lengths") from error
    if array.ndim != 2 or not array.shape[1] or not np.isfinite(array).all():
        raise KnowledgeFailed("embed.refused", "the model gave something else than vectors")
    lengths = np.linalg.norm(array, axis=1, keepdims=True)
    return array / np.where(lengths > 0, lengths, 1)
