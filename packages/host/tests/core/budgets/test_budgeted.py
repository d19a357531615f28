"""Model calls within budgets: reserved before, settled after, refused before anybody is asked."""

import asyncio
from typing import Any

import pytest

from parlour.core.encoding import loads
from parlour.core.errors import CallRejected
from parlour.core.model.budget import Budget
from parlour.core.model.providers import ProviderFailed, Providers
from parlour.core.models.reservations import BudgetUses
from parlour.core.store.tables import AUDIT, BUDGET_USES, RESERVATIONS, RUNS
from parlour.testing.scripted import Hang, Reply, Scripted, ScriptedModels
from parlour_sdk.protocol.models import Embed, InvokeModel, Rerank
from parlour_sdk.protocol.usage import Usage

from ..providers.granted import ASK, DISCOVERED, cancel, running, world
from ..support import World, settle, until

WORST = 200
"""Tokens that a scripted model reserves, and micro-units."""
DAY = 24 * 3600


class UnpricedModels(ScriptedModels):
    def parameters(self, model_id: str) -> dict[str, Any]:
        return {}

    def max_usage(self, request: InvokeModel | Embed | Rerank) -> Usage:
        return Usage(prompt_tokens=WORST)


def reply(tokens: int = 20) -> Reply:
    return Reply("hello", usage=Usage(prompt_tokens=tokens, completion_tokens=0, cost_micros=tokens * 2))


async def budgeted(*replies: Scripted, **fields: Any) -> tuple[World, ScriptedModels]:
    models = ScriptedModels(*replies)
    made = await world(Providers(models=models))
    await made.core.budgets.add(Budget("b", "Small", **{"scope": "workspace", **fields}))
    return made, models


async def refused(made: World, run: Any, action: str = "invoke_llm") -> CallRejected:
    with pytest.raises(CallRejected) as refusal:
        await asked(made, run, action)
    return refusal.value


async def asked(made: World, run: Any, action: str = "invoke_llm") -> None:
    if action == "invoke_llm":
        await made.call(run, action, **ASK)
    else:
        async for _ in made.stream(run, action, **ASK):
            pass


def used(made: World) -> list[tuple[str, int, int]]:
    return [(row["subject"], row["tokens"], row["cost_micros"]) for row in made.rows(BUDGET_USES)]


@pytest.mark.parametrize("action", ["invoke_llm", "invoke_llm_stream"])
async def test_a_call_is_settled_at_what_it_used(action: str) -> None:
    made, _ = await budgeted(reply(20), tokens=1000)
    await asked(made, await running(made), action)
    assert used(made) == [("workspace", 20, 40)]
    assert made.rows(RESERVATIONS) == []


@pytest.mark.parametrize("action", ["invoke_llm", "invoke_llm_stream"])
async def test_a_call_that_could_pass_the_limit_is_refused_before_the_model_is_asked(action: str) -> None:
    made, models = await budgeted(reply(20), tokens=WORST + 19)
    run = await running(made)
    await asked(made, run, action)
    refusal = await refused(made, run, action)
    assert refusal.code == "budget_exceeded"
    assert "has 199 of 219 tokens left today, and this call may take 200" in refusal.message
    assert len(models.requests) == 1
    assert used(made) == [("workspace", 20, 40)]


async def test_money_is_limited_like_tokens() -> None:
    made, models = await budgeted(reply(20), cost_micros=WORST + 39)
    run = await running(made)
    await asked(made, run)
    refusal = await refused(made, run)
    assert "has 0.000199 of 0.000239 left today, and this call may cost 0.0002" in refusal.message
    assert len(models.requests) == 1


async def test_money_can_not_be_limited_where_nobody_knows_the_price() -> None:
    models = UnpricedModels(Reply("hello", usage=Usage(prompt_tokens=5)))
    made = await world(Providers(models=models))
    await made.core.budgets.add(Budget("t", "Tokens", "workspace", tokens=1000))
    run = await running(made)
    await asked(made, run)
    assert used(made) == [("workspace", 5, 0)]
    await made.core.budgets.add(Budget("m", "Money", "workspace", cost_micros=1000))
    refusal = await refused(made, run)
    assert (refusal.code, len(models.requests)) == ("budget_exceeded", 1)
    assert "'Money' limits money, and nobody knows what this model costs" in refusal.message
    [entry] = made.rows(AUDIT, outcome="denied")
    assert refusal.message in entry["detail"]


