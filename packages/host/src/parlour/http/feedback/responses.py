"""Response schema of a user's feedback on an answer."""

from typing_extensions import TypedDict

from ..responses import Id, TimestampMs


class FeedbackResponse(TypedDict):
    feedback_id: str
    feedback_type: int
    """1: good, 2: bad."""
    inaccurate_reasons: list[str]
    feedback_content: str | None
    user_id: str | None
    session_id: str | None
    message_id: str | None
    stream_id: str | None
    run_id: Id | None
    agent_id: Id | None
    bot_id: Id | None
    conversation_id: Id | None
    created_at: TimestampMs
    updated_at: TimestampMs
