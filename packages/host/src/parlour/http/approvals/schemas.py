"""Request and response schemas of approvals."""

from typing import Any, Literal

from pydantic import BaseModel, ConfigDict, Field
from typing_extensions import TypedDict

from parlour.core.model.ids import AgentId, ConversationId, RunId

from ..responses import Id, TimestampMs

Status = Literal["pending", "approved", "denied", "expired"]


class DecisionBody(BaseModel):
    model_config = ConfigDict(
        extra="forbid", json_schema_extra={"examples": [{"decision": "deny", "reason": "not today"}]}
    )

    decision: Literal["approve", "always", "deny"]
    """`always` is for questions of coding agents that offer it."""
    reason: str = Field(default="", max_length=1000)


class OccasionResponse(TypedDict):
    """Who is behind the action; empty texts where something is not known."""

    actor_id: str
    actor_name: str
    group_id: str
    group_name: str
    comment: str
    """What a request said, such as the one of somebody who wants to be a friend."""


class ApprovalResponse(TypedDict):
    approval_id: Id
    keyword: str
    """What the people of the chat answer with."""
    status: Status
    action: str
    words: str
    """What is asked, as the chat was told."""
    hash: str
    run_id: RunId
    agent_id: AgentId
    conversation_id: ConversationId
    call: dict[str, Any]
    """Exactly what will be done."""
    requester: str
    occasion: OccasionResponse | None
    """Null once the event that led to it was deleted."""
    who: dict[str, Any]
    """Who may decide in the chat."""
    created_at: TimestampMs
    expires_at: TimestampMs
    decided_at: TimestampMs | None
    decided_by: str | None
    reason: str | None
    outbox_id: Id | None
    outcome: dict[str, Any] | None
    """What came of it, once it was carried out."""