async def test_a_refusal_is_in_the_audit_with_its_reason() -> None:
    made, _ = await budgeted(tokens=1)
    run = await running(made)
    await refused(made, run)
    [entry] = made.rows(AUDIT, outcome="denied")
    assert (entry["run_id"], entry["resource"], entry["code"]) == (run.run_id, "model", "budget_exceeded")
    assert "'Small'" in entry["detail"]


async def test_calls_at_once_can_not_pass_the_limit_together() -> None:
    made, models = await budgeted(*[Hang()] * 5, tokens=3 * WORST)
    run = await running(made)
    calls = [asyncio.ensure_future(refused(made, run)) for _ in range(5)]
    await until(lambda: sum(call.done() for call in calls) == 2)
    assert len(models.requests) == 3
    assert used(made) == [("workspace", 600, 600)]
    await cancel(made, run)
    assert {(await call).code for call in calls} == {"budget_exceeded", "cancelled"}


async def test_a_new_day_begins_in_the_workspaces_time_zone() -> None:
    models = ScriptedModels(reply(), reply())
    made = await world(Providers(models=models))
    await made.core.budgets.add(Budget("b", "Small", "workspace", tokens=WORST))
    run = await running(made)
    await asked(made, run)
    assert (await refused(made, run)).code == "budget_exceeded"
    await asyncio.sleep(DAY)
    await asked(made, run)
    assert [row["period"] for row in made.rows(BUDGET_USES)] == ["2027-01-15", "2027-01-16"]


async def test_a_total_budget_never_begins_anew() -> None:
    made, _ = await budgeted(reply(), tokens=WORST, period="total")
    run = await running(made)
    await asked(made, run)
    await asyncio.sleep(40 * DAY)
    assert (await refused(made, run)).code == "budget_exceeded"


async def test_each_sender_has_a_budget_of_their_own() -> None:
    made, _ = await budgeted(reply(), reply(), scope="sender", tokens=WORST)
    ann = await running(made)
    await asked(made, ann)
    await refused(made, ann)
    await made.say("hi", actor="bob", chat="other")
    bob = await made.plugins.next_run()
    await asked(made, bob)
    assert [subject for subject, _, _ in used(made)] == ["user:ann", "user:bob"]


@pytest.mark.parametrize(("target", "stopped"), [("user:ann", True), ("user:bob", False)])
async def test_a_budget_for_one_is_not_for_others(target: str, stopped: bool) -> None:
    made, models = await budgeted(reply(), scope="sender", target=target, tokens=1)
    run = await running(made)
    if stopped:
        await refused(made, run)
    else:
        await asked(made, run)
    assert len(models.requests) == (0 if stopped else 1)


@pytest.mark.parametrize("scope", ["conversation", "agent"])
async def test_conversations_and_agents_are_limited_too(scope: str) -> None:
    made, _ = await budgeted(reply(), scope=scope, tokens=WORST)
    run = await running(made)
    await asked(made, run)
    await refused(made, run)
    context = run.context["conversation"]
    expected = {"conversation": context["conversation_id"], "agent": "agent"}[scope]
    assert used(made) == [(expected, 20, 40)]


async def test_of_several_budgets_all_must_allow_it_and_none_is_charged_otherwise() -> None:
    made, models = await budgeted(reply(), tokens=10_000)
    await made.core.budgets.add(Budget("c", "Tiny", "agent", tokens=1))
    refusal = await refused(made, await running(made))
    assert "'Tiny'" in refusal.message
    assert models.requests == []
    assert used(made) == []


async def test_a_disabled_budget_stops_nobody() -> None:
    made, models = await budgeted(reply(), tokens=1, enabled=False)
    await asked(made, await running(made))
    assert len(models.requests) == 1


async def test_a_failure_before_any_answer_costs_nothing() -> None:
    made, _ = await budgeted(ProviderFailed("rate_limited", "busy"), tokens=1000)
    await refused(made, await running(made))
    assert used(made) == [("workspace", 0, 0)]


async def test_a_failure_after_which_nobody_knows_costs_the_worst_case() -> None:
    made, _ = await budgeted(ProviderFailed("provider_timeout", "silent"), tokens=1000)
    await refused(made, await running(made))
    assert used(made) == [("workspace", WORST, WORST)]


async def test_a_stream_that_is_left_costs_what_was_asked_and_what_came() -> None:
    made, _ = await budgeted("12345 789", tokens=1000)
    run = await running(made)
    stream = made.stream(run, "invoke_llm_stream", **ASK)
    await anext(stream)
    await stream.aclose()
    await settle()
    assert used(made) == [("workspace", 102, 102)]
    assert made.rows(RESERVATIONS) == []


