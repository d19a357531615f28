"""Request schema of a decision."""

from typing import Literal

from pydantic import BaseModel, ConfigDict, Field

Status = Literal["pending", "approved", "denied", "expired"]


class DecisionBody(BaseModel):
    model_config = ConfigDict(
        extra="forbid", json_schema_extra={"examples": [{"decision": "deny", "reason": "not today"}]}
    )

    decision: Literal["approve", "deny"]
    reason: str = Field(default="", max_length=1000)
