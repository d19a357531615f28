"""Keeps model calls within their budgets: the worst case is reserved before a call and settled to its real usage after.

The stored use of a budget includes what is reserved, so a guard on one row decides, however many calls come at the
same time. Reservations that a crash left behind are therefore already counted at their worst case, and recovering them
means only deleting them.
"""

import logging
from collections.abc import Callable
from typing import NamedTuple

from parlour.core.access import audit
from parlour.core.config.budgets import MatchingBudgets
from parlour.core.encoding import dumps
from parlour.core.journal import (
    ANY,
    Condition,
    Delete,
    GuardFailed,
    Increment,
    Insert,
    Journal,
    Select,
    Statement,
    StorageFailed,
    Unit,
    Update,
    at_most,
    where,
)
from parlour.core.model.budget import Budget
from parlour.core.model.ids import ModelId, RunId
from parlour.core.model.ports import Clock, Ids
from parlour.core.model.providers import CallContext, ProviderFailed
from parlour.core.store.tables import BUDGET_USES, RESERVATIONS
from parlour_sdk.protocol.usage import Usage
from parlour_sdk.values import dataclass

from .days import Days

logger = logging.getLogger(__name__)

MAX_LISTED_SUBJECTS = 100
"""Maximum number of subjects that are listed for a budget."""

BudgetUseKey = tuple[str, str, str]
"""Key of a row of use: budget, subject, period."""


@dataclass(frozen=True, slots=True)
class Reservation:
    """The worst-case usage of one model call, reserved in all budgets that apply."""

    reservation_id: str
    uses: tuple[BudgetUseKey, ...]
    worst: Usage


class RemainingBudget(NamedTuple):
    """The rest of a budget; None for a limit that it does not have."""

    tokens: int | None
    cost_micros: int | None


ShortenAnswer = Callable[[RemainingBudget], Usage | None]
"""Returns the worst-case usage with an answer that fits into the rest of a budget, or None if it is too short."""
MAX_RESERVE_ATTEMPTS = 4
"""Attempts to reserve a shorter answer: each budget may need another length, and other calls use it concurrently."""


class _Exceeded(Exception):
    def __init__(self, budget: Budget, use: BudgetUseKey) -> None:
        super().__init__()
        self.budget = budget
        self.use = use


class Reservations:
    def __init__(self, journal: Journal, days: Days, ids: Ids, clock: Clock) -> None:
        self._journal = journal
        self._days = days
        self._ids = ids
        self._clock = clock

    async def recover(self, older_than_milliseconds: int = 0) -> None:
        """Deletes the reservations of a Host that crashed. What it had reserved stays counted as used.

        With a minimum age only those are deleted that no call of any Host can still need.
        """
        is_left = (
            where(created_at=at_most(self._clock.now() - older_than_milliseconds)) if older_than_milliseconds else ()
        )
        if await self._journal.read(Select(RESERVATIONS, is_left, limit=1)):
            await self._journal.commit(Unit("budget.take_up", (Delete(RESERVATIONS, is_left, expect=ANY),)))

    async def reserve(
        self,
        budgets: MatchingBudgets,
        context: CallContext,
        model_id: ModelId,
        max_usage: Usage,
        shorten_answer: ShortenAnswer,
    ) -> Reservation:
        """Reserves the worst case of a call in all budgets that apply.

        If it does not fit, `shorten_answer` returns what a shorter answer needs. Raises ProviderFailed if a budget does
        not allow the call, after the refusal was written to the audit.
        """
        tries = 0
        while True:
            tries += 1
            try:
                return await self._try_reserve(budgets, context, model_id, max_usage)
            except _Exceeded as error:
                remaining = await budget_rest(self._journal, error.budget, error.use)
                shorter_usage = shorten_answer(remaining) if tries < MAX_RESERVE_ATTEMPTS else None
                if shorter_usage is None or _tokens(shorter_usage) >= _tokens(max_usage):
                    raise await self._refuse(
                        context, model_id, _exceeded_message(error.budget, remaining, max_usage)
                    ) from error
                max_usage = shorter_usage

    async def _try_reserve(
        self, budgets: MatchingBudgets, context: CallContext, model_id: ModelId, max_usage: Usage
    ) -> Reservation:
        now = self._clock.now()
        money_budget = next((budget for budget, _ in budgets if budget.cost_micros), None)
        if money_budget is not None and max_usage.cost_micros is None:
            raise await self._refuse(context, model_id, _unpriced(money_budget))
        use_keys = tuple(
            (budget.budget_id, subject, self._days.current_period(budget.period)) for budget, subject in budgets
        )
        statements: list[Statement] = []
        for (budget, _), use_key in zip(budgets, use_keys, strict=True):
            statements += [create_use(use_key, now), _increase_use(budget, use_key, max_usage, now)]
        reservation = Reservation(self._ids.new(), use_keys, max_usage)
        statements.append(_row(reservation, context.run_id, model_id, now))
        try:
            await self._journal.commit(Unit("budget.reserve", tuple(statements)))
        except GuardFailed as failure:
            position = failure.statement // 2
            raise _Exceeded(budgets[position][0], use_keys[position]) from failure
        return reservation

    async def settle(self, reservation: Reservation, usage: Usage) -> None:
        """Replaces the reserved worst case by the real usage. If the database fails, the worst case stays counted."""
        now, reserved_usage = self._clock.now(), reservation.worst
        values: dict[str, int | Increment] = {
            "tokens": Increment(_tokens(usage) - _tokens(reserved_usage)),
            "cost_micros": Increment((usage.cost_micros or 0) - (reserved_usage.cost_micros or 0)),
            "updated_at": now,
        }
        corrections = [Update(BUDGET_USES, values, use_conditions(use_key), expect=ANY) for use_key in reservation.uses]
        deletion = Delete(RESERVATIONS, where(reservation_id=reservation.reservation_id))
        try:
            await self._journal.commit(Unit("budget.settle", (deletion, *corrections)))
        except (StorageFailed, GuardFailed) as failure:
            logger.error("a budget reservation could not be settled and stays at its worst case: %s", failure)

    async def _refuse(self, context: CallContext, model_id: ModelId, message: str) -> ProviderFailed:
        entry = audit.budget_refusal_entry(context, model_id, message, self._clock.now())
        await self._journal.commit(Unit("budget.refuse", (entry,)))
        return ProviderFailed("budget_exceeded", message)


