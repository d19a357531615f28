"""Repository of budgets."""

from parlour.core.journal import Journal
from parlour.core.model.budget import Budget
from parlour.core.model.ids import BudgetId
from parlour.core.model.ports import Clock
from parlour.core.model.providers import CallContext
from parlour.core.store.tables import BUDGET_USES, BUDGETS

from .cached_repository import CachedRepository, RowMapping, UnitNames

MatchingBudgets = list[tuple[Budget, str]]
"""Budgets that apply to a call, each with the subject that the call is charged to."""

BUDGET_ROWS = RowMapping[BudgetId, Budget](
    BUDGETS,
    UnitNames(add="budget.add", replace="budget.replace", remove="budget.remove"),
    item_id=lambda budget: budget.budget_id,
    encode=lambda budget: {"definition": budget.encode()},
    decode=lambda row: Budget.decode(row["definition"]),
    owned_tables=(BUDGET_USES,),
)


class BudgetRepository(CachedRepository[BudgetId, Budget]):
    """All budgets. A budget is removed with the use that was counted for it."""

    def __init__(self, journal: Journal, clock: Clock) -> None:
        super().__init__(journal, clock, BUDGET_ROWS)

    def matching(self, context: CallContext) -> MatchingBudgets:
        """Returns the budgets that apply to a call."""
        if not self._items:
            return []
        subjects = [(budget, budget.subject(context)) for budget in self.all()]
        return [(budget, subject) for budget, subject in subjects if subject is not None]
