"""Serializes a budget: its limits, and the used and remaining amounts."""

from collections.abc import Sequence
from dataclasses import asdict
from typing import Any

from parlour.core.model.budget import Budget
from parlour.core.models.reservations import BudgetPeriodUse


def to_response(budget: Budget) -> dict[str, Any]:
    """Returns the budget's fields; a missing limit is null."""
    told = asdict(budget)
    return {**told, "tokens": budget.tokens or None, "cost_micros": budget.cost_micros or None}


def with_uses(budget: Budget, period: str, uses: Sequence[BudgetPeriodUse]) -> dict[str, Any]:
    """Returns the budget with the use of each subject in the current period, the highest use first."""
    return {**to_response(budget), "current_period": period, "uses": [_use(budget, use) for use in uses]}


def _use(budget: Budget, use: BudgetPeriodUse) -> dict[str, Any]:
    used = {"tokens": use.tokens, "cost_micros": use.cost_micros}
    left = {
        "tokens": max(0, budget.tokens - use.tokens) if budget.tokens else None,
        "cost_micros": max(0, budget.cost_micros - use.cost_micros) if budget.cost_micros else None,
    }
    return {"subject": use.subject, "used": used, "left": left}
