"""What was used of a budget in its current period, with what is reserved at this moment."""

from parlour.core.journal import Journal, Select, where
from parlour.core.model.budget import Budget
from parlour.core.store.tables import BUDGET_USES
from parlour_sdk.values import dataclass

from .days import Days

SHOWN = 100


@dataclass(frozen=True, slots=True)
class Use:
    subject: str
    tokens: int
    cost_micros: int


class BudgetUses:
    def __init__(self, journal: Journal, days: Days) -> None:
        self._journal = journal
        self._days = days

    async def of(self, budget: Budget) -> tuple[str, list[Use]]:
        """The period, and of those who used the budget in it the ones who used most."""
        period = self._days.current(budget.period)
        one = where(subject=budget.target) if budget.target else ()
        rows = await self._journal.read(
            Select(
                BUDGET_USES,
                where(budget_id=budget.budget_id, period=period) + one,
                order=("tokens", "subject"),
                direction="descending",
                limit=SHOWN,
            )
        )
        return period, [Use(row["subject"], row["tokens"], row["cost_micros"]) for row in rows]
