"""Faults of a fake service: each replaces or damages one of its answers."""

from dataclasses import field
from typing import Any, Literal

from parlour_sdk.values import dataclass

OVERSIZED_BYTES = 3 * 1024 * 1024


@dataclass(frozen=True, slots=True)
class ServiceFault:
    """A fault of one answer. `after` is a text of the stream that is sent before the fault; empty for its beginning."""

    kind: Literal["status", "delay", "cut", "stall", "malformed", "oversized"]
    after: str = ""
    seconds: float = 0.0
    code: int = 500
    body: Any = None
    headers: dict[str, str] = field(default_factory=dict)


def status(code: int, body: Any = None, headers: dict[str, str] | None = None) -> ServiceFault:
    """The service answers with an error status; a body that is no text is sent as JSON."""
    default = {"message": f"the service answers with {code}"}
    return ServiceFault("status", code=code, body=default if body is None else body, headers=headers or {})


def delay(seconds: float) -> ServiceFault:
    """The service waits before it answers."""
    return ServiceFault("delay", seconds=seconds)


def cut(after: str = "") -> ServiceFault:
    """The connection breaks in the middle of the stream."""
    return ServiceFault("cut", after)


def stall(after: str = "") -> ServiceFault:
    """The stream stays open and sends nothing more until the client leaves."""
    return ServiceFault("stall", after)


def malformed(after: str = "") -> ServiceFault:
    """The stream has an event that is no JSON."""
    return ServiceFault("malformed", after)


def oversized(after: str = "") -> ServiceFault:
    """The stream has an event of several megabytes."""
    return ServiceFault("oversized", after)
