"""What a client of a door learns about its turn, in order. Each door writes these updates in its own standard."""

from collections.abc import Mapping
from typing import Any

from parlour.core.journal import Row
from parlour.core.model.ids import RunId
from parlour_sdk.values import dataclass


@dataclass(frozen=True, slots=True)
class RunStarted:
    run_id: RunId


@dataclass(frozen=True, slots=True)
class TextDelta:
    """The next part of a message. The parts of one index are together the text of the message."""

    index: int
    text: str


@dataclass(frozen=True, slots=True)
class MessageEnd:
    """A message is complete and stored."""

    index: int
    message: Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class ReasoningDelta:
    text: str


@dataclass(frozen=True, slots=True)
class ToolUpdate:
    tool_call_id: str
    tool_name: str
    status: str
    """`started`, `completed` or `failed`."""


@dataclass(frozen=True, slots=True)
class ApprovalRequested:
    """The run waits for a person's decision."""

    approval: Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class TurnEnd:
    """The event is handled. Nothing follows."""

    outcome: str
    code: str
    """Why there is no answer, as a code; empty after an answer, also after a silent one."""
    text: str
    """The notice for the sender, if there is no answer."""
    run: Row | None
    messages: tuple[Mapping[str, Any], ...]

    @property
    def failed(self) -> bool:
        return bool(self.code)


TurnUpdate = RunStarted | TextDelta | MessageEnd | ReasoningDelta | ToolUpdate | ApprovalRequested | TurnEnd
