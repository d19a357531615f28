"""Response schemas of a budget and its use."""

from typing import Literal

from typing_extensions import TypedDict

from ..responses import Id, Micros


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
