"""Wraps the models: a call that a budget does not allow is refused before the model is called."""

from collections.abc import AsyncGenerator, Awaitable, Callable, Mapping, Sequence
from contextlib import aclosing
from typing import Any, TypeVar

from parlour.core.config.budgets import BudgetRepository, MatchingBudgets
from parlour.core.model.model_config import ANSWER_LIMITS
from parlour.core.model.providers import POSSIBLY_CHARGED_CODES, CallContext, Models, ProviderFailed
from parlour_sdk import tokens
from parlour_sdk.protocol.content import plain_text
from parlour_sdk.protocol.models import Embed, EmbedAnswer, InvokeModel, ModelAnswer, ModelChunk, Rerank, RerankAnswer
from parlour_sdk.protocol.resources import ModelResource
from parlour_sdk.protocol.usage import Usage

from .reservations import RemainingBudget, Reservation, Reservations

Request = TypeVar("Request", InvokeModel, Embed, Rerank)
Answer = TypeVar("Answer", ModelAnswer, EmbedAnswer, RerankAnswer)

MIN_ANSWER_TOKENS = 256
"""Minimum number of tokens left for an answer; with less the call is refused, otherwise its answer is limited."""


class StreamUsage:
    """Usage of a stream: as reported by the provider, or estimated from the prompt and the parts that were received.

    The estimate is used if the stream was left before the provider reported.
    """

    def __init__(self, worst: Usage) -> None:
        self._worst = worst
        self._counted: Usage | None = None
        self._received_tokens = 0
        self._free = False

    def add_chunk(self, part: ModelChunk) -> None:
        self._counted = part.usage or self._counted
        self._received_tokens += tokens.estimated(plain_text(part.chunk.content) + (part.chunk.reasoning or ""))

    def fail(self, unsure: bool) -> None:
        """Records a failure. It is free if no part was received and the provider surely charged nothing."""
        self._free = not (self._received_tokens or unsure)

    @property
    def usage(self) -> Usage:
        if self._counted is not None:
            return self._counted
        return Usage() if self._free else self._estimate()

    def _estimate(self) -> Usage:
        """Estimates the usage so far at the average price per token of the reservation.

        Tokens beyond the reserved ones count too.
        """
        worst, came = self._worst, self._received_tokens
        used, reserved = worst.prompt_tokens + came, worst.prompt_tokens + worst.completion_tokens
        cost = -(-(worst.cost_micros or 0) * used // reserved) if reserved else 0
        return Usage(prompt_tokens=worst.prompt_tokens, completion_tokens=came, cost_micros=cost)


def limit_answer(request: Request, answer_tokens: int) -> Request:
    """Limits the length of a request's answer to the tokens that were reserved for it."""
    if not isinstance(request, InvokeModel) or not answer_tokens:
        return request
    extra = dict(request.extra or {})
    answers = extra.get("n")
    if isinstance(answers, int) and answers > 1:
        answer_tokens = max(1, answer_tokens // answers)
    given = [name for name in ANSWER_LIMITS if isinstance(extra.get(name), int)]
    limits = {name: min(extra[name], answer_tokens) for name in given} or {"max_tokens": answer_tokens}
    return request.model_copy(update={"extra": {**extra, **limits}})


class BudgetedModels:
    """Calls models within the budgets that apply: reserves the worst case before a call and settles it afterwards."""

    def __init__(self, models: Models, budgets: BudgetRepository, reservations: Reservations) -> None:
        self._models = models
        self._budgets = budgets
        self._reservations = reservations

    def resources(self) -> Sequence[ModelResource]:
        return self._models.resources()

    def parameters(self, model_id: str) -> Mapping[str, Any]:
        return self._models.parameters(model_id)

    def max_usage(self, request: InvokeModel | Embed | Rerank) -> Usage:
        return self._models.max_usage(request)

    def identity(self, model_id: str) -> dict[str, str]:
        return self._models.identity(model_id)

    async def invoke(self, asking: CallContext, request: InvokeModel) -> ModelAnswer:
        return await self._call_within_budget(self._models.invoke, asking, request)

    async def rerank(self, asking: CallContext, request: Rerank) -> RerankAnswer:
        return await self._call_within_budget(self._models.rerank, asking, request)

    async def embed(self, asking: CallContext, request: Embed) -> EmbedAnswer:
        return await self._call_within_budget(self._models.embed, asking, request)

    def stream(self, asking: CallContext, request: InvokeModel) -> AsyncGenerator[ModelChunk, None]:
        applying = self._budgets.matching(asking)
        return (
            self._stream_within_budget(applying, asking, request) if applying else self._models.stream(asking, request)
        )

    async def _call_within_budget(
        self, call: Callable[[CallContext, Request], Awaitable[Answer]], asking: CallContext, request: Request
    ) -> Answer:
        applying = self._budgets.matching(asking)
        if not applying:
            return await call(asking, request)
        held = await self._reserve(applying, asking, request)
        used = held.worst
        try:
            answer = await call(asking, limit_answer(request, held.worst.completion_tokens))
            used = answer.usage or held.worst
            return answer
        except ProviderFailed as failure:
            used = held.worst if failure.code in POSSIBLY_CHARGED_CODES else Usage()
            raise
        finally:
            await self._reservations.settle(held, used)

    async def _stream_within_budget(
        self, applying: MatchingBudgets, asking: CallContext, request: InvokeModel
    ) -> AsyncGenerator[ModelChunk, None]:
        held = await self._reserve(applying, asking, request)
        spending = StreamUsage(held.worst)
        try:
            async with aclosing(
                self._models.stream(asking, limit_answer(request, held.worst.completion_tokens))
            ) as parts:
                async for part in parts:
                    spending.add_chunk(part)
                    yield part
        except ProviderFailed as failure:
            spending.fail(failure.code in POSSIBLY_CHARGED_CODES)
            raise
        finally:
            await self._reservations.settle(held, spending.usage)

    async def _reserve(self, applying: MatchingBudgets, asking: CallContext, request: Request) -> Reservation:
        worst = self._models.max_usage(request)
        return await self._reservations.reserve(
            applying, asking, request.model_id, worst, lambda left: self._shorten(request, worst, left)
        )

    def _shorten(self, request: Request, worst: Usage, left: RemainingBudget) -> Usage | None:
        """Returns the usage to reserve for an answer that fits into the rest of the budget; None if it is too short."""
        shortest = min(MIN_ANSWER_TOKENS, worst.completion_tokens)
        room = worst.completion_tokens
        if left.tokens is not None:
            room = min(room, left.tokens - worst.prompt_tokens)
        if left.cost_micros is not None and worst.cost_micros:
            least = self._models.max_usage(limit_answer(request, 1)).cost_micros or 0
            per_token = (worst.cost_micros - least) / max(1, worst.completion_tokens - 1)
            room = min(room, int((left.cost_micros - least) / per_token) + 1) if per_token else room
        if not shortest or room < shortest:
            return None
        return self._models.max_usage(limit_answer(request, room))
