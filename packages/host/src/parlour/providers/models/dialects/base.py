"""What every dialect speaks of: a question to a service, and its answer as it comes in pieces."""

from collections.abc import Mapping, Sequence
from dataclasses import field
from typing import Any, Protocol

from parlour.core.model.model_config import Model
from parlour.core.models.catalogue import Kind
from parlour_sdk.protocol.messages import ToolCall
from parlour_sdk.protocol.models import Embed, InvokeModel, Rerank
from parlour_sdk.protocol.usage import Usage
from parlour_sdk.values import dataclass

from ..errors import Failure
from .tool_arguments import parsed

DEFAULT_ANSWER_TOKENS = 4096
"""Where a limit has to be named and nobody knows one."""

DECIDED = frozenset(("model", "messages", "contents", "stream"))
"""What no parameter may change: which model is asked was granted, and what it is asked is the request's."""


@dataclass(frozen=True, slots=True)
class Question:
    """A request below the provider's base address."""

    path: str
    body: dict[str, Any]
    headers: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Called:
    """What is asked of which model of which kind of service."""

    kind: Kind
    model: Model


@dataclass(slots=True)
class Piece:
    """What came at once; of several, text and thoughts are joined and the last word on the rest holds."""

    text: str = ""
    reasoning: str = ""
    usage: Usage | None = None
    finish_reason: str = ""
    tool_calls: list[ToolCall] = field(default_factory=list)
    """All of them, with the last piece."""
    metadata: dict[str, Any] | None = None
    """What is to be told again with the tool calls, with the last piece."""
    done: bool = False
    """Nothing more comes."""

    def add(self, other: "Piece") -> None:
        self.text += other.text
        self.reasoning += other.reasoning
        self.usage = other.usage or self.usage
        self.finish_reason = other.finish_reason or self.finish_reason
        self.done = self.done or other.done


@dataclass(slots=True)
class PartialCall:
    """A tool call in the making; its arguments come in fragments of JSON."""

    id: str = ""
    name: str = ""
    arguments: str = ""


class Calls:
    """The tool calls of an answer, by the number that the service gave each."""

    def __init__(self) -> None:
        self._calls: dict[Any, PartialCall] = {}

    def at(self, number: Any) -> PartialCall:
        return self._calls.setdefault(number, PartialCall())

    def __len__(self) -> int:
        return len(self._calls)

    def whole(self, own: "Names") -> list[ToolCall]:
        return [
            ToolCall(id=call.id or f"call_{at}", name=own.own(call.name), arguments=parsed(call.arguments))
            for at, call in enumerate(self._calls.values(), 1)
        ]


class Names(Protocol):
    """Tool names as the service takes them, and back."""

    def wire(self, name: str) -> str: ...

    def own(self, name: str) -> str: ...


class Answer(Protocol):
    """One answer while it comes. `read` raises Failure for an error that the service tells inside it."""

    calls: Calls

    @property
    def signed(self) -> list[dict[str, Any]]:
        """Thoughts that the service wants back with the calls."""
        ...

    def read(self, event: Any) -> Piece:
        """One event of the stream."""
        ...

    def whole(self, body: Any) -> Piece:
        """All of it at once, from a service that did not stream."""
        ...


class Dialect(Protocol):
    def headers(self, key: str) -> dict[str, str]: ...

    def chat(self, called: Called, request: InvokeModel, names: Names, stream: bool) -> Question: ...

    def answer(self) -> Answer: ...

    def embed(self, called: Called, request: Embed) -> Question: ...

    def embedded(self, body: Any) -> tuple[list[list[float]], Usage | None]: ...

    def rerank(self, called: Called, request: Rerank) -> Question: ...


def parameters(called: Called, request: InvokeModel) -> dict[str, Any]:
    """The model's own, then what the request says besides."""
    given = called.model.with_own_parameters(request.extra)
    return {name: value for name, value in given.items() if name not in DECIDED}


def malformed(what: str) -> Failure:
    return Failure("answer_malformed", f"gave {what}, which is not how such a service answers; check its kind")


def told(error: Any) -> Failure:
    """An error that a service puts where an answer should be."""
    said = error if isinstance(error, str) else text_of(error, "message")
    return Failure("provider_failed", f"failed while it was answering: {said or 'it does not say why'}")


def unable(what: str) -> Failure:
    return Failure("not_supported", f"has no {what} models; choose another provider for it")


def counted(usage: Mapping[str, Any], prompt: str, completion: str) -> Usage:
    return Usage(prompt_tokens=number(usage, prompt), completion_tokens=number(usage, completion))


def with_details(usage: Usage, cached: int, reasoning: int) -> Usage:
    return usage.model_copy(update={"cached_tokens": cached or None, "reasoning_tokens": reasoning or None})


def number(held: Any, name: str) -> int:
    """Services leave out, null or misspell what they count; nothing of that breaks an answer."""
    value = held.get(name) if isinstance(held, dict) else None
    return max(0, int(value)) if isinstance(value, int | float) else 0


def entries(held: Any, name: str) -> Sequence[Mapping[str, Any]]:
    """The objects of a list, which may be missing."""
    value = held.get(name) if isinstance(held, dict) else None
    return [each for each in value if isinstance(each, dict)] if isinstance(value, list) else []


def text_of(held: Any, name: str) -> str:
    value = held.get(name) if isinstance(held, dict) else None
    return value if isinstance(value, str) else ""
