"""Model calls within budgets: reserved before the call, settled after it, refused before the model is called."""

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

from ..support import World, settle, until
from .model_support import ASK, DISCOVERED, cancel, start_run, world

MAX_USAGE = 200
"""Tokens and micro-units of money that a scripted model reserves."""
DAY = 24 * 3600


class UnpricedModels(ScriptedModels):
    def parameters(self, model_id: str) -> dict[str, Any]:
        return {}

    def max_usage(self, request: InvokeModel | Embed | Rerank) -> Usage:
        return Usage(prompt_tokens=MAX_USAGE)


def reply(tokens: int = 20) -> Reply:
    return Reply("hello", usage=Usage(prompt_tokens=tokens, completion_tokens=0, cost_micros=tokens * 2))


async def open_budgeted(*replies: Scripted, **fields: Any) -> tuple[World, ScriptedModels]:
    models = ScriptedModels(*replies)
    made = await world(Providers(models=models))
    await made.core.budgets.add(Budget("b", "Small", **{"scope": "workspace", **fields}))
    return made, models


async def refused_call(made: World, run: Any, action: str = "invoke_llm") -> CallRejected:
    with pytest.raises(CallRejected) as refusal:
        await call_model(made, run, action)
    return refusal.value


async def call_model(made: World, run: Any, action: str = "invoke_llm") -> None:
    if action == "invoke_llm":
        await made.call(run, action, **ASK)
    else:
        async for _ in made.stream(run, action, **ASK):
            pass


def budget_uses(made: World) -> list[tuple[str, int, int]]:
    return [(row["subject"], row["tokens"], row["cost_micros"]) for row in made.rows(BUDGET_USES)]


@pytest.mark.parametrize("action", ["invoke_llm", "invoke_llm_stream"])
async def test_call_is_settled_at_its_usage(action: str) -> None:
    made, _ = await open_budgeted(reply(20), tokens=1000)
    await call_model(made, await start_run(made), action)
    assert budget_uses(made) == [("workspace", 20, 40)]
    assert made.rows(RESERVATIONS) == []


@pytest.mark.parametrize("action", ["invoke_llm", "invoke_llm_stream"])
async def test_call_that_may_exceed_the_budget_is_refused_before_the_model_is_called(action: str) -> None:
    made, models = await open_budgeted(reply(20), tokens=MAX_USAGE + 19)
    run = await start_run(made)
    await call_model(made, run, action)
    refusal = await refused_call(made, run, action)
    assert refusal.code == "budget_exceeded"
    assert "has 199 of 219 tokens left today, and this call may take 200" in refusal.message
    assert len(models.requests) == 1
    assert budget_uses(made) == [("workspace", 20, 40)]


async def test_cost_is_limited_like_tokens() -> None:
    made, models = await open_budgeted(reply(20), cost_micros=MAX_USAGE + 39)
    run = await start_run(made)
    await call_model(made, run)
    refusal = await refused_call(made, run)
    assert "has 0.000199 of 0.000239 left today, and this call may cost 0.0002" in refusal.message
    assert len(models.requests) == 1


async def test_cost_budget_refuses_models_without_a_price() -> None:
    models = UnpricedModels(Reply("hello", usage=Usage(prompt_tokens=5)))
    made = await world(Providers(models=models))
    await made.core.budgets.add(Budget("t", "Tokens", "workspace", tokens=1000))
    run = await start_run(made)
    await call_model(made, run)
    assert budget_uses(made) == [("workspace", 5, 0)]
    await made.core.budgets.add(Budget("m", "Money", "workspace", cost_micros=1000))
    refusal = await refused_call(made, run)
    assert (refusal.code, len(models.requests)) == ("budget_exceeded", 1)
    assert "'Money' limits money, and nobody knows what this model costs" in refusal.message
    [entry] = made.rows(AUDIT, outcome="denied")
    assert refusal.message in entry["detail"]


async def test_refusal_is_audited_with_its_reason() -> None:
    made, _ = await open_budgeted(tokens=1)
    run = await start_run(made)
    await refused_call(made, run)
    [entry] = made.rows(AUDIT, outcome="denied")
    assert (entry["run_id"], entry["resource"], entry["code"]) == (run.run_id, "model", "budget_exceeded")
    assert "'Small'" in entry["detail"]