async def budget_rest(journal: Journal, budget: Budget, use_key: BudgetUseKey) -> RemainingBudget:
    """Reads how much of a budget is left."""
    rows = await journal.read(Select(BUDGET_USES, use_conditions(use_key), limit=1, point_read=True))
    use_row = rows[0] if rows else {"tokens": 0, "cost_micros": 0}
    return RemainingBudget(
        max(0, budget.tokens - use_row["tokens"]) if budget.tokens else None,
        max(0, budget.cost_micros - use_row["cost_micros"]) if budget.cost_micros else None,
    )


def create_use(use_key: BudgetUseKey, now: int) -> Insert:
    """Returns the statement that creates a use unless it exists."""
    budget_id, subject, period = use_key
    row: dict[str, str | int] = {"budget_id": budget_id, "subject": subject, "period": period}
    return Insert(BUDGET_USES, {**row, "tokens": 0, "cost_micros": 0, "updated_at": now}, conflict="ignore")


def _increase_use(budget: Budget, use_key: BudgetUseKey, max_usage: Usage, now: int) -> Update:
    """Returns the statement that adds the worst case to a use; its guard is the budget's limit."""
    tokens, cost = _tokens(max_usage), max_usage.cost_micros or 0
    limits = where(tokens=at_most(budget.tokens - tokens)) if budget.tokens else ()
    limits += where(cost_micros=at_most(budget.cost_micros - cost)) if budget.cost_micros else ()
    increments = {"tokens": Increment(tokens), "cost_micros": Increment(cost)}
    return Update(BUDGET_USES, {**increments, "updated_at": now}, use_conditions(use_key) + limits)


def _row(reservation: Reservation, run_id: RunId, model_id: ModelId, now: int) -> Insert:
    row: dict[str, str | int] = {
        "reservation_id": reservation.reservation_id,
        "run_id": run_id,
        "model_id": model_id,
        "held": dumps(reservation.uses),
        "tokens": _tokens(reservation.worst),
        "cost_micros": reservation.worst.cost_micros or 0,
        "created_at": now,
    }
    return Insert(RESERVATIONS, {**row})


def use_conditions(use_key: BudgetUseKey) -> tuple[Condition, ...]:
    """Returns the conditions that select a use."""
    budget_id, subject, period = use_key
    return where(budget_id=budget_id, subject=subject, period=period)


def _tokens(usage: Usage) -> int:
    return usage.prompt_tokens + usage.completion_tokens


def used_up_message(budget: Budget) -> str:
    """Says that nothing is left of a budget."""
    period_text = " today" if budget.period == "day" else ""
    return f"{_described(budget)} is used up{period_text}"


def _described(budget: Budget) -> str:
    subjects = {"sender": "this sender", "conversation": "this conversation", "agent": "this agent", "workspace": "all"}
    return f"the budget '{budget.name}' for {subjects[budget.scope]}"


def _exceeded_message(budget: Budget, remaining: RemainingBudget, max_usage: Usage) -> str:
    """Describes what is left of the budget and what the call would have needed."""
    budget_text, period_text = _described(budget), " today" if budget.period == "day" else ""
    if remaining.tokens is not None and _tokens(max_usage) > remaining.tokens:
        remaining_text = f"{remaining.tokens} of {budget.tokens} tokens left{period_text}"
        return f"{budget_text} has {remaining_text}, and this call may take {_tokens(max_usage)}"
    needed_money = _money(max_usage.cost_micros or 0)
    remaining_text = f"{_money(remaining.cost_micros or 0)} of {_money(budget.cost_micros)} left{period_text}"
    return f"{budget_text} has {remaining_text}, and this call may cost {needed_money}"


def _unpriced(budget: Budget) -> str:
    reason = "and nobody knows what this model costs; give the model its prices, 0 if it is free"
    return f"the budget '{budget.name}' limits money, {reason}"


def _money(micros: int) -> str:
    return f"{micros / 1_000_000:.6f}".rstrip("0").rstrip(".")


@dataclass(frozen=True, slots=True)
class BudgetPeriodUse:
    """Amounts that one subject has used of a budget in its current period."""

    subject: str
    tokens: int
    cost_micros: int


class BudgetUses:
    """Reads what was used of a budget in its current period, including current reservations."""

    def __init__(self, journal: Journal, days: Days) -> None:
        self._journal = journal
        self._days = days

    async def current_uses(self, budget: Budget) -> tuple[str, list[BudgetPeriodUse]]:
        """Returns the current period of a budget, and its use by the subjects that used most."""
        period = self._days.current_period(budget.period)
        subject_conditions = where(subject=budget.target) if budget.target else ()
        rows = await self._journal.read(
            Select(
                BUDGET_USES,
                where(budget_id=budget.budget_id, period=period) + subject_conditions,
                order=("tokens", "subject"),
                direction="descending",
                limit=MAX_LISTED_SUBJECTS,
            )
        )
        return period, [BudgetPeriodUse(row["subject"], row["tokens"], row["cost_micros"]) for row in rows]
