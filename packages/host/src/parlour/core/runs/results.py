"""Parses the results that a runner streams: each raw result becomes one effect. Pure; the recorder applies effects."""

import base64
import binascii
from collections.abc import Callable
from types import NoneType
from typing import Any

from pydantic import ValidationError
from pydantic_core import to_json

from parlour_sdk.protocol.content import plain_text
from parlour_sdk.protocol.limits import ARTIFACT_CONTENT_BYTES, LARGEST_INTEGER, MESSAGE_TEXT_BYTES, RESULT_BYTES
from parlour_sdk.protocol.results import (
    PAYLOADS,
    AgentRunResult,
    ArtifactCreated,
    MessageCompleted,
    MessageDelta,
    RunCompleted,
    RunFailed,
    StateUpdated,
)
from parlour_sdk.values import dataclass

from .session import RunTermination

MAX_PAYLOAD_FIELDS = 64
"""Maximum fields of a payload; no valid payload has as many."""
MAX_TRACKED_GAPS = 1000
"""Maximum missing sequence numbers that are tracked."""
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
    """A complete message."""

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
    ending: RunTermination
    message: CompletedMessage | None
    sequence: int


@dataclass(frozen=True, slots=True)
class InvalidResult:
    """A result that has no effect; `warning` contains the reason."""

    warning: str


Effect = Delta | CompletedMessage | GenericResult | FileResult | StateWrite | FinalResult | InvalidResult


class ResultParser:
    """Parses each result at most once and in stream order: a repeat is dropped, a gap or an inversion only causes a
    warning.
    """

    def __init__(self, run_id: str, warn: Callable[[str], None]) -> None:
        self._run_id = run_id
        self._warn = warn
        self._last = 0
        self._skipped: set[int] = set()

    def resume(self, last: int, missing: set[int]) -> None:
        """Continues after the results that a previous process of the Host applied."""
        self._last, self._skipped = last, missing

    @property
    def next_sequence(self) -> int:
        return self._last + 1

    def has_parsed(self, sequence: int) -> bool:
        return sequence <= self._last and sequence not in self._skipped

    def parse(self, raw: Any) -> Effect:
        if not self._is_next(raw):
            return self._validate(raw)
        self._last += 1
        type, data = raw["type"], raw["data"]
        return _plain(type, data, self._last) or parse_effect(type, data, self._last)

    def _is_next(self, raw: Any) -> bool:
        """Returns whether the result is complete and in order, as nearly all are. All others are fully validated."""
        try:
            return (
                raw["run_id"] == self._run_id
                and raw["sequence"] == self._last + 1
                and type(raw["sequence"]) is int
                and raw["sequence"] <= LARGEST_INTEGER
                and type(raw["type"]) is str
                and type(raw["data"]) is dict
                and type(raw.get("timestamp")) in (int, NoneType)
            )
        except (KeyError, TypeError, AttributeError):
            return False

    def _validate(self, raw: Any) -> Effect:
        try:
            result = AgentRunResult.model_validate(raw)
        except ValidationError as error:
            return InvalidResult(f"a result is malformed: {_first(error)}")
        if result.run_id != self._run_id:
            return InvalidResult("a result names another run")
        sequence = result.sequence if result.sequence is not None else self._last + 1
        if not self._is_new(sequence):
            return InvalidResult(f"result {sequence} came again")
        return parse_effect(result.type, result.data, sequence)

    def _is_new(self, sequence: int) -> bool:
        if sequence == self._last + 1:
            self._last = sequence
            return True
        if sequence > self._last:
            self._warn(f"results {self._last + 1} to {sequence - 1} are missing")
            room = MAX_TRACKED_GAPS - len(self._skipped)
            self._skipped.update(range(self._last + 1, min(sequence, self._last + 1 + room)))
            self._last = sequence
            return True
        if sequence in self._skipped:
            self._skipped.remove(sequence)
            self._warn(f"result {sequence} came after {self._last}")
            return True
        return False


def _plain(type: str, data: dict[str, Any], sequence: int) -> Delta | CompletedMessage | None:
    """Parses the most common results in their most common form, an assistant's text, without the cost of validation."""
    if type not in _TEXT_FIELDS or len(data) != 1:
        return None
    said = data.get(_TEXT_FIELDS[type])
    if not isinstance(said, dict) or said.keys() != _PLAIN or said["role"] != "assistant":
        return None
    text = said["content"]
    if not isinstance(text, str):
        return None
    return Delta(text, sequence) if type == "message.delta" else CompletedMessage(said, text, sequence)


