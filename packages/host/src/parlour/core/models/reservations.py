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

    async def recover(self) -> None:
        """Deletes the reservations of a Host that crashed. What it had reserved stays counted as used."""
        if await self._journal.read(Select(RESERVATIONS, limit=1)):
            await self._journal.commit(Unit("budget.take_up", (Delete(RESERVATIONS, (), expect=ANY),)))

    async def reserve(
        self, applying: MatchingBudgets, asking: CallContext, model_id: str, worst: Usage, shortened: ShortenAnswer
    ) -> Reservation:
        """Reserves the worst case of a call in all budgets that apply.

        If it does not fit, `shortened` returns what a shorter answer needs. Raises ProviderFailed if a budget does not
        allow the call, after the refusal was written to the audit.
        """
        tries = 0
        while True:
            tries += 1
            try:
                return await self._try_reserve(applying, asking, model_id, worst)
            except _Exceeded as exceeded:
                left = await self._remaining(exceeded.budget, exceeded.use)
                shorter = shortened(left) if tries < MAX_RESERVE_ATTEMPTS else None
                if shorter is None or _tokens(shorter) >= _tokens(worst):
                    raise await self._refuse(
                        asking, model_id, _exceeded_message(exceeded.budget, left, worst)
                    ) from exceeded
                worst = shorter

    async def _try_reserve(
        self, applying: MatchingBudgets, asking: CallContext, model_id: str, worst: Usage
    ) -> Reservation:
        now = self._clock.now()
        limited = next((budget for budget, _ in applying if budget.cost_micros), None)
        if limited is not None and worst.cost_micros is None:
            raise await self._refuse(asking, model_id, _unpriced(limited))
        uses = tuple(
            (budget.budget_id, subject, self._days.current_period(budget.period)) for budget, subject in applying
        )
        statements: list[Statement] = []
        for (budget, _), use in zip(applying, uses, strict=True):
            statements += [_create_use(use, now), _increase_use(budget, use, worst, now)]
        reservation = Reservation(self._ids.new(), uses, worst)
        statements.append(_row(reservation, asking.run_id, model_id, now))
        try:
            await self._journal.commit(Unit("budget.reserve", tuple(statements)))
        except GuardFailed as failed:
            at = failed.statement // 2
            raise _Exceeded(applying[at][0], uses[at]) from failed
        return reservation

    async def settle(self, reservation: Reservation, used: Usage) -> None:
        """Replaces the reserved worst case by the real usage. If the database fails, the worst case stays counted."""
        now, worst = self._clock.now(), reservation.worst
        values: dict[str, int | Increment] = {
            "tokens": Increment(_tokens(used) - _tokens(worst)),
            "cost_micros": Increment((used.cost_micros or 0) - (worst.cost_micros or 0)),
            "updated_at": now,
        }
        lowered = [Update(BUDGET_USES, values, _use_conditions(use), expect=ANY) for use in reservation.uses]
        closed = Delete(RESERVATIONS, where(reservation_id=reservation.reservation_id))
        try:
            await self._journal.commit(Unit("budget.settle", (closed, *lowered)))
        except (StorageFailed, GuardFailed) as failure:
            logger.error("a budget reservation could not be settled and stays at its worst case: %s", failure)

    async def _remaining(self, budget: Budget, use: BudgetUseKey) -> RemainingBudget:
        rows = await self._journal.read(Select(BUDGET_USES, _use_conditions(use), limit=1, point_read=True))
        used = rows[0] if rows else {"tokens": 0, "cost_micros": 0}
        return RemainingBudget(
            max(0, budget.tokens - used["tokens"]) if budget.tokens else None,
            max(0, budget.cost_micros - used["cost_micros"]) if budget.cost_micros else None,
        )

    async def _refuse(self, asking: CallContext, model_id: str, sentence: str) -> ProviderFailed:
        entry = audit.budget_refusal_entry(asking, model_id, sentence, self._clock.now())
        await self._journal.commit(Unit("budget.refuse", (entry,)))
        return ProviderFailed("budget_exceeded", sentence)


def _create_use(use: BudgetUseKey, now: int) -> Insert:
    budget_id, subject, period = use
    row: dict[str, str | int] = {"budget_id": budget_id, "subject": subject, "period": period}
    return Insert(BUDGET_USES, {**row, "tokens": 0, "cost_micros": 0, "updated_at": now}, conflict="ignore")


def _increase_use(budget: Budget, use: BudgetUseKey, worst: Usage, now: int) -> Update:
    """Returns the statement that adds the worst case to a use; its guard is the budget's limit."""
    tokens, cost = _tokens(worst), worst.cost_micros or 0
    limits = where(tokens=at_most(budget.tokens - tokens)) if budget.tokens else ()
    limits += where(cost_micros=at_most(budget.cost_micros - cost)) if budget.cost_micros else ()
    raised = {"tokens": Increment(tokens), "cost_micros": Increment(cost)}
    return Update(BUDGET_USES, {**raised, "updated_at": now}, _use_conditions(use) + limits)


def _row(reservation: Reservation, run_id: str, model_id: str, now: int) -> Insert:
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


def _use_conditions(use: BudgetUseKey) -> tuple[Condition, ...]:
    budget_id, subject, period = use
    return where(budget_id=budget_id, subject=subject, period=period)


def _tokens(usage: Usage) -> int:
    return usage.prompt_tokens + usage.completion_tokens


def _exceeded_message(budget: Budget, left: RemainingBudget, worst: Usage) -> str:
    """Describes what is left of the budget and what the call would have needed."""
    whose = {"sender": "this sender", "conversation": "this conversation", "agent": "this agent", "workspace": "all"}
    named = f"the budget '{budget.name}' for {whose[budget.scope]}"
    when = " today" if budget.period == "day" else ""
    if left.tokens is not None and _tokens(worst) > left.tokens:
        rest = f"{left.tokens} of {budget.tokens} tokens left{when}"
        return f"{named} has {rest}, and this call may take {_tokens(worst)}"
    needed = _money(worst.cost_micros or 0)
    rest = f"{_money(left.cost_micros or 0)} of {_money(budget.cost_micros)} left{when}"
    return f"{named} has {rest}, and this call may cost {needed}"


def _unpriced(budget: Budget) -> str:
    whys = "and nobody knows what this model costs; give the model its prices, 0 if it is free"
    return f"the budget '{budget.name}' limits money, {whys}"


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
