"""Response schemas of accepted events, their results and their decision trail."""

from typing import Any

from typing_extensions import TypedDict

from ..responses import Id, Moment
from ..runs.responses import RunRecord
from .injection import Event


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


class SentenceShown(TypedDict):
    code: str
    values: dict[str, Any]


class Step(TypedDict):
    at: Moment
    step: str
    text: str
    """In words."""
    data: dict[str, Any]
    sentences: list[SentenceShown]
    """What the text is made of, for those who say it in another language."""


class Trail(TypedDict):
    """The decisions about an event, in order."""

    event: Event
    steps: list[Step]
