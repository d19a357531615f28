"""An agent as it is written and read."""

from typing import Any, Literal

from pydantic import BaseModel, ConfigDict, Field

StateScope = Literal["conversation", "actor", "subject", "runner", "binding"]


class StatePolicyBody(BaseModel):
    model_config = ConfigDict(extra="forbid")

    enabled: bool = True
    scopes: list[StateScope] = ["conversation", "actor", "binding"]


class AgentBody(BaseModel):
    """Only name and runner_id are required."""

    model_config = ConfigDict(extra="forbid")

    name: str = Field(min_length=1, max_length=200)
    runner_id: str = Field(min_length=1, max_length=500)
    description: str = Field(default="", max_length=5000)
    runner_config: dict[str, Any] = {}
    resource_policy: dict[str, Any] = {}
    state_policy: StatePolicyBody = StatePolicyBody()
    delivery_policy: dict[str, Any] = {}
    approval_policy: dict[str, Any] = {}
    restart_policy: Literal["auto", "never", "always"] = "auto"
    timeout_seconds: float = Field(default=300, ge=0, le=86_400)
    stale_after: float = Field(default=600, ge=0)
    event_types: list[str] = Field(default=["message.received"], min_length=1)
    enabled: bool = True
