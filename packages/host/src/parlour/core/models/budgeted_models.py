"""Wraps the models: a call that a budget does not allow is refused before the model is called."""

from collections.abc import AsyncGenerator, Awaitable, Callable, Mapping, Sequence
from contextlib import aclosing
from typing import Any, TypeVar

from parlour.core.config.budgets import BudgetRepository, MatchingBudgets
from parlour.core.model.ids import ModelId
from parlour.core.model.model_config import ANSWER_LIMITS
from parlour.core.model.moderation import Moderate, ModerationAnswer
from parlour.core.model.providers import POSSIBLY_CHARGED_CODES, CallContext, Models, ProviderFailed
from parlour_sdk import tokens
from parlour_sdk.protocol.content import plain_text
from parlour_sdk.protocol.models import Embed, EmbedAnswer, InvokeModel, ModelAnswer, ModelChunk, Rerank, RerankAnswer
from parlour_sdk.protocol.resources import ModelResource
from parlour_sdk.protocol.usage import Usage

from .reservations import RemainingBudget, Reservation, Reservations

Request = TypeVar("Request", InvokeModel, Embed, Rerank, Moderate)
Answer = TypeVar("Answer", ModelAnswer, EmbedAnswer, RerankAnswer, ModerationAnswer)

MIN_ANSWER_TOKENS = 256
"""Minimum number of tokens left for an answer; with less the call is refused, otherwise its answer is limited."""