async def test_concurrent_calls_cannot_exceed_the_budget_together() -> None:
    made, models = await open_budgeted(*[Hang()] * 5, tokens=3 * MAX_USAGE)
    run = await start_run(made)
    calls = [asyncio.ensure_future(refused_call(made, run)) for _ in range(5)]
    await until(lambda: sum(call.done() for call in calls) == 2)
    assert len(models.requests) == 3
    assert budget_uses(made) == [("workspace", 600, 600)]
    await cancel(made, run)
    assert {(await call).code for call in calls} == {"budget_exceeded", "cancelled"}


async def test_daily_budget_restarts_in_the_workspace_time_zone() -> None:
    models = ScriptedModels(reply(), reply())
    made = await world(Providers(models=models))
    await made.core.budgets.add(Budget("b", "Small", "workspace", tokens=MAX_USAGE))
    run = await start_run(made)
    await call_model(made, run)
    assert (await refused_call(made, run)).code == "budget_exceeded"
    await asyncio.sleep(DAY)
    await call_model(made, run)
    assert [row["period"] for row in made.rows(BUDGET_USES)] == ["2027-01-15", "2027-01-16"]


async def test_total_budget_never_restarts() -> None:
    made, _ = await open_budgeted(reply(), tokens=MAX_USAGE, period="total")
    run = await start_run(made)
    await call_model(made, run)
    await asyncio.sleep(40 * DAY)
    assert (await refused_call(made, run)).code == "budget_exceeded"


async def test_each_sender_has_an_own_budget() -> None:
    made, _ = await open_budgeted(reply(), reply(), scope="sender", tokens=MAX_USAGE)
    ann = await start_run(made)
    await call_model(made, ann)
    await refused_call(made, ann)
    await made.say("hi", actor="bob", chat="other")
    bob = await made.plugins.next_run()
    await call_model(made, bob)
    assert [subject for subject, _, _ in budget_uses(made)] == ["user:ann", "user:bob"]


@pytest.mark.parametrize(("target", "stopped"), [("user:ann", True), ("user:bob", False)])
async def test_budget_for_one_sender_does_not_limit_others(target: str, stopped: bool) -> None:
    made, models = await open_budgeted(reply(), scope="sender", target=target, tokens=1)
    run = await start_run(made)
    if stopped:
        await refused_call(made, run)
    else:
        await call_model(made, run)
    assert len(models.requests) == (0 if stopped else 1)


@pytest.mark.parametrize("scope", ["conversation", "agent"])
async def test_conversations_and_agents_have_budgets(scope: str) -> None:
    made, _ = await open_budgeted(reply(), scope=scope, tokens=MAX_USAGE)
    run = await start_run(made)
    await call_model(made, run)
    await refused_call(made, run)
    context = run.context["conversation"]
    expected = {"conversation": context["conversation_id"], "agent": "agent"}[scope]
    assert budget_uses(made) == [(expected, 20, 40)]


async def test_call_refused_by_one_budget_is_charged_to_none() -> None:
    made, models = await open_budgeted(reply(), tokens=10_000)
    await made.core.budgets.add(Budget("c", "Tiny", "agent", tokens=1))
    refusal = await refused_call(made, await start_run(made))
    assert "'Tiny'" in refusal.message
    assert models.requests == []
    assert budget_uses(made) == []


async def test_disabled_budget_limits_nothing() -> None:
    made, models = await open_budgeted(reply(), tokens=1, enabled=False)
    await call_model(made, await start_run(made))
    assert len(models.requests) == 1


async def test_failed_call_without_usage_is_not_charged() -> None:
    made, _ = await open_budgeted(ProviderFailed("rate_limited", "busy"), tokens=1000)
    await refused_call(made, await start_run(made))
    assert budget_uses(made) == [("workspace", 0, 0)]


async def test_failed_call_with_unknown_usage_is_charged_at_its_maximum() -> None:
    made, _ = await open_budgeted(ProviderFailed("provider_timeout", "silent"), tokens=1000)
    await refused_call(made, await start_run(made))
    assert budget_uses(made) == [("workspace", MAX_USAGE, MAX_USAGE)]


async def test_abandoned_stream_is_charged_for_input_and_received_output() -> None:
    made, _ = await open_budgeted("12345 789", tokens=1000)
    run = await start_run(made)
    stream = made.stream(run, "invoke_llm_stream", **ASK)
    await anext(stream)
    await stream.aclose()
    await settle()
    assert budget_uses(made) == [("workspace", 102, 102)]
    assert made.rows(RESERVATIONS) == []


