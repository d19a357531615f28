"""Scripted answers of models and tools."""

from collections.abc import Awaitable, Callable, Sequence
from dataclasses import field
from typing import Any, Literal

from parlour_sdk.protocol.errors import AgentAPIError, AgentAPIException
from parlour_sdk.protocol.messages import ToolCall
from parlour_sdk.protocol.models import InvokeModel
from parlour_sdk.protocol.usage import Usage

from ..values import dataclass


@dataclass(frozen=True, slots=True)
class Reply:
    """One answer of a model. A single piece is streamed word by word, several pieces are streamed as they are."""

    pieces: tuple[str, ...] = ()
    tool_calls: tuple[ToolCall, ...] = ()
    reasoning: str | None = None
    usage: Usage | None = None
    finish_reason: str | None = None

    @property
    def text(self) -> str:
        return "".join(self.pieces)


@dataclass(frozen=True, slots=True)
class Failure:
    """An error of the API; a stream yields the text `after` before it fails."""

    code: str
    message: str
    retryable: bool = False
    details: dict[str, Any] = field(default_factory=dict)
    after: str = ""

    def exception(self) -> AgentAPIException:
        error = AgentAPIError(code=self.code, message=self.message, retryable=self.retryable, details=self.details)
        return AgentAPIException(error)


Answer = str | Reply | Failure
Script = Answer | Sequence[Answer] | Callable[[InvokeModel], Answer | Awaitable[Answer]]
"""One answer for every call, one for each call in turn, or a function of the request."""


@dataclass(frozen=True, slots=True)
class FakeModel:
    """A model and its description. `answer` is a Script, or for other types a function of the request's texts."""

    answer: Any = ""
    type: Literal["llm", "embedding", "rerank"] = "llm"
    name: str | None = None
    provider: str | None = "fake"
    context_window: int | None = None
    max_output_tokens: int | None = None
    abilities: tuple[str, ...] = ("tools",)


def reply(
    *pieces: str,
    tool_calls: Sequence[ToolCall] = (),
    reasoning: str | None = None,
    usage: Usage | None = None,
    finish_reason: str | None = None,
) -> Reply:
    """Builds a Reply: `reply("Hello")`, `reply("Hel", "lo")`, `reply(tool_calls=[tool_call("weather", {...})])`."""
    return Reply(pieces, tuple(tool_calls), reasoning, usage, finish_reason)


def tool_call(name: str, arguments: dict[str, Any] | None = None, id: str | None = None) -> ToolCall:
    return ToolCall(id=id or f"call-{name}", name=name, arguments=arguments or {})


def failure(
    code: str, message: str = "the test wants it so", *, retryable: bool = False, after: str = "", **details: Any
) -> Failure:
    return Failure(code, message, retryable, details, after)


def embedding(function: Callable[[str], list[float]] | None = None, dimensions: int = 16) -> FakeModel:
    """Builds a model for `models.embed`; by default texts that share words get similar vectors."""
    return FakeModel(function or _WordVector(dimensions), "embedding", abilities=())


def reranker(function: Callable[[str, str], float] | None = None) -> FakeModel:
    """Builds a model for `models.rerank`; by default the score is the share of the query's words in the document."""
    return FakeModel(function or word_overlap, "rerank", abilities=())


def word_overlap(query: str, document: str) -> float:
    """Returns the share of the query's words that the document contains."""
    query_words = set(query.lower().split())
    return len(query_words & set(document.lower().split())) / len(query_words) if query_words else 0.0


@dataclass(frozen=True, slots=True)
class _WordVector:
    """Counts words into the dimensions of a vector; the result is the same in every process."""

    dimensions: int

    def __call__(self, text: str) -> list[float]:
        vector = [0.0] * self.dimensions
        for word in text.lower().split():
            vector[sum(word.encode()) % self.dimensions] += 1.0
        return vector
