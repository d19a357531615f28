"""Client of one provider in its dialect. Repetitions and the choice of a key are handled by `retry`."""

from collections.abc import AsyncGenerator, Iterator
from contextlib import contextmanager
from typing import Any

from parlour.core.model.model_config import Model, Provider
from parlour.core.model.moderation import Moderate, ModerationAnswer
from parlour.core.model.providers import ProviderFailed
from parlour.core.models.catalogue import ModelServiceKind
from parlour_sdk.protocol.models import Embed, InvokeModel, Rerank, RerankScore
from parlour_sdk.protocol.usage import Usage

from .dialects import reasoning
from .dialects import rerank as reranking
from .dialects.anthropic import Anthropic
from .dialects.base import (
    CallTarget,
    ModelDialect,
    ModelHttpRequest,
    ResponseChunk,
    ResponseParser,
    ToolNameMap,
    malformed,
    not_supported,
)
from .dialects.common import ToolNames
from .dialects.gemini import Gemini
from .dialects.moderation.base import ModerationFormat
from .dialects.moderation.openai import OpenAIModeration
from .dialects.openai import OpenAI
from .dialects.openai_responses import OpenAIResponses
from .errors import ModelCallFailure
from .http_connection import ProviderConnection
from .retry import KeyRing, RetryingClient
from .stream_reader import ModelStreamReader, read_json
from .timeouts import ModelTimeouts

DIALECTS: dict[str, type[ModelDialect]] = {
    "openai": OpenAI,
    "openai-responses": OpenAIResponses,
    "anthropic": Anthropic,
    "gemini": Gemini,
}

MODERATION_FORMATS: dict[str, type[ModerationFormat]] = {
    "openai": OpenAIModeration,
    "openai-responses": OpenAIModeration,
}
"""Dialects of model services that have moderation, too."""


class ProviderClient:
    """Client of one provider. Raises ProviderFailed and no other error."""

    def __init__(
        self, provider: Provider, kind: ModelServiceKind, keys: tuple[str, ...], timeouts: ModelTimeouts
    ) -> None:
        self._name = provider.name
        self._kind = kind
        self._dialect = DIALECTS[kind.dialect]()
        self._connection = ProviderConnection(provider.base_url or kind.base_url, timeouts)
        self._keys = KeyRing(keys)
        self._timeouts = timeouts
        self._retrying = RetryingClient(self._connection, self._keys, self._dialect.headers, timeouts)

    async def close(self) -> None:
        await self._connection.close()

    async def invoke(self, model: Model, request: InvokeModel) -> ResponseChunk:
        names, target = _names(request), CallTarget(self._kind, model)
        with self._translate_errors():
            question = self._dialect.chat(target, request, names, stream=False)
            answer = self._dialect.response_parser()
            piece = answer.parse_whole(await self._complete_response(question, model))
        return _last(piece, target, answer, names)

    async def stream(self, model: Model, request: InvokeModel) -> AsyncGenerator[ResponseChunk, None]:
        """Yields chunks as they arrive, one for each block; the last one is marked as done and has the tool calls."""
        names, target, complete = _names(request), CallTarget(self._kind, model), ResponseChunk()
        with self._translate_errors():
            question = self._dialect.chat(target, request, names, stream=True)
            answer = self._dialect.response_parser()
            exchange, first_block = await self._retrying.request(question, model.name, self._timeouts.first_token)
            try:
                reading = ModelStreamReader(exchange, answer, first_block)
                while (piece := await reading.next_chunk()) is not None:
                    complete.add(ResponseChunk(usage=piece.usage, finish_reason=piece.finish_reason))
                    if piece.text or piece.reasoning:
                        yield ResponseChunk(piece.text, piece.reasoning)
                yield _last(complete, target, answer, names)
                await exchange.drain()
            finally:
                exchange.close()

    async def embed(self, model: Model, request: Embed) -> tuple[list[list[float]], Usage | None]:
        with self._translate_errors():
            question = self._dialect.embed(CallTarget(self._kind, model), request)
            vectors, usage = self._dialect.parse_embeddings(await self._complete_response(question, model))
            if len(vectors) != len(request.texts):
                raise malformed(f"{len(vectors)} vectors for {len(request.texts)} texts")
        return vectors, usage

    async def rerank(self, model: Model, request: Rerank) -> tuple[list[RerankScore], Usage | None]:
        with self._translate_errors():
            question = self._dialect.rerank(CallTarget(self._kind, model), request)
            body = await self._complete_response(question, model)
            scores = reranking.parse_scores(body, request)
            if not scores:
                raise malformed("no scores")
        return scores, reranking.parse_usage(body)

    async def moderate(self, model: Model, request: Moderate) -> ModerationAnswer:
        with self._translate_errors():
            kind = MODERATION_FORMATS.get(self._kind.dialect)
            if kind is None:
                raise not_supported("moderation")
            [question] = kind().requests(CallTarget(self._kind, model), request)
            return kind().parse_answer(await self._complete_response(question, model))

    async def _complete_response(self, question: ModelHttpRequest, model: Model) -> Any:
        """Returns a complete response: the time limit for its beginning is that for its end."""
        exchange, first_block = await self._retrying.request(question, model.name, self._timeouts.total)
        try:
            return await read_json(exchange, first_block)
        finally:
            exchange.close()

    @contextmanager
    def _translate_errors(self) -> Iterator[None]:
        try:
            yield
        except ModelCallFailure as failure:
            sentence = self._keys.mask(f"{self._name} {failure.sentence}")
            raise ProviderFailed(failure.code, sentence, failure.retryable) from failure


def _names(request: InvokeModel) -> ToolNames:
    return ToolNames(tool.name for tool in request.tools or ())


def _last(piece: ResponseChunk, target: CallTarget, answer: ResponseParser, names: ToolNameMap) -> ResponseChunk:
    piece.tool_calls, piece.done = answer.calls.complete(names), True
    piece.metadata = reasoning.to_metadata(target, answer.signed_reasoning) if piece.tool_calls else None
    if piece.tool_calls and piece.finish_reason in ("", "stop"):
        piece.finish_reason = "tool_calls"  # some services do not report it
    return piece