class Lengthy(ScriptedModels):
    """Its answers may have 4,096 tokens, unless the request says less; it does not keep to that."""

    def max_usage(self, request: InvokeModel | Embed | Rerank) -> Usage:
        limit = (getattr(request, "extra", None) or {}).get("max_tokens", 4096)
        return Usage(prompt_tokens=300, completion_tokens=limit, cost_micros=300 + 2 * limit)


async def lengthy(*replies: Scripted, **fields: Any) -> tuple[World, ScriptedModels]:
    models = Lengthy(*replies)
    made = await world(Providers(models=models))
    await made.core.budgets.add(Budget("b", "Small", **{"scope": "workspace", **fields}))
    return made, models


@pytest.mark.parametrize("limit", [{"tokens": 4000}, {"cost_micros": 4000}])
async def test_an_answer_is_limited_to_what_is_left_of_a_budget(limit: dict[str, int]) -> None:
    made, models = await lengthy(reply(20), **limit)
    await asked(made, await running(made))
    [request] = models.requests
    assert isinstance(request, InvokeModel)
    assert request.extra is not None
    reserved = models.max_usage(request)
    spent = reserved.cost_micros if "cost_micros" in limit else reserved.prompt_tokens + reserved.completion_tokens
    assert 3990 <= (spent or 0) <= 4000


@pytest.mark.parametrize("action", ["invoke_llm", "invoke_llm_stream"])
async def test_what_a_call_used_beyond_its_reservation_is_settled_and_the_next_one_is_refused(action: str) -> None:
    made, models = await lengthy(reply(9000), reply(20), tokens=5000)
    run = await running(made)
    await asked(made, run, action)
    assert used(made) == [("workspace", 9000, 18000)]
    assert (await refused(made, run, action)).code == "budget_exceeded"
    assert len(models.requests) == 1


async def test_a_refused_call_is_no_model_call() -> None:
    made, _ = await budgeted(tokens=1)
    run = await running(made)
    await refused(made, run)
    run.send(run.completed("sorry"), run.finished())
    await made.rest()
    [row] = made.rows(RUNS)
    assert loads(row["usage"]).get("model_calls", 0) == 0


async def test_what_a_crash_left_reserved_stays_counted_at_its_worst_case() -> None:
    made, models = await budgeted(Hang(), tokens=WORST + 1)
    run = await running(made)
    call = asyncio.ensure_future(made.call(run, "invoke_llm", **ASK))
    await until(lambda: models.requests)
    assert len(made.rows(RESERVATIONS)) == 1
    again = await made.restart(discovery=DISCOVERED, providers=Providers(models=ScriptedModels(reply())))
    assert again.rows(RESERVATIONS) == []
    assert used(again) == [("workspace", WORST, WORST)]
    call.cancel()


async def test_a_request_is_bounded_to_what_was_reserved_for_it() -> None:
    made, models = await budgeted(reply(), reply(), tokens=1000)
    run = await running(made)
    await made.call(run, "invoke_llm", **ASK)
    await made.call(run, "invoke_llm", **ASK, extra={"max_tokens": 7})
    assert [request.extra for request in models.requests] == [{"max_tokens": 100}, {"max_tokens": 7}]


async def test_embeddings_count_too() -> None:
    made, _ = await budgeted(tokens=1000)
    run = await running(made)
    await made.call(run, "invoke_embedding", model_id="embedding-model", texts=["a", "b"])
    assert used(made) == [("workspace", 2, 0)]


async def test_the_uses_of_a_budget_are_shown_the_most_first() -> None:
    made, _ = await budgeted(reply(5), reply(50), scope="sender", tokens=1000)
    await asked(made, await running(made))
    await made.say("hi", actor="bob", chat="other")
    await asked(made, await made.plugins.next_run())
    budget = made.core.budgets.get("b")
    assert budget is not None
    period, uses = await BudgetUses(made.journal, made.core.days).current_uses(budget)
    assert (period, [(use.subject, use.tokens) for use in uses]) == ("2027-01-15", [("user:bob", 50), ("user:ann", 5)])


async def test_a_removed_budget_takes_its_uses_along() -> None:
    made, _ = await budgeted(reply(), tokens=1000)
    await asked(made, await running(made))
    await made.core.budgets.remove("b")
    assert made.rows(BUDGET_USES) == []


async def test_without_budgets_nothing_is_written() -> None:
    made = await world(Providers(models=ScriptedModels(reply())))
    await asked(made, await running(made))
    assert not any(name.startswith("budget") for name in made.journal.units)
