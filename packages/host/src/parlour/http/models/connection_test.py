"""Tests a model with one small request, and reports the exact error if it fails."""

import time
from typing import Any, NotRequired

from typing_extensions import TypedDict

from parlour.core.model.ids import NO_PLUGIN
from parlour.core.model.model_config import Model
from parlour.core.model.moderation import Moderate
from parlour.core.model.providers import CallContext, Models, ProviderFailed
from parlour_sdk.protocol.content import plain_text
from parlour_sdk.protocol.messages import Message
from parlour_sdk.protocol.models import Embed, InvokeModel, Rerank

from .schemas import ModelTestResponse, ModelUsage

MAX_ANSWER_TOKENS = 256
"""Token limit of the answer; enough for a model that reasons first."""
MAX_SHOWN_CHARACTERS = 500
CALL = "test"


class _Outcome(TypedDict):
    """The result of a test, without its duration."""

    ok: bool
    message: str
    code: NotRequired[str]
    usage: NotRequired[ModelUsage | None]


class ModelTest:
    def __init__(self, models: Models) -> None:
        self._models = models

    async def run(self, model: Model) -> ModelTestResponse:
        started_at = time.monotonic()
        outcome: _Outcome
        try:
            outcome = await self._call(model)
        except ProviderFailed as failure:
            outcome = {"ok": False, "code": failure.code, "message": failure.message}
        return {**outcome, "milliseconds": round((time.monotonic() - started_at) * 1000)}

    async def _call(self, model: Model) -> _Outcome:
        call_context, model_id = CallContext(NO_PLUGIN), model.model_id
        match model.type:
            case "llm":
                hello = [Message(role="user", content="Say hello in one word.")]
                request = InvokeModel(
                    model_id=model_id, messages=hello, extra={"max_tokens": MAX_ANSWER_TOKENS}, call_id=CALL
                )
                answer = await self._models.invoke(call_context, request)
                reply = plain_text(answer.message.content)[:MAX_SHOWN_CHARACTERS]
                return _success(f"it answered: {reply}" if reply else "it answered, without words", answer.usage)
            case "embedding":
                vectors = await self._models.embed(
                    call_context, Embed(model_id=model_id, texts=["hello"], call_id=CALL)
                )
                return _success(f"it made a vector of {len(vectors.embeddings[0])} numbers", vectors.usage)
            case "rerank":
                rerank_request = Rerank(model_id=model_id, query="fruit", documents=["an apple", "a car"], call_id=CALL)
                ranked = await self._models.rerank(call_context, rerank_request)
                return _success(f"it ranked {len(ranked.results)} documents", ranked.usage)
            case "moderation":
                verdict = await self._models.moderate(call_context, Moderate(model_id, ("hello",)))
                return _success(f"it has a verdict on {len(verdict.categories)} categories", verdict.usage)


def _success(message: str, usage: Any) -> _Outcome:
    return {"ok": True, "message": message, "usage": usage.model_dump(exclude_none=True) if usage else None}
