"""Request schema of a decision, and the response built from an approval row."""

from typing import Any, Literal

from pydantic import BaseModel, ConfigDict, Field

from parlour.core.encoding import loads
from parlour.core.journal import Row

Status = Literal["pending", "approved", "denied", "expired"]


class DecisionBody(BaseModel):
    model_config = ConfigDict(
        extra="forbid", json_schema_extra={"examples": [{"decision": "deny", "reason": "not today"}]}
    )

    decision: Literal["approve", "deny"]
    reason: str = Field(default="", max_length=1000)


def to_response(row: Row) -> dict[str, Any]:
    plain = ("approval_id", "keyword", "status", "action", "words", "hash", "run_id", "agent_id", "conversation_id")
    maybe = ("decided_at", "decided_by", "reason", "outbox_id")
    return {
        **{name: row[name] for name in plain},
        "call": loads(row["call"]),
        "requester": row["requester"],
        "event_seq": row["event_seq"],
        "who": loads(row["who"]),
        "created_at": row["created_at"],
        "expires_at": row["expires_at"],
        **{name: row[name] or None for name in maybe},
        "outcome": loads(row["outcome"]) or None,
    }
