"""Events as the Host keeps them: records of what came, never raw platform payloads."""

from typing import Any

from pydantic import Field

from .base import Strict, Tolerant
from .calls import RunCall
from .events import RawRef
from .limits import PAGE_ITEMS


class EventGet(RunCall):
    """Asks for one event."""

    event_id: str


class EventPageGet(RunCall):
    """Asks for the events of the run's own conversation, the newest first."""

    before_cursor: str | None = None
    limit: int = Field(default=50, ge=1, le=PAGE_ITEMS)


class EventRecord(Tolerant):
    """An event as the Host keeps it."""

    event_id: str
    event_type: str
    event_time: int | None = None
    source: str
    bot_id: str | None = None
    workspace_id: str | None = None
    conversation_id: str | None = None
    thread_id: str | None = None
    actor_type: str | None = None
    actor_id: str | None = None
    actor_name: str | None = None
    subject_type: str | None = None
    subject_id: str | None = None
    input_summary: str | None = None
    input_ref: RawRef | None = None
    raw_ref: RawRef | None = None
    seq: int | None = None
    cursor: str | None = None
    created_at: int | None = None
    metadata: dict[str, Any] = {}


class EventPage(Strict):
    """A page of events. Cursors are opaque."""

    items: list[EventRecord] = []
    next_cursor: str | None = None
    prev_cursor: str | None = None
    has_more: bool = False
    total_count: int | None = None
