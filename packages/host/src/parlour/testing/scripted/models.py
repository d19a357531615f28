"""Provides models that give prepared replies, one per request, in order."""

import asyncio
import inspect
from collections import deque
from collections.abc import AsyncGenerator, Awaitable, Callable, Sequence
from dataclasses import field
from typing import Any

from parlour.core.model.ids import ModelId
from parlour.core.model.moderation import Moderate, ModerationAnswer, ModerationCategory
from parlour.core.model.providers import CallContext, ProviderFailed
from parlour_sdk.protocol.messages import Message, MessageChunk, ToolCall
from parlour_sdk.protocol.models import (
    Embed,
    EmbedAnswer,
    InvokeModel,
    ModelAnswer,
    ModelChunk,
    Rerank,
    RerankAnswer,
    RerankScore,
)
from parlour_sdk.protocol.resources import ModelResource
from parlour_sdk.protocol.usage import Usage
from parlour_sdk.values import dataclass

CATALOGUE = (
    ModelResource(model_id="model", name="Model", type="llm"),
    ModelResource(model_id="rerank-model", name="Rerank model", type="rerank"),
    ModelResource(model_id="embedding-model", name="Embedding model", type="embedding"),
)


@dataclass(frozen=True, slots=True)
class Hang:
    """Never answers."""


@dataclass(frozen=True, slots=True)
class Reply:
    """Describes an answer. A stream gives its text word by word, or in its pieces, and then does what `then` says."""

    text: str = ""
    pieces: Sequence[str] = ()
    reasoning: str = ""
    tool_calls: Sequence[ToolCall] = ()
    usage: Usage = field(default_factory=lambda: Usage(prompt_tokens=3, completion_tokens=2))
    finish_reason: str = "stop"
    then: ProviderFailed | Hang | None = None

    def message(self) -> Message:
        return Message(
            role="assistant",
            content=self.text or "".join(self.pieces),
            tool_calls=list(self.tool_calls) or None,
            reasoning=self.reasoning or None,
        )

    def chunks(self) -> Sequence[MessageChunk]:
        parts = self.pieces or ([f"{piece} " for piece in self.text.split(" ")] if self.text else [])
        reasoning_chunks = [MessageChunk(role="assistant", reasoning=self.reasoning)] if self.reasoning else []
        return [*reasoning_chunks, *(MessageChunk(role="assistant", content=each) for each in parts)]


Scripted = str | Reply | ProviderFailed | Hang
Otherwise = Callable[[InvokeModel], Scripted | Awaitable[Scripted]]


def _no_reply_left(request: InvokeModel) -> Scripted:
    return ProviderFailed("runtime_error", "the script has no reply left for this request")


class ScriptedModels:
    """Records all requests in `requests`, and in `abandoned` how many of them were cancelled before their end.

    After the last prepared reply, `otherwise` decides the reply. An embedding is the length of its text, and a rerank
    orders documents by their length: these use up a reply only if it is a failure or hangs.
    """

    def __init__(
        self,
        *replies: Scripted,
        otherwise: Otherwise = _no_reply_left,
        catalogue: Sequence[ModelResource] = CATALOGUE,
    ) -> None:
        self._replies = deque(replies)
        self._otherwise = otherwise
        self._catalogue = catalogue
        self.requests: list[InvokeModel | Rerank | Embed | Moderate] = []
        self.askings: list[CallContext] = []
        self.abandoned = 0

    def resources(self) -> Sequence[ModelResource]:
        return self._catalogue

    def parameters(self, model_id: ModelId) -> dict[str, Any]:
        return {}

    def max_usage(self, request: InvokeModel | Embed | Rerank | Moderate) -> Usage:
        """Counts a hundred tokens each way, at one micro-unit a token."""
        return Usage(prompt_tokens=100, completion_tokens=100, cost_micros=200)

    def identity(self, model_id: ModelId) -> dict[str, str]:
        return {each.model_id: {"model": each.name, "provider": "scripted"} for each in self._catalogue}.get(
            model_id, {}
        )

    async def invoke(self, context: CallContext, request: InvokeModel) -> ModelAnswer:
        reply = await self._reply(context, request)
        return ModelAnswer(
            message=reply.message(), usage=reply.usage, model_id=request.model_id, finish_reason=reply.finish_reason
        )

    async def stream(self, context: CallContext, request: InvokeModel) -> AsyncGenerator[ModelChunk, None]:
        reply = await self._reply(context, request)
        try:
            for chunk in reply.chunks():
                yield ModelChunk(chunk=chunk)
        except GeneratorExit:
            self.let_go()
            raise
        await self._trouble(reply.then)
        last = MessageChunk(role="assistant", tool_calls=list(reply.tool_calls) or None, is_final=True)
        yield ModelChunk(chunk=last, usage=reply.usage, model_id=request.model_id, finish_reason=reply.finish_reason)

    async def rerank(self, context: CallContext, request: Rerank) -> RerankAnswer:
        await self._seen(context, request)
        scores = [RerankScore(index=index, score=len(text)) for index, text in enumerate(request.documents)]
        ranked = sorted(scores, key=lambda each: -each.score)[: request.top_k]
        return RerankAnswer(results=ranked, usage=Usage(prompt_tokens=len(request.documents)))

    async def embed(self, context: CallContext, request: Embed) -> EmbedAnswer:
        await self._seen(context, request)
        usage = Usage(prompt_tokens=len(request.texts))
        return EmbedAnswer(embeddings=[[float(len(text))] for text in request.texts], usage=usage)

    async def moderate(self, context: CallContext, request: Moderate) -> ModerationAnswer:
        """Flags texts with the word "violent"."""
        await self._seen(context, request)
        is_flagged = any("violent" in text for text in request.texts)
        category = ModerationCategory("violence", is_flagged, 0.9 if is_flagged else 0.1)
        return ModerationAnswer(is_flagged, (category,), Usage(prompt_tokens=len(request.texts), cost_micros=7))

    def let_go(self) -> None:
        """Records that a request was abandoned by its caller."""
        self.abandoned += 1

    async def _reply(self, context: CallContext, request: InvokeModel) -> Reply:
        await self._seen(context, request)
        reply = self._replies.popleft() if self._replies else await self._what_otherwise(request)
        if isinstance(reply, Reply | str):
            return Reply(reply) if isinstance(reply, str) else reply
        await self._trouble(reply)
        raise AssertionError("what hangs does not go on")

    async def _what_otherwise(self, request: InvokeModel) -> Scripted:
        scripted = self._otherwise(request)
        return await scripted if inspect.isawaitable(scripted) else scripted

    async def _seen(self, context: CallContext, request: InvokeModel | Rerank | Embed | Moderate) -> None:
        self.requests.append(request)
        self.askings.append(context)
        if self._replies and isinstance(self._replies[0], ProviderFailed | Hang):
            await self._trouble(self._replies.popleft())

    async def _trouble(self, reply: Scripted | None) -> None:
        if isinstance(reply, ProviderFailed):
            raise reply
        if isinstance(reply, Hang):
            try:
                await asyncio.Event().wait()
            except asyncio.CancelledError:
                self.let_go()
                raise
