"""Response schemas of conversations and transcript items."""

from typing import Any

from typing_extensions import TypedDict

from ..responses import Id, TimestampMs


class ConversationResponse(TypedDict):
    conversation_id: Id
    workspace_id: str
    source: str
    """`webui`, `api`, or the adapter's name."""
    bot_id: Id | None
    chat: str | None
    """As its platform or its caller names it."""
    thread_id: str | None
    agent_id: Id | None
    items: int
    """How much was said."""
    created_at: TimestampMs
    updated_at: TimestampMs


class TranscriptItemResponse(TypedDict):
    transcript_id: Id
    seq: int
    """Its number in the conversation."""
    conversation_id: Id
    thread_id: str | None
    event_id: str | None
    run_id: Id | None
    role: str
    item_type: str
    """`notice` is a word of the Host's own."""
    content: str
    content_json: list[Any]
    """The content's elements, where it is more than text."""
    artifact_refs: list[dict[str, Any]]
    created_at: TimestampMs
    metadata: dict[str, Any]
