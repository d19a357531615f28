"""Serializes a budget: its limits, and the used and remaining amounts."""

from collections.abc import Sequence
from dataclasses import asdict

from parlour.core.model.budget import Budget
from parlour.core.models.reservations import BudgetPeriodUse

from ..responses import Json
from .schemas import BudgetResponse, BudgetUse


def audit_view(budget: Budget) -> Json:
    """Returns the budget's fields; a missing limit is null."""
    return {**asdict(budget), "tokens": budget.tokens or None, "cost_micros": budget.cost_micros or None}


def to_response(budget: Budget, period: str, uses: Sequence[BudgetPeriodUse]) -> BudgetResponse:
    """Returns the budget with the use of each subject in the current period, the highest use first."""
    return {
        "budget_id": budget.budget_id,
        "name": budget.name,
        "scope": budget.scope,
        "target": budget.target,
        "period": budget.period,
        "tokens": budget.tokens or None,
        "cost_micros": budget.cost_micros or None,
        "enabled": budget.enabled,
        "current_period": period,
        "uses": [_use(budget, use) for use in uses],
    }


def _use(budget: Budget, use: BudgetPeriodUse) -> BudgetUse:
    return {
        "subject": use.subject,
        "used": {"tokens": use.tokens, "cost_micros": use.cost_micros},
        "left": {
            "tokens": max(0, budget.tokens - use.tokens) if budget.tokens else None,
            "cost_micros": max(0, budget.cost_micros - use.cost_micros) if budget.cost_micros else None,
        },
    }
