"""Thoughts that a service signs and wants back, unchanged, beside the tool calls they led to.

They go out as metadata of the answer, and come back with it from whoever asks again. Another model is not shown them.
"""

from typing import Any

from parlour_sdk.protocol.messages import Message

from .base import Called

THOUGHTS = "thoughts"


def carried(called: Called, signed: list[dict[str, Any]]) -> dict[str, Any] | None:
    return {THOUGHTS: {"of": _name(called), "signed": signed}} if signed else None


def of(message: Message, called: Called) -> list[dict[str, Any]]:
    """What this model signed of this message."""
    match (message.metadata or {}).get(THOUGHTS):
        case {"of": name, "signed": list() as signed} if name == _name(called):
            return [each for each in signed if isinstance(each, dict)]
        case _:
            return []


def _name(called: Called) -> str:
    return f"{called.kind.dialect}/{called.model.name}"