class LongAnswerModels(ScriptedModels):
    """A model that reserves up to 4,096 output tokens and may use more."""

    def max_usage(self, request: InvokeModel | Embed | Rerank) -> Usage:
        limit = (getattr(request, "extra", None) or {}).get("max_tokens", 4096)
        return Usage(prompt_tokens=300, completion_tokens=limit, cost_micros=300 + 2 * limit)


async def budgeted_long_answers(*replies: Scripted, **fields: Any) -> tuple[World, ScriptedModels]:
    models = LongAnswerModels(*replies)
    made = await world(Providers(models=models))
    await made.core.budgets.add(Budget("b", "Small", **{"scope": "workspace", **fields}))
    return made, models


@pytest.mark.parametrize("limit", [{"tokens": 4000}, {"cost_micros": 4000}])
async def test_answer_is_limited_to_the_rest_of_the_budget(limit: dict[str, int]) -> None:
    made, models = await budgeted_long_answers(reply(20), **limit)
    await call_model(made, await start_run(made))
    [request] = models.requests
    assert isinstance(request, InvokeModel)
    assert request.extra is not None
    reserved = models.max_usage(request)
    spent = reserved.cost_micros if "cost_micros" in limit else reserved.prompt_tokens + reserved.completion_tokens
    assert 3990 <= (spent or 0) <= 4000


@pytest.mark.parametrize("action", ["invoke_llm", "invoke_llm_stream"])
async def test_usage_beyond_the_reservation_is_settled_and_the_next_call_refused(action: str) -> None:
    made, models = await budgeted_long_answers(reply(9000), reply(20), tokens=5000)
    run = await start_run(made)
    await call_model(made, run, action)
    assert budget_uses(made) == [("workspace", 9000, 18000)]
    assert (await refused_call(made, run, action)).code == "budget_exceeded"
    assert len(models.requests) == 1


async def test_refused_call_is_not_counted_as_model_call() -> None:
    made, _ = await open_budgeted(tokens=1)
    run = await start_run(made)
    await refused_call(made, run)
    run.send(run.completed("sorry"), run.finished())
    await made.rest()
    [row] = made.rows(RUNS)
    assert loads(row["usage"]).get("model_calls", 0) == 0


async def test_reservation_of_a_crashed_host_stays_charged_at_its_maximum() -> None:
    made, models = await open_budgeted(Hang(), tokens=MAX_USAGE + 1)
    run = await start_run(made)
    call = asyncio.ensure_future(made.call(run, "invoke_llm", **ASK))
    await until(lambda: models.requests)
    assert len(made.rows(RESERVATIONS)) == 1
    again = await made.restart(discovery=DISCOVERED, providers=Providers(models=ScriptedModels(reply())))
    assert again.rows(RESERVATIONS) == []
    assert budget_uses(again) == [("workspace", MAX_USAGE, MAX_USAGE)]
    call.cancel()


async def test_request_is_limited_to_its_reservation() -> None:
    made, models = await open_budgeted(reply(), reply(), tokens=1000)
    run = await start_run(made)
    await made.call(run, "invoke_llm", **ASK)
    await made.call(run, "invoke_llm", **ASK, extra={"max_tokens": 7})
    assert [request.extra for request in models.requests] == [{"max_tokens": 100}, {"max_tokens": 7}]


async def test_embeddings_are_charged() -> None:
    made, _ = await open_budgeted(tokens=1000)
    run = await start_run(made)
    await made.call(run, "invoke_embedding", model_id="embedding-model", texts=["a", "b"])
    assert budget_uses(made) == [("workspace", 2, 0)]


async def test_uses_of_a_budget_are_listed_by_amount() -> None:
    made, _ = await open_budgeted(reply(5), reply(50), scope="sender", tokens=1000)
    await call_model(made, await start_run(made))
    await made.say("hi", actor="bob", chat="other")
    await call_model(made, await made.plugins.next_run())
    budget = made.core.budgets.get("b")
    assert budget is not None
    period, uses = await BudgetUses(made.journal, made.core.days).current_uses(budget)
    assert (period, [(use.subject, use.tokens) for use in uses]) == ("2027-01-15", [("user:bob", 50), ("user:ann", 5)])


async def test_removed_budget_deletes_its_uses() -> None:
    made, _ = await open_budgeted(reply(), tokens=1000)
    await call_model(made, await start_run(made))
    await made.core.budgets.remove("b")
    assert made.rows(BUDGET_USES) == []


async def test_nothing_is_written_without_budgets() -> None:
    made = await world(Providers(models=ScriptedModels(reply())))
    await call_model(made, await start_run(made))
    assert not any(name.startswith("budget") for name in made.journal.units)
