"""Client of one provider in its dialect. Repetitions and the choice of a key are handled by `retry`."""

from collections.abc import AsyncGenerator, Iterator
from contextlib import contextmanager
from typing import Any

from parlour.core.model.model_config import Model, Provider
from parlour.core.model.providers import ProviderFailed
from parlour.core.models.catalogue import Kind
from parlour_sdk.protocol.models import Embed, InvokeModel, Rerank, RerankScore
from parlour_sdk.protocol.usage import Usage

from .dialects import reasoning
from .dialects import rerank as reranking
from .dialects.anthropic import Anthropic
from .dialects.base import Answer, Called, Dialect, Names, Piece, Question, malformed
from .dialects.gemini import Gemini
from .dialects.openai import OpenAI
from .dialects.tool_names import ToolNames
from .errors import Failure
from .http_connection import Connection
from .key_pool import KeyRing
from .retry import Tries
from .stream_reader import Reading, whole_answer
from .timeouts import Patience

DIALECTS: dict[str, type[Dialect]] = {"openai": OpenAI, "anthropic": Anthropic, "gemini": Gemini}


class Service:
    """Client of one provider. Raises ProviderFailed and no other error."""

    def __init__(self, provider: Provider, kind: Kind, keys: tuple[str, ...], patience: Patience) -> None:
        self._name = provider.name
        self._kind = kind
        self._dialect = DIALECTS[kind.dialect]()
        self._connection = Connection(provider.base_url or kind.base_url, patience)
        self._keys = KeyRing(keys)
        self._patience = patience
        self._tries = Tries(self._connection, self._keys, self._dialect.headers, patience)

    async def close(self) -> None:
        await self._connection.close()

    async def invoke(self, model: Model, request: InvokeModel) -> Piece:
        names, called = _names(request), Called(self._kind, model)
        with self._in_words():
            question = self._dialect.chat(called, request, names, stream=False)
            answer = self._dialect.answer()
            piece = answer.whole(await self._answered(question, model))
        return _last(piece, called, answer, names)

    async def stream(self, model: Model, request: InvokeModel) -> AsyncGenerator[Piece, None]:
        """Yields chunks as they arrive, one for each block; the last one is marked as done and has the tool calls."""
        names, called, whole = _names(request), Called(self._kind, model), Piece()
        with self._in_words():
            question = self._dialect.chat(called, request, names, stream=True)
            answer = self._dialect.answer()
            exchange, first = await self._tries.asked(question, model.name, self._patience.first_token)
            try:
                reading = Reading(exchange, answer, first)
                while (piece := await reading.piece()) is not None:
                    whole.add(Piece(usage=piece.usage, finish_reason=piece.finish_reason))
                    if piece.text or piece.reasoning:
                        yield Piece(piece.text, piece.reasoning)
                yield _last(whole, called, answer, names)
                await exchange.drain()
            finally:
                exchange.close()

    async def embed(self, model: Model, request: Embed) -> tuple[list[list[float]], Usage | None]:
        with self._in_words():
            question = self._dialect.embed(Called(self._kind, model), request)
            vectors, usage = self._dialect.embedded(await self._answered(question, model))
            if len(vectors) != len(request.texts):
                raise malformed(f"{len(vectors)} vectors for {len(request.texts)} texts")
        return vectors, usage

    async def rerank(self, model: Model, request: Rerank) -> tuple[list[RerankScore], Usage | None]:
        with self._in_words():
            question = self._dialect.rerank(Called(self._kind, model), request)
            body = await self._answered(question, model)
            scores = reranking.ranked(body, request)
            if not scores:
                raise malformed("no scores")
        return scores, reranking.usage(body)

    async def _answered(self, question: Question, model: Model) -> Any:
        """Returns a complete response: the time limit for its beginning is that for its end."""
        exchange, first = await self._tries.asked(question, model.name, self._patience.total)
        try:
            return await whole_answer(exchange, first)
        finally:
            exchange.close()

    @contextmanager
    def _in_words(self) -> Iterator[None]:
        try:
            yield
        except Failure as failure:
            sentence = self._keys.hide(f"{self._name} {failure.sentence}")
            raise ProviderFailed(failure.code, sentence, failure.again) from failure


def _names(request: InvokeModel) -> ToolNames:
    return ToolNames(tool.name for tool in request.tools or ())


def _last(piece: Piece, called: Called, answer: Answer, names: Names) -> Piece:
    piece.tool_calls, piece.done = answer.calls.whole(names), True
    piece.metadata = reasoning.carried(called, answer.signed) if piece.tool_calls else None
    if piece.tool_calls and piece.finish_reason in ("", "stop"):
        piece.finish_reason = "tool_calls"  # some services do not report it
    return piece
