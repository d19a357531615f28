"""Decides which results of a runner count: each at most once, in stream order, valid and within the limits."""

import base64
import binascii
from collections.abc import Callable
from types import NoneType
from typing import Any

from pydantic import BaseModel, ValidationError
from pydantic_core import to_json

from ..limits import ARTIFACT_CONTENT_BYTES, LARGEST_INTEGER, MESSAGE_TEXT_BYTES, RESULT_BYTES
from ..results import (
    PAYLOADS,
    AgentRunResult,
    ArtifactCreated,
    MessageCompleted,
    MessageDelta,
    RunCompleted,
    RunFailed,
    StateUpdated,
)

MAX_PAYLOAD_FIELDS = 64
"""Maximum fields of a payload; no valid payload has as many."""
MAX_TRACKED_GAPS = 1000
"""Maximum missing sequence numbers that are tracked."""


class ResultDropped(Exception):
    """Raised when a result is dropped; the message says why."""


class ResultSequence:
    """Accepts each result of a run once: a repeat is dropped, a gap or an inversion only causes a warning."""

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

    def accept_next(self, raw: Any) -> bool:
        """Accepts a result that is complete and in order, as nearly all are. All others need `accept`."""
        try:
            is_next: bool = (
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
        if is_next:
            self._last += 1
        return is_next

    def accept(self, raw: Any) -> tuple[AgentRunResult, int]:
        """Validates a result and returns it with its sequence number. Raises ResultDropped."""
        try:
            result = AgentRunResult.model_validate(raw)
        except ValidationError as error:
            raise ResultDropped(f"a result is malformed: {_first_problem(error)}") from None
        if result.run_id != self._run_id:
            raise ResultDropped("a result names another run")
        sequence = result.sequence if result.sequence is not None else self._last + 1
        if not self._is_new(sequence):
            raise ResultDropped(f"result {sequence} came again")
        return result, sequence

    def _is_new(self, sequence: int) -> bool:
        if sequence == self._last + 1:
            self._last = sequence
            return True
        if sequence > self._last:
            self._warn(f"results {self._last + 1} to {sequence - 1} are missing")
            remaining = MAX_TRACKED_GAPS - len(self._skipped)
            self._skipped.update(range(self._last + 1, min(sequence, self._last + 1 + remaining)))
            self._last = sequence
            return True
        if sequence in self._skipped:
            self._skipped.remove(sequence)
            self._warn(f"result {sequence} came after {self._last}")
            return True
        return False


def parse_payload(type: str, data: dict[str, Any], sequence: int) -> BaseModel | None:
    """Validates the payload of a result and returns it, None for an unknown type. Raises ResultDropped."""
    model = PAYLOADS.get(type)
    if model is None:
        _check_size(type, data, sequence)
        return None
    if len(data) > MAX_PAYLOAD_FIELDS and model.model_config.get("extra") == "forbid":
        # An error that lists all fields would take long to build.
        raise ResultDropped(f"result {sequence} ({type}) is dropped: it has {len(data)} fields")
    try:
        payload = model.model_validate(data)
    except ValidationError as error:
        raise ResultDropped(f"result {sequence} ({type}) is dropped: {_first_problem(error)}") from None
    match payload:
        case MessageDelta() | MessageCompleted() | RunCompleted() | RunFailed():
            pass  # a long message is shown in part and kept whole
        case StateUpdated():
            if _is_too_large(payload.value):
                raise ResultDropped(f"state value '{payload.key}' is over the limit of {RESULT_BYTES} bytes")
        case ArtifactCreated():
            _check_artifact(payload, sequence)
        case _:
            _check_size(type, data, sequence)
    return payload


def artifact_content(payload: ArtifactCreated, sequence: int) -> bytes | None:
    """Decodes the content of an artifact; None if the result names an artifact instead. Raises ResultDropped."""
    if payload.content_base64 is None:
        return None
    result = f"result {sequence} (artifact.created)"
    try:
        content = base64.b64decode(payload.content_base64, validate=True)
    except (binascii.Error, ValueError):
        raise ResultDropped(f"{result} is dropped: content_base64 is not base64") from None
    if len(content) > ARTIFACT_CONTENT_BYTES:
        limit = f"{result} is over the limit of {ARTIFACT_CONTENT_BYTES} bytes"
        raise ResultDropped(f"{limit}; more goes through artifact_create")
    return content


def truncate_message(text: str) -> tuple[str, bool]:
    """Returns the part of a text that may be shown, and whether it was cut."""
    encoded = text.encode(errors="replace")
    if len(encoded) <= MESSAGE_TEXT_BYTES:
        return text, False
    return encoded[:MESSAGE_TEXT_BYTES].decode(errors="ignore"), True


def _check_artifact(payload: ArtifactCreated, sequence: int) -> None:
    result = f"result {sequence} (artifact.created)"
    if (payload.content_base64 is None) == (payload.artifact_id is None):
        raise ResultDropped(
            f"{result} is dropped: it needs content_base64, or the artifact_id of what artifact_create made"
        )
    if _is_too_large(payload.model_dump(exclude={"content_base64"})):
        raise ResultDropped(f"{result} is over the limit of {RESULT_BYTES} bytes")


def _check_size(type: str, data: dict[str, Any], sequence: int) -> None:
    if _is_too_large(data):
        raise ResultDropped(f"result {sequence} ({type}) is over the limit of {RESULT_BYTES} bytes")


def _is_too_large(value: Any) -> bool:
    return len(to_json(value)) > RESULT_BYTES


def _first_problem(error: ValidationError) -> str:
    detail = error.errors(include_url=False, include_input=False)[0]
    return f"{'.'.join(str(part) for part in detail['loc']) or 'it'}: {detail['msg']}"
