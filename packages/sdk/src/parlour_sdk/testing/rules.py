"""The Host's rules for the results of a runner: which are accepted, which are dropped, and why.

A test of the project compares them with the Host's own.
"""

import binascii
from base64 import b64decode
from collections.abc import Callable
from typing import Any

from pydantic import BaseModel, ValidationError
from pydantic_core import to_json

from parlour_sdk.protocol.limits import ARTIFACT_CONTENT_BYTES, MESSAGE_TEXT_BYTES, RESULT_BYTES
from parlour_sdk.protocol.results import (
    PAYLOADS,
    AgentRunResult,
    ArtifactCreated,
    MessageCompleted,
    MessageDelta,
    RunCompleted,
    StateUpdated,
)


class ResultDropped(Exception):
    """Raised when a result is dropped; the message says why."""


class ResultRules:
    """Accepts each result once, in stream order: drops repeats, and only warns about gaps and inversions."""

    def __init__(self, run_id: str, warn: Callable[[str], None]) -> None:
        self._run_id = run_id
        self._warn = warn
        self._last = 0
        self._skipped: set[int] = set()

    def check(self, raw: Any) -> tuple[AgentRunResult, BaseModel | None]:
        """Returns the result and its payload, None for an unknown type. Raises ResultDropped."""
        try:
            result = AgentRunResult.model_validate(raw)
        except ValidationError as error:
            raise ResultDropped(f"a result is malformed: {_first(error)}") from None
        if result.run_id != self._run_id:
            raise ResultDropped("a result names another run")
        sequence = result.sequence if result.sequence is not None else self._last + 1
        if not self._is_new(sequence):
            raise ResultDropped(f"result {sequence} came again")
        return result, self._payload(result, sequence)

    def _is_new(self, sequence: int) -> bool:
        if sequence > self._last:
            if sequence > self._last + 1:
                self._warn(f"results {self._last + 1} to {sequence - 1} are missing")
                self._skipped.update(range(self._last + 1, min(sequence, self._last + 1001)))
            self._last = sequence
            return True
        if sequence in self._skipped:
            self._skipped.remove(sequence)
            self._warn(f"result {sequence} came after {self._last}")
            return True
        return False

    def _payload(self, result: AgentRunResult, sequence: int) -> BaseModel | None:
        model = PAYLOADS.get(result.type)
        try:
            payload = None if model is None else model.model_validate(result.data)
        except ValidationError as error:
            raise ResultDropped(f"result {sequence} ({result.type}) is dropped: {_first(error)}") from None
        if _size(payload, result) > RESULT_BYTES:
            raise ResultDropped(f"result {sequence} ({result.type}) is over the limit of {RESULT_BYTES} bytes")
        if payload is None:
            self._warn(f"a result has the unknown type '{result.type[:100]}'; it is recorded and has no effect")
        return payload


def preview(text: str) -> tuple[str, bool]:
    """Returns the part of a text that may be shown, and whether it was cut."""
    encoded = text.encode(errors="replace")
    if len(encoded) <= MESSAGE_TEXT_BYTES:
        return text, False
    return encoded[:MESSAGE_TEXT_BYTES].decode(errors="ignore"), True


def content_of(payload: ArtifactCreated) -> bytes:
    """Decodes the content of an artifact. Raises ResultDropped if it is invalid or too large."""
    try:
        content = b64decode(payload.content_base64 or "", validate=True)
    except binascii.Error:
        raise ResultDropped("artifact.created is dropped: content_base64 is not base64") from None
    if len(content) > ARTIFACT_CONTENT_BYTES:
        limit = f"artifact.created is over the limit of {ARTIFACT_CONTENT_BYTES} bytes"
        raise ResultDropped(f"{limit}; more goes through api.artifacts.create")
    return content


def _size(payload: BaseModel | None, result: AgentRunResult) -> int:
    """Returns the size that counts for the limit.

    Messages count 0, because long ones are shown in part and kept whole. An artifact's content has its own limit.
    """
    match payload:
        case MessageDelta() | MessageCompleted() | RunCompleted():
            return 0
        case StateUpdated():
            return len(to_json(payload.value))
        case ArtifactCreated():
            return len(to_json(payload.model_copy(update={"content_base64": None})))
        case _:
            return len(to_json(result.data))


def _first(error: ValidationError) -> str:
    detail = error.errors(include_url=False, include_input=False)[0]
    return f"{'.'.join(str(part) for part in detail['loc']) or 'it'}: {detail['msg']}"
