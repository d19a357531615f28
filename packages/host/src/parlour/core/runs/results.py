"""Parses the results that a runner streams: each raw result becomes one effect. Pure; the recorder applies effects."""

from typing import Any

from pydantic import BaseModel

from parlour_sdk.protocol.content import plain_text
from parlour_sdk.protocol.results import (
    ArtifactCreated,
    MessageCompleted,
    MessageDelta,
    RunCompleted,
    RunFailed,
    StateUpdated,
)
from parlour_sdk.protocol.rules.results import ResultDropped, ResultSequence, artifact_content, parse_payload
from parlour_sdk.values import dataclass

from .session import RunTermination

_TEXT_FIELDS = {"message.delta": "chunk", "message.completed": "message"}
_PLAIN = {"role", "content"}


@dataclass(frozen=True, slots=True)
class Delta:
    """A fragment of a message."""

    text: str
    sequence: int
    reasoning: str = ""


@dataclass(frozen=True, slots=True)
class CompletedMessage:
    """A message that the runner has completed; `text` is its text without other content."""

    message: dict[str, Any]
    text: str
    sequence: int


@dataclass(frozen=True, slots=True)
class GenericResult:
    """A result that is stored in the ledger and published at most as telemetry."""

    type: str
    data: dict[str, Any]
    sequence: int


@dataclass(frozen=True, slots=True)
class FileResult:
    """A file for the next message: its content, or the id of an artifact that the Host has."""

    data: ArtifactCreated
    content: bytes | None
    sequence: int


@dataclass(frozen=True, slots=True)
class StateWrite:
    """A state value to store."""

    scope: str
    key: str
    value: Any
    sequence: int


@dataclass(frozen=True, slots=True)
class FinalResult:
    """The terminal result of a runner. `message` counts only if none was completed before it."""

    data: dict[str, Any]
    type: str
    termination: RunTermination
    message: CompletedMessage | None
    sequence: int


@dataclass(frozen=True, slots=True)
class InvalidResult:
    """A result that has no effect; `warning` contains the reason."""

    warning: str


Effect = Delta | CompletedMessage | GenericResult | FileResult | StateWrite | FinalResult | InvalidResult


class ResultParser(ResultSequence):
    """Parses each result at most once and in stream order: a repeat is dropped, a gap or an inversion only causes a
    warning.
    """

    def parse(self, raw: Any) -> Effect:
        if not self.accept_next(raw):
            return self._validate(raw)
        type, data = raw["type"], raw["data"]
        return _parse_plain_text(type, data, self._last) or parse_effect(type, data, self._last)

    def _validate(self, raw: Any) -> Effect:
        try:
            result, sequence = self.accept(raw)
        except ResultDropped as error:
            return InvalidResult(str(error))
        return parse_effect(result.type, result.data, sequence)


def _parse_plain_text(type: str, data: dict[str, Any], sequence: int) -> Delta | CompletedMessage | None:
    """Parses the most common results in their most common form, an assistant's text, without the cost of validation."""
    if type not in _TEXT_FIELDS or len(data) != 1:
        return None
    message = data.get(_TEXT_FIELDS[type])
    if not isinstance(message, dict) or message.keys() != _PLAIN or message["role"] != "assistant":
        return None
    text = message["content"]
    if not isinstance(text, str):
        return None
    return Delta(text, sequence) if type == "message.delta" else CompletedMessage(message, text, sequence)


def parse_effect(type: str, data: dict[str, Any], sequence: int) -> Effect:
    """Validates the payload of a result and returns its effect."""
    try:
        return _to_effect(parse_payload(type, data, sequence), type, data, sequence)
    except ResultDropped as error:
        return InvalidResult(str(error))


def _to_effect(payload: BaseModel | None, type: str, data: dict[str, Any], sequence: int) -> Effect:
    match payload:
        case MessageDelta():
            return Delta(plain_text(payload.chunk.content), sequence, payload.chunk.reasoning or "")
        case MessageCompleted():
            return _completed_message(payload.message.model_dump(mode="json", exclude_none=True), sequence)
        case ArtifactCreated():
            return FileResult(payload, artifact_content(payload, sequence), sequence)
        case StateUpdated():
            return StateWrite(payload.scope, payload.key, payload.value, sequence)
        case RunCompleted():
            return _completed_run(payload, data, sequence)
        case RunFailed():
            termination = RunTermination(
                "failed", payload.code, payload.error[:2000], payload.retryable, by_runner=True
            )
            return FinalResult(data, type, termination, None, sequence)
        case _:
            return GenericResult(type, data, sequence)


def _completed_run(payload: RunCompleted, data: dict[str, Any], sequence: int) -> FinalResult:
    message = payload.message
    completed = (
        None if message is None else _completed_message(message.model_dump(mode="json", exclude_none=True), sequence)
    )
    usage = {} if payload.usage is None else payload.usage.model_dump(exclude_none=True)
    termination = RunTermination(
        "completed", payload.finish_reason, silent=payload.finish_reason == "silent", usage=usage
    )
    return FinalResult(data, "run.completed", termination, completed, sequence)


def _completed_message(message: dict[str, Any], sequence: int) -> CompletedMessage:
    content = message.get("content", "")
    text = content if isinstance(content, str) else "".join(each.get("text", "") for each in content)
    return CompletedMessage(message, text, sequence)
