"""Tests a model with one small request, and reports the exact error if it fails."""

import time
from typing import Any

from parlour.core.model.model_config import Model
from parlour.core.model.providers import CallContext, Models, ProviderFailed
from parlour_sdk.protocol.content import plain_text
from parlour_sdk.protocol.messages import Message
from parlour_sdk.protocol.models import Embed, InvokeModel, Rerank

MAX_ANSWER_TOKENS = 256
"""Token limit of the answer; enough for a model that reasons first."""
MAX_SHOWN_CHARACTERS = 500
CALL = "test"


class ModelTest:
    def __init__(self, models: Models) -> None:
        self._models = models

    async def run(self, model: Model) -> dict[str, Any]:
        began = time.monotonic()
        try:
            told = await self._call(model)
        except ProviderFailed as failure:
            told = {"ok": False, "code": failure.code, "message": failure.message}
        return {**told, "milliseconds": round((time.monotonic() - began) * 1000)}

    async def _call(self, model: Model) -> dict[str, Any]:
        asking, model_id = CallContext(""), model.model_id
        match model.type:
            case "llm":
                hello = [Message(role="user", content="Say hello in one word.")]
                request = InvokeModel(
                    model_id=model_id, messages=hello, extra={"max_tokens": MAX_ANSWER_TOKENS}, call_id=CALL
                )
                answer = await self._models.invoke(asking, request)
                said = plain_text(answer.message.content)[:MAX_SHOWN_CHARACTERS]
                return _success(f"it answered: {said}" if said else "it answered, without words", answer.usage)
            case "embedding":
                vectors = await self._models.embed(asking, Embed(model_id=model_id, texts=["hello"], call_id=CALL))
                return _success(f"it made a vector of {len(vectors.embeddings[0])} numbers", vectors.usage)
            case "rerank":
                asked = Rerank(model_id=model_id, query="fruit", documents=["an apple", "a car"], call_id=CALL)
                ranked = await self._models.rerank(asking, asked)
                return _success(f"it ranked {len(ranked.results)} documents", ranked.usage)


def _success(message: str, usage: Any) -> dict[str, Any]:
    return {"ok": True, "message": message, "usage": usage.model_dump(exclude_none=True) if usage else None}
