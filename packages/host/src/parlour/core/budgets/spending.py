"""What a call has used while it goes on, and a request that can't use more than was reserved for it."""

from typing import TypeVar

from parlour_sdk.protocol.content import plain_text
from parlour_sdk.protocol.models import Embed, InvokeModel, ModelChunk, Rerank
from parlour_sdk.protocol.usage import Usage

Request = TypeVar("Request", InvokeModel, Embed, Rerank)


class Spending:
    """Of a stream: as its provider counted, or if it was left before that, what was asked and what came."""

    def __init__(self, worst: Usage) -> None:
        self._worst = worst
        self._counted: Usage | None = None
        self._came = 0
        self._free = False

    def take(self, part: ModelChunk) -> None:
        self._counted = part.usage or self._counted
        said = plain_text(part.chunk.content) + (part.chunk.reasoning or "")
        self._came += len(said.encode(errors="replace"))

    def fail(self, unsure: bool) -> None:
        self._free = not (self._came or unsure)

    @property
    def usage(self) -> Usage:
        if self._counted is not None:
            return self._counted
        return Usage() if self._free else self._so_far()

    def _so_far(self) -> Usage:
        """A token is at least a byte; its price is the worst case's on the average."""
        worst = self._worst
        came = min(self._came, worst.completion_tokens)
        tokens, all_tokens = worst.prompt_tokens + came, worst.prompt_tokens + worst.completion_tokens
        cost = -(-(worst.cost_micros or 0) * tokens // all_tokens) if all_tokens else 0
        return Usage(prompt_tokens=worst.prompt_tokens, completion_tokens=came, cost_micros=cost)


def bounded(request: Request, worst: Usage) -> Request:
    """What was reserved is the limit of the answer, so that the worst case is one."""
    if not isinstance(request, InvokeModel) or not worst.completion_tokens:
        return request
    return request.model_copy(update={"extra": {"max_tokens": worst.completion_tokens, **(request.extra or {})}})
