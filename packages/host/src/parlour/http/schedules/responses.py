"""Response schema of a schedule."""

from typing import Any, Literal

from typing_extensions import TypedDict

from ..responses import Id, TimestampMs


class ScheduleResponse(TypedDict):
    schedule_id: Id
    name: str
    cron: str
    interval_seconds: int
    timezone: str
    agent_id: str
    bot_id: str
    text: str
    data: dict[str, Any]
    missed: Literal["skip", "once"]
    """What becomes of a time that passed while the Host was away."""
    enabled: bool
    due_at: TimestampMs | None
    fired_at: TimestampMs | None
