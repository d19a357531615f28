"""Repository of budgets, cached in memory and written through: they are few and read before every model call."""

from parlour.core.journal import ANY, Delete, Insert, Journal, Select, Statement, Unit, Update, where
from parlour.core.model.budget import Budget
from parlour.core.model.ports import Clock
from parlour.core.model.providers import CallContext
from parlour.core.store.tables import BUDGET_USES, BUDGETS

MatchingBudgets = list[tuple[Budget, str]]
"""Budgets that apply to a call, each with the subject that the call is charged to."""


class BudgetRepository:
    """All budgets. A caller that changes one passes further statements for the same unit, such as the audit entry."""

    def __init__(self, journal: Journal, clock: Clock) -> None:
        self._journal = journal
        self._clock = clock
        self._budgets: dict[str, Budget] = {}

    async def load(self) -> None:
        rows = await self._journal.read(Select(BUDGETS, order=("budget_id",)))
        self._budgets = {row["budget_id"]: Budget.decode(row["definition"]) for row in rows}

    def get(self, budget_id: str) -> Budget | None:
        return self._budgets.get(budget_id)

    def all(self) -> list[Budget]:
        """Returns all budgets in the order of their creation."""
        return [self._budgets[budget_id] for budget_id in sorted(self._budgets)]

    def matching(self, asking: CallContext) -> MatchingBudgets:
        """Returns the budgets that apply to a call."""
        if not self._budgets:
            return []
        subjects = [(budget, budget.subject(asking)) for budget in self.all()]
        return [(budget, subject) for budget, subject in subjects if subject is not None]

    async def add(self, budget: Budget, *also: Statement) -> None:
        now = self._clock.now()
        row: dict[str, str | int] = {"budget_id": budget.budget_id, "definition": budget.encode()}
        statement = Insert(BUDGETS, {**row, "created_at": now, "updated_at": now})
        await self._journal.commit(Unit("budget.add", (statement, *also)))
        self._budgets[budget.budget_id] = budget

    async def replace(self, budget: Budget, *also: Statement) -> None:
        values: dict[str, str | int] = {"definition": budget.encode(), "updated_at": self._clock.now()}
        statement = Update(BUDGETS, {**values}, where(budget_id=budget.budget_id))
        await self._journal.commit(Unit("budget.replace", (statement, *also)))
        self._budgets[budget.budget_id] = budget

    async def remove(self, budget_id: str, *also: Statement) -> None:
        """Removes a budget with the use that was counted for it."""
        removals = (
            Delete(BUDGETS, where(budget_id=budget_id)),
            Delete(BUDGET_USES, where(budget_id=budget_id), expect=ANY),
        )
        await self._journal.commit(Unit("budget.remove", (*removals, *also)))
        self._budgets.pop(budget_id, None)
