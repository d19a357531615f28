"""The database enforces a budget: many concurrent reservations with separate journals never exceed it."""

import asyncio

from parlour.core.journal import Journal, Select
from parlour.core.model.budget import Budget
from parlour.core.model.providers import CallContext, ProviderFailed
from parlour.core.models.days import Days
from parlour.core.models.reservations import Reservation, Reservations
from parlour.core.store.tables import BUDGET_USES, RESERVATIONS
from parlour.core.system import SystemClock, SystemIds
from parlour_sdk.protocol.usage import Usage

ASKING = CallContext("plugin", "run", "agent", "conversation", "user", "ann")
WORST_CASE_USAGE = Usage(prompt_tokens=60, completion_tokens=40, cost_micros=7)
USED = Usage(prompt_tokens=5, completion_tokens=1, cost_micros=2)
BUDGETS = [(Budget("b", "One", "agent", tokens=550), "agent"), (Budget("c", "Other", "sender", tokens=10**9), "ann")]


async def check(journals: list[Journal]) -> None:
    clock = SystemClock()
    hosts = [Reservations(journal, Days(clock, "UTC"), SystemIds(), clock) for journal in journals]

    async def reserve(number: int) -> Reservation | str:
        try:
            return await hosts[number % 2].reserve(BUDGETS, ASKING, "model", WORST_CASE_USAGE, lambda left: None)
        except ProviderFailed as failure:
            return failure.message

    made = await asyncio.gather(*(reserve(number) for number in range(20)))
    held = [each for each in made if isinstance(each, Reservation)]
    assert len(held) == 5
    assert {each for each in made if isinstance(each, str)} == {
        "the budget 'One' for this agent has 50 of 550 tokens left today, and this call may take 100"
    }
    for each in held[:4]:
        await hosts[0].settle(each, USED)
    await hosts[1].recover()
    assert await journals[0].read(Select(RESERVATIONS)) == []
    rows = await journals[1].read(Select(BUDGET_USES, order=("budget_id",)))
    assert [(row["budget_id"], row["tokens"], row["cost_micros"]) for row in rows] == [("b", 124, 15), ("c", 124, 15)]


async def test_reservations_at_once_stay_within_the_budget_on_sqlite(on_sqlite: list[Journal]) -> None:
    await check(on_sqlite)


async def test_reservations_at_once_stay_within_the_budget_on_postgres(on_postgres: list[Journal]) -> None:
    await check(on_postgres)
