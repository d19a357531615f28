"""Response schemas of accepted events, their results and their decision trail."""

from typing import Any

from typing_extensions import TypedDict

from ..responses import Id, TimestampMs
from ..runs.responses import RunRecord
from .event_schema import EventResponse


class AcceptedEvent(TypedDict):
    """It is durable."""

    event_id: str
    seq: int
    """Its number among all events."""
    duplicate: bool
    """Whether it had come before; then nothing was done."""
    conversation_id: Id
    """The Host's own id of the conversation."""


class EventResult(TypedDict):
    event_id: str
    conversation_id: Id
    outcome: str
    """What became of it: `answered`, `silent`, `failed` and so on."""
    reason: str | None
    run: RunRecord | None
    messages: list[dict[str, Any]]
    """What was said to it: `role`, `content` and more."""


class SentenceResponse(TypedDict):
    code: str
    values: dict[str, Any]


class TrailStepResponse(TypedDict):
    at: TimestampMs
    step: str
    text: str
    """In words."""
    data: dict[str, Any]
    sentences: list[SentenceResponse]
    """What the text is made of, for those who say it in another language."""


class Trail(TypedDict):
    """The decisions about an event, in order."""

    event: EventResponse
    steps: list[TrailStepResponse]
