"""Reads what was used of a budget in its current period, including current reservations."""

from parlour.core.journal import Journal, Select, where
from parlour.core.model.budget import Budget
from parlour.core.store.tables import BUDGET_USES
from parlour_sdk.values import dataclass

from .days import Days

MAX_LISTED_SUBJECTS = 100
"""Maximum number of subjects that are listed for a budget."""


@dataclass(frozen=True, slots=True)
class BudgetPeriodUse:
    """Amounts that one subject has used of a budget in its current period."""

    subject: str
    tokens: int
    cost_micros: int


class BudgetUses:
    def __init__(self, journal: Journal, days: Days) -> None:
        self._journal = journal
        self._days = days

    async def current_uses(self, budget: Budget) -> tuple[str, list[BudgetPeriodUse]]:
        """Returns the current period of a budget, and its use by the subjects that used most."""
        period = self._days.current_period(budget.period)
        one = where(subject=budget.target) if budget.target else ()
        rows = await self._journal.read(
            Select(
                BUDGET_USES,
                where(budget_id=budget.budget_id, period=period) + one,
                order=("tokens", "subject"),
                direction="descending",
                limit=MAX_LISTED_SUBJECTS,
            )
        )
        return period, [BudgetPeriodUse(row["subject"], row["tokens"], row["cost_micros"]) for row in rows]