def parse_effect(type: str, data: dict[str, Any], sequence: int) -> Effect:
    """Validates the payload of a result and returns its effect."""
    model = PAYLOADS.get(type)
    if model is None:
        return _check_size(GenericResult(type, data, sequence))
    if (
        len(data) > MAX_PAYLOAD_FIELDS and model.model_config.get("extra") == "forbid"
    ):  # an error that lists all fields would take long to build
        return InvalidResult(f"result {sequence} ({type}) is dropped: it has {len(data)} fields")
    try:
        payload = model.model_validate(data)
    except ValidationError as error:
        return InvalidResult(f"result {sequence} ({type}) is dropped: {_first(error)}")
    match payload:
        case MessageDelta():
            return Delta(plain_text(payload.chunk.content), sequence, payload.chunk.reasoning or "")
        case MessageCompleted():
            return _completed(payload.message.model_dump(mode="json", exclude_none=True), sequence)
        case ArtifactCreated():
            return _created(payload, sequence)
        case StateUpdated():
            if len(to_json(payload.value)) > RESULT_BYTES:
                return InvalidResult(f"state value '{payload.key}' is over the limit of {RESULT_BYTES} bytes")
            return StateWrite(payload.scope, payload.key, payload.value, sequence)
        case RunCompleted():
            return _finish_well(payload, data, sequence)
        case RunFailed():
            ending = RunTermination("failed", payload.code, payload.error[:2000], payload.retryable, by_runner=True)
            return FinalResult(data, type, ending, None, sequence)
        case _:
            return _check_size(GenericResult(type, data, sequence))


def _finish_well(payload: RunCompleted, data: dict[str, Any], sequence: int) -> FinalResult:
    message = payload.message
    whole = None if message is None else _completed(message.model_dump(mode="json", exclude_none=True), sequence)
    usage = {} if payload.usage is None else payload.usage.model_dump(exclude_none=True)
    ending = RunTermination("completed", payload.finish_reason, silent=payload.finish_reason == "silent", usage=usage)
    return FinalResult(data, "run.completed", ending, whole, sequence)


def _completed(message: dict[str, Any], sequence: int) -> CompletedMessage:
    content = message.get("content", "")
    text = content if isinstance(content, str) else "".join(each.get("text", "") for each in content)
    return CompletedMessage(message, text, sequence)


def _created(payload: ArtifactCreated, sequence: int) -> FileResult | InvalidResult:
    told = f"result {sequence} (artifact.created)"
    if (payload.content_base64 is None) == (payload.artifact_id is None):
        return InvalidResult(
            f"{told} is dropped: it needs content_base64, or the artifact_id of what artifact_create made"
        )
    if len(to_json(payload.model_dump(exclude={"content_base64"}))) > RESULT_BYTES:
        return InvalidResult(f"{told} is over the limit of {RESULT_BYTES} bytes")
    if payload.content_base64 is None:
        return FileResult(payload, None, sequence)
    try:
        content = base64.b64decode(payload.content_base64, validate=True)
    except (binascii.Error, ValueError):
        return InvalidResult(f"{told} is dropped: content_base64 is not base64")
    if len(content) > ARTIFACT_CONTENT_BYTES:
        limit = f"{told} is over the limit of {ARTIFACT_CONTENT_BYTES} bytes"
        return InvalidResult(f"{limit}; more goes through artifact_create")
    return FileResult(payload, content, sequence)


def _check_size(note: GenericResult) -> GenericResult | InvalidResult:
    if len(to_json(note.data)) > RESULT_BYTES:
        return InvalidResult(f"result {note.sequence} ({note.type}) is over the limit of {RESULT_BYTES} bytes")
    return note


def truncate_message(text: str) -> tuple[str, bool]:
    """Returns the part of a text that may be shown, and whether it was cut."""
    encoded = text.encode(errors="replace")
    if len(encoded) <= MESSAGE_TEXT_BYTES:
        return text, False
    return encoded[:MESSAGE_TEXT_BYTES].decode(errors="ignore"), True


def _first(error: ValidationError) -> str:
    detail = error.errors(include_url=False, include_input=False)[0]
    return f"{'.'.join(str(part) for part in detail['loc']) or 'it'}: {detail['msg']}"
