"""Common types of all dialects: a request to a service, and its response in chunks."""

from collections.abc import Mapping, Sequence
from dataclasses import field
from typing import Any, Protocol
from urllib.parse import urlencode
from uuid import uuid4

from pydantic_core import to_json

from parlour.core.model.model_config import Model
from parlour.core.models.catalogue import ModelServiceKind
from parlour_sdk.protocol.messages import ToolCall
from parlour_sdk.protocol.models import Embed, InvokeModel, Rerank
from parlour_sdk.protocol.usage import Usage
from parlour_sdk.values import dataclass

from ..errors import ModelCallFailure
from .common import parse_arguments

DEFAULT_MAX_OUTPUT_TOKENS = 4096
"""Token limit that is sent where a limit is required and none is known."""

PROTECTED_FIELDS = frozenset(("model", "messages", "contents", "stream"))
"""Fields that no parameter may change: the model was granted, and the messages belong to the request."""


@dataclass(frozen=True, slots=True)
class ModelHttpRequest:
    """A request below the provider's base address."""

    path: str
    body: dict[str, Any]
    headers: Mapping[str, str] = field(default_factory=dict)
    form: Mapping[str, str] | None = None
    """Fields of a form that is sent in place of the body."""

    def encoded(self) -> bytes:
        if self.form is not None:
            return urlencode(self.form).encode()
        return to_json(self.body)


@dataclass(frozen=True, slots=True)
class CallTarget:
    """The model of a call and its kind of provider."""

    kind: ModelServiceKind
    model: Model


@dataclass(slots=True)
class ResponseChunk:
    """A part of a response.

    When several are joined, text and reasoning are concatenated; the last value of other fields counts.
    """

    text: str = ""
    reasoning: str = ""
    usage: Usage | None = None
    finish_reason: str = ""
    tool_calls: list[ToolCall] = field(default_factory=list)
    """All tool calls, in the last chunk."""
    metadata: dict[str, Any] | None = None
    """Metadata that must be sent back with the tool calls, in the last chunk."""
    done: bool = False
    """True if nothing more follows."""

    def add(self, other: "ResponseChunk") -> None:
        self.text += other.text
        self.reasoning += other.reasoning
        self.usage = other.usage or self.usage
        self.finish_reason = other.finish_reason or self.finish_reason
        self.done = self.done or other.done


@dataclass(slots=True)
class PartialCall:
    """An incomplete tool call; its arguments arrive in fragments of JSON."""

    id: str = ""
    name: str = ""
    arguments: str = ""


class ToolCallBuffer:
    """Tool calls of a response, by the number that the service gave each."""

    def __init__(self) -> None:
        self._calls: dict[Any, PartialCall] = {}

    def at(self, number: Any) -> PartialCall:
        return self._calls.setdefault(number, PartialCall())

    def __len__(self) -> int:
        return len(self._calls)

    def complete(self, names: "ToolNameMap") -> list[ToolCall]:
        return [
            ToolCall(
                id=call.id or f"call_{uuid4().hex[:16]}_{number}",
                name=names.own(call.name),
                arguments=parse_arguments(call.arguments),
            )
            for number, call in enumerate(self._calls.values(), 1)
        ]


class ToolNameMap(Protocol):
    """Maps tool names to the form that the service accepts, and back."""

    def wire(self, name: str) -> str: ...

    def own(self, name: str) -> str: ...


class ResponseParser(Protocol):
    """Parser of one response. `parse_event` raises ModelCallFailure for an error that the service reports inside it."""

    calls: ToolCallBuffer

    @property
    def signed_reasoning(self) -> list[dict[str, Any]]:
        """Signed reasoning that the service requires back with the calls."""
        ...

    def parse_event(self, event: Any) -> ResponseChunk:
        """Parses one event of the stream."""
        ...

    def parse_whole(self, body: Any) -> ResponseChunk:
        """Parses a complete response of a service that did not stream."""
        ...


class ModelDialect(Protocol):
    """Wire format of a model service."""

    def headers(self, key: str) -> dict[str, str]: ...

    def chat(self, target: CallTarget, request: InvokeModel, names: ToolNameMap, stream: bool) -> ModelHttpRequest: ...

    def response_parser(self) -> ResponseParser: ...

    def embed(self, target: CallTarget, request: Embed) -> ModelHttpRequest: ...

    def parse_embeddings(self, body: Any) -> tuple[list[list[float]], Usage | None]: ...

    def rerank(self, target: CallTarget, request: Rerank) -> ModelHttpRequest: ...


def parameters(target: CallTarget, request: InvokeModel) -> dict[str, Any]:
    """Returns the model's own parameters, overridden by those of the request."""
    options = target.model.with_own_parameters(request.extra)
    return {name: value for name, value in options.items() if name not in PROTECTED_FIELDS}


def malformed(detail: str) -> ModelCallFailure:
    return ModelCallFailure(
        "answer_malformed", f"gave {detail}, which is not how such a service answers; check its kind"
    )


def error_in_response(error: Any) -> ModelCallFailure:
    """Returns the failure of an error that a service sends in place of an answer."""
    message = error if isinstance(error, str) else text_of(error, "message")
    return ModelCallFailure("provider_failed", f"failed while it was answering: {message or 'it does not say why'}")


def not_supported(feature: str) -> ModelCallFailure:
    return ModelCallFailure("not_supported", f"has no {feature} models; choose another provider for it")


def parse_usage(usage: Mapping[str, Any], prompt: str, completion: str) -> Usage:
    return Usage(prompt_tokens=number(usage, prompt), completion_tokens=number(usage, completion))


def with_details(usage: Usage, cached: int, reasoning: int) -> Usage:
    return usage.model_copy(update={"cached_tokens": cached or None, "reasoning_tokens": reasoning or None})


def number(data: Any, name: str) -> int:
    """Returns a count; missing, null or malformed counts are 0, so that they never break a response."""
    value = data.get(name) if isinstance(data, dict) else None
    return max(0, int(value)) if isinstance(value, int | float) else 0


def entries(data: Any, name: str) -> Sequence[Mapping[str, Any]]:
    """Returns the objects of a list, which may be missing."""
    value = data.get(name) if isinstance(data, dict) else None
    return [each for each in value if isinstance(each, dict)] if isinstance(value, list) else []


def text_of(data: Any, name: str) -> str:
    value = data.get(name) if isinstance(data, dict) else None
    return value if isinstance(value, str) else ""
