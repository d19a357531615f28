"""Counts in budgets what a runner says that it used of a service elsewhere, and refuses its runs when one is used up.

Such usage is known only when a run has ended, so nothing is reserved: the run that exceeds a budget is still
answered, and the next one is refused.
"""

from collections.abc import Mapping
from typing import Any

from parlour.core.access import audit
from parlour.core.config.budgets import BudgetRepository
from parlour.core.journal import ANY, Increment, Journal, Statement, Unit, Update
from parlour.core.model.ids import NO_MODEL
from parlour.core.model.ports import Clock
from parlour.core.model.providers import CallContext
from parlour.core.store.tables import BUDGET_USES

from .days import Days
from .reservations import BudgetUseKey, budget_rest, create_use, use_conditions, used_up_message

MAX_CHARGED_AMOUNT = 1_000_000_000
"""The most tokens or millionths that one run can add to a budget; a runner may report any number."""


class ReportedUsage:
    """Charges the budgets that apply to a run, in the unit that ends it."""

    def __init__(self, journal: Journal, budgets: BudgetRepository, days: Days, clock: Clock) -> None:
        self._journal = journal
        self._budgets = budgets
        self._days = days
        self._clock = clock

    def charge(self, context: CallContext, usage: Mapping[str, Any]) -> list[Statement]:
        """Returns the statements that add the usage to all budgets that apply; none without usage or budgets."""
        tokens = _bounded(usage.get("prompt_tokens", 0) + usage.get("completion_tokens", 0))
        cost = _bounded(usage.get("cost_micros", 0))
        if not tokens and not cost:
            return []
        now, statements = self._clock.now(), list[Statement]()
        for use_key in self._use_keys(context):
            values: dict[str, Any] = {"tokens": Increment(tokens), "cost_micros": Increment(cost), "updated_at": now}
            update = Update(BUDGET_USES, values, use_conditions(use_key), expect=ANY)
            statements += [create_use(use_key, now), update]
        return statements

    async def refusal(self, context: CallContext) -> str:
        """Returns which budget of the run is used up, after the refusal was written to the audit; empty if none is."""
        for (budget, _), use_key in zip(self._budgets.matching(context), self._use_keys(context), strict=True):
            rest = await budget_rest(self._journal, budget, use_key)
            if rest.tokens == 0 or rest.cost_micros == 0:
                message = used_up_message(budget)
                entry = audit.budget_refusal_entry(context, NO_MODEL, message, self._clock.now())
                await self._journal.commit(Unit("budget.refuse", (entry,)))
                return message
        return ""

    def _use_keys(self, context: CallContext) -> list[BudgetUseKey]:
        matching = self._budgets.matching(context)
        return [(budget.budget_id, subject, self._days.current_period(budget.period)) for budget, subject in matching]


def _bounded(amount: int) -> int:
    return max(0, min(amount, MAX_CHARGED_AMOUNT))
