"""Counts the usage of a streamed model call in progress, and limits a request to what was reserved for it."""

from typing import TypeVar

from parlour.core.model.model_config import ANSWER_LIMITS
from parlour_sdk import tokens
from parlour_sdk.protocol.content import plain_text
from parlour_sdk.protocol.models import Embed, InvokeModel, ModelChunk, Rerank
from parlour_sdk.protocol.usage import Usage

Request = TypeVar("Request", InvokeModel, Embed, Rerank)


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
