"""Request and response schemas of a budget."""

from typing import Literal

from pydantic import BaseModel, ConfigDict, Field, model_validator
from pydantic_core import PydanticCustomError
from typing_extensions import TypedDict

from ..responses import Id, Micros

MAX_LIMIT = 2**53 - 1


class BudgetBody(BaseModel):
    """At least one limit. `target` is one sender, conversation or agent; without it each has as much."""

    model_config = ConfigDict(
        extra="forbid",
        json_schema_extra={
            "examples": [{"name": "A person a day", "scope": "sender", "period": "day", "tokens": 100000}]
        },
    )

    name: str = Field(min_length=1, max_length=200)
    scope: Literal["sender", "conversation", "agent", "workspace"]
    target: str = Field(default="", max_length=500)
    period: Literal["day", "total"] = "day"
    tokens: int | None = Field(default=None, ge=1, le=MAX_LIMIT)
    cost_micros: int | None = Field(default=None, ge=1, le=MAX_LIMIT)
    enabled: bool = True

    @model_validator(mode="after")
    def _require_limit(self) -> "BudgetBody":
        if self.tokens is None and self.cost_micros is None:
            raise PydanticCustomError("budget_limit", "give a limit: tokens, cost_micros (millionths), or both")
        if self.scope == "workspace" and self.target:
            raise PydanticCustomError("budget_target", "a budget of the workspace is for all and takes no target")
        return self


class Spent(TypedDict):
    tokens: int
    cost_micros: Micros


class Remaining(TypedDict):
    """Null where there is no limit."""

    tokens: int | None
    cost_micros: Micros | None


class BudgetUse(TypedDict):
    subject: str
    """Who used it: a sender, conversation, agent, or the workspace."""
    used: Spent
    left: Remaining


class BudgetResponse(TypedDict):
    budget_id: Id
    name: str
    scope: Literal["sender", "conversation", "agent", "workspace"]
    target: str
    period: Literal["day", "total"]
    tokens: int | None
    cost_micros: Micros | None
    enabled: bool
    current_period: str
    uses: list[BudgetUse]
    """Of its current period, the most first."""