class StreamUsage:
    """Usage of a stream: as reported by the provider, or estimated from the prompt and the parts that were received.

    The estimate is used if the stream was left before the provider reported.
    """

    def __init__(self, max_usage: Usage) -> None:
        self._max_usage = max_usage
        self._reported_usage: Usage | None = None
        self._received_tokens = 0
        self._is_free = False

    def add_chunk(self, part: ModelChunk) -> None:
        self._reported_usage = part.usage or self._reported_usage
        self._received_tokens += tokens.estimated(plain_text(part.chunk.content) + (part.chunk.reasoning or ""))

    def fail(self, may_be_charged: bool) -> None:
        """Records a failure. It is free if no part was received and the provider surely charged nothing."""
        self._is_free = not (self._received_tokens or may_be_charged)

    @property
    def usage(self) -> Usage:
        if self._reported_usage is not None:
            return self._reported_usage
        return Usage() if self._is_free else self._estimate()

    def _estimate(self) -> Usage:
        """Estimates the usage so far at the average price per token of the reservation.

        Tokens beyond the reserved ones count too.
        """
        max_usage, received_tokens = self._max_usage, self._received_tokens
        used_tokens, reserved_tokens = (
            max_usage.prompt_tokens + received_tokens,
            max_usage.prompt_tokens + max_usage.completion_tokens,
        )
        cost = -(-(max_usage.cost_micros or 0) * used_tokens // reserved_tokens) if reserved_tokens else 0
        return Usage(prompt_tokens=max_usage.prompt_tokens, completion_tokens=received_tokens, cost_micros=cost)


def limit_answer(request: Request, answer_tokens: int) -> Request:
    """Limits the length of a request's answer to the tokens that were reserved for it."""
    if not isinstance(request, InvokeModel) or not answer_tokens:
        return request
    extra = dict(request.extra or {})
    answer_count = extra.get("n")
    if isinstance(answer_count, int) and answer_count > 1:
        answer_tokens = max(1, answer_tokens // answer_count)
    limit_names = [name for name in ANSWER_LIMITS if isinstance(extra.get(name), int)]
    limits = {name: min(extra[name], answer_tokens) for name in limit_names} or {"max_tokens": answer_tokens}
    return request.model_copy(update={"extra": {**extra, **limits}})


class BudgetedModels:
    """Calls models within the budgets that apply: reserves the worst case before a call and settles it afterwards."""

    def __init__(self, models: Models, budgets: BudgetRepository, reservations: Reservations) -> None:
        self._models = models
        self._budgets = budgets
        self._reservations = reservations

    def resources(self) -> Sequence[ModelResource]:
        return self._models.resources()

    def parameters(self, model_id: ModelId) -> Mapping[str, Any]:
        return self._models.parameters(model_id)

    def max_usage(self, request: InvokeModel | Embed | Rerank | Moderate) -> Usage:
        return self._models.max_usage(request)

    def identity(self, model_id: ModelId) -> dict[str, str]:
        return self._models.identity(model_id)

    async def invoke(self, context: CallContext, request: InvokeModel) -> ModelAnswer:
        return await self._call_within_budget(self._models.invoke, context, request)

    async def rerank(self, context: CallContext, request: Rerank) -> RerankAnswer:
        return await self._call_within_budget(self._models.rerank, context, request)

    async def embed(self, context: CallContext, request: Embed) -> EmbedAnswer:
        return await self._call_within_budget(self._models.embed, context, request)

    async def moderate(self, context: CallContext, request: Moderate) -> ModerationAnswer:
        return await self._call_within_budget(self._models.moderate, context, request)

    def stream(self, context: CallContext, request: InvokeModel) -> AsyncGenerator[ModelChunk, None]:
        budgets = self._budgets.matching(context)
        return (
            self._stream_within_budget(budgets, context, request) if budgets else self._models.stream(context, request)
        )

    async def _call_within_budget(
        self, call: Callable[[CallContext, Request], Awaitable[Answer]], context: CallContext, request: Request
    ) -> Answer:
        budgets = self._budgets.matching(context)
        if not budgets:
            return await call(context, request)
        reservation = await self._reserve(budgets, context, request)
        usage = reservation.worst
        try:
            answer = await call(context, limit_answer(request, reservation.worst.completion_tokens))
            usage = answer.usage or reservation.worst
            return answer
        except ProviderFailed as failure:
            usage = reservation.worst if failure.code in POSSIBLY_CHARGED_CODES else Usage()
            raise
        finally:
            await self._reservations.settle(reservation, usage)

    async def _stream_within_budget(
        self, budgets: MatchingBudgets, context: CallContext, request: InvokeModel
    ) -> AsyncGenerator[ModelChunk, None]:
        reservation = await self._reserve(budgets, context, request)
        stream_usage = StreamUsage(reservation.worst)
        try:
            async with aclosing(
                self._models.stream(context, limit_answer(request, reservation.worst.completion_tokens))
            ) as parts:
                async for part in parts:
                    stream_usage.add_chunk(part)
                    yield part
        except ProviderFailed as failure:
            stream_usage.fail(failure.code in POSSIBLY_CHARGED_CODES)
            raise
        finally:
            await self._reservations.settle(reservation, stream_usage.usage)

    async def _reserve(self, budgets: MatchingBudgets, context: CallContext, request: Request) -> Reservation:
        max_usage = self._models.max_usage(request)
        return await self._reservations.reserve(
            budgets,
            context,
            ModelId(request.model_id),
            max_usage,
            lambda remaining: self._shorten(request, max_usage, remaining),
        )

    def _shorten(self, request: Request, max_usage: Usage, remaining: RemainingBudget) -> Usage | None:
        """Returns the usage to reserve for an answer that fits into the rest of the budget; None if it is too short."""
        min_tokens = min(MIN_ANSWER_TOKENS, max_usage.completion_tokens)
        available_tokens = max_usage.completion_tokens
        if remaining.tokens is not None:
            available_tokens = min(available_tokens, remaining.tokens - max_usage.prompt_tokens)
        if remaining.cost_micros is not None and max_usage.cost_micros:
            base_cost = self._models.max_usage(limit_answer(request, 1)).cost_micros or 0
            per_token = (max_usage.cost_micros - base_cost) / max(1, max_usage.completion_tokens - 1)
            available_tokens = (
                min(available_tokens, int((remaining.cost_micros - base_cost) / per_token) + 1)
                if per_token
                else available_tokens
            )
        if not min_tokens or available_tokens < min_tokens:
            return None
        return self._models.max_usage(limit_answer(request, available_tokens))
