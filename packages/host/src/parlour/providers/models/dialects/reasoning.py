"""Passes on signed reasoning, which a service requires back unchanged, with the tool calls that it led to.

It is sent as metadata of the answer, and comes back with the next request. Other models do not receive it.
"""

from typing import Any

from parlour_sdk.protocol.messages import Message

from .base import CallTarget

REASONING_KEY = "thoughts"


def to_metadata(target: CallTarget, signed: list[dict[str, Any]]) -> dict[str, Any] | None:
    return {REASONING_KEY: {"of": _name(target), "signed": signed}} if signed else None


def from_message(message: Message, target: CallTarget) -> list[dict[str, Any]]:
    """Returns the signed reasoning of a message if this model signed it."""
    match (message.metadata or {}).get(REASONING_KEY):
        case {"of": name, "signed": list() as signed} if name == _name(target):
            return [each for each in signed if isinstance(each, dict)]
        case _:
            return []


def _name(target: CallTarget) -> str:
    return f"{target.kind.dialect}/{target.model.name}"
