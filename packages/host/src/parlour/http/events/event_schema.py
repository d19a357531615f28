"""Response schema of an event."""

from typing import Any

from typing_extensions import TypedDict

from ..responses import Id, TimestampMs


class EventResponse(TypedDict):
    event_id: str
    seq: int
    event_type: str
    source: str
    workspace_id: str
    event_time: TimestampMs | None
    bot_id: str | None
    conversation_id: Id | None
    thread_id: str | None
    actor_type: str | None
    actor_id: str | None
    actor_name: str | None
    subject_type: str | None
    subject_id: str | None
    input_summary: str | None
    """How its text begins."""
    created_at: TimestampMs
    data: dict[str, Any]
    metadata: dict[str, Any]
