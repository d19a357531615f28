"""Usage that a runner reports is counted in budgets with the end of its run; a used-up budget refuses the next."""

from typing import Any

import pytest

from parlour.core.encoding import loads
from parlour.core.model.budget import Budget
from parlour.core.model.providers import Providers
from parlour.core.models.reported_usage import MAX_CHARGED_AMOUNT
from parlour.core.reruns.reruns import RerunOptions
from parlour.core.store.tables import AUDIT, BUDGET_USES, OUTBOX, RUNS
from parlour.testing.scripted import Reply, ScriptedModels
from parlour_sdk.protocol.usage import Usage

from ..support import DISCOVERY, World, settle
from .model_support import ASK, world


def service_runner(reports: bool = True) -> dict[str, Any]:
    manifest = {**DISCOVERY["manifest"], "capabilities": {"streaming": True, "reports_usage": reports}}
    return {**DISCOVERY, "manifest": manifest}


async def open_world(reports: bool = True, **budget: Any) -> World:
    made = await World.open(discovery=service_runner(reports))
    await made.core.budgets.add(Budget("b", "Small", **{"scope": "workspace", "tokens": 100, **budget}))
    return made


async def answer(made: World, prompt: int, completion: int = 0, actor: str = "ann", **usage: int) -> None:
    await made.say("hello", chat=actor, actor=actor)
    run = await made.plugins.next_run()
    used = {"prompt_tokens": prompt, "completion_tokens": completion, **usage}
    run.send(run.completed("Hi."), run.result("run.completed", {"finish_reason": "stop", "usage": used}))
    await made.rest()


def uses(made: World) -> list[tuple[str, int, int]]:
    return [(row["subject"], row["tokens"], row["cost_micros"]) for row in made.rows(BUDGET_USES)]


def last_run(made: World) -> tuple[str, str]:
    row = max(made.rows(RUNS), key=lambda each: each["created_at"])
    return row["status"], row["status_reason"]


def notices(made: World) -> list[str]:
    rows = made.rows(OUTBOX, kind="notice")
    return [str(loads(row["payload"])["message"]["content"]) for row in rows]


async def test_reported_tokens_are_counted_in_all_budgets_that_apply() -> None:
    made = await open_world()
    await made.core.budgets.add(Budget("s", "Person", "sender", tokens=1000))
    await made.core.budgets.add(Budget("o", "Other agent", "agent", target="other", tokens=1000))
    await answer(made, 30, 12, cost_micros=7)
    await answer(made, 10, 5)
    assert uses(made) == [("workspace", 57, 7), ("user:ann", 57, 7)]


async def test_a_used_up_budget_refuses_the_next_run_and_says_so() -> None:
    made = await open_world()
    await answer(made, 150)
    await made.say("and now?")
    await made.rest()
    assert len(made.plugins.runs) == 1, "the plugin was called"
    assert last_run(made) == ("failed", "budget_exceeded")
    assert "limit of what may be used here" in notices(made)[0]
    [entry] = made.rows(AUDIT, code="budget_exceeded")
    assert "'Small' for all is used up today" in entry["detail"]


async def test_another_sender_has_a_budget_of_their_own() -> None:
    made = await open_world(scope="sender")
    await answer(made, 150, actor="ann")
    await answer(made, 20, actor="bo")
    assert uses(made) == [("user:ann", 150, 0), ("user:bo", 20, 0)]


async def test_a_runner_that_reports_nothing_is_not_refused() -> None:
    made = await open_world(reports=False)
    await answer(made, 150)
    await answer(made, 0)
    assert uses(made) == [("workspace", 150, 0)]
    assert last_run(made)[0] == "completed"


@pytest.mark.parametrize("reported", [2**53 - 1, 10**12])
async def test_an_absurd_number_is_bounded(reported: int) -> None:
    made = await open_world()
    await answer(made, reported)
    assert uses(made) == [("workspace", MAX_CHARGED_AMOUNT, 0)]


async def test_usage_that_the_host_counted_itself_is_not_counted_twice() -> None:
    models = ScriptedModels(Reply("hello", usage=Usage(prompt_tokens=20, completion_tokens=0)))
    made = await world(Providers(models=models))
    await made.core.budgets.add(Budget("b", "Small", "workspace", tokens=10_000))
    await made.say("hello")
    run = await made.plugins.next_run()
    await made.call(run, "invoke_llm", **ASK)
    used = {"prompt_tokens": 50, "completion_tokens": 0}
    run.send(run.completed("Hi."), run.result("run.completed", {"finish_reason": "stop", "usage": used}))
    await made.rest()
    assert uses(made) == [("workspace", 50, 0)]


async def test_use_and_end_of_a_run_survive_a_crash_together() -> None:
    made = await open_world()
    await answer(made, 150)
    made = await made.restart(service_runner())
    await made.say("and now?")
    await made.rest()
    assert uses(made) == [("workspace", 150, 0)]
    assert made.plugins.runs == []


async def test_a_rerun_is_counted_and_refused_like_a_run() -> None:
    made = await open_world()
    await answer(made, 60)
    [original] = made.rows(RUNS)
    await made.core.reruns.start(original, RerunOptions())
    run = await made.plugins.next_run()
    used = {"prompt_tokens": 60, "completion_tokens": 0}
    run.send(run.completed("Hi."), run.result("run.completed", {"finish_reason": "stop", "usage": used}))
    await made.core.reruns.join()
    assert uses(made) == [("workspace", 120, 0)]
    await made.core.reruns.start(original, RerunOptions())
    await settle()
    await made.core.reruns.join()
    assert [row["status_reason"] for row in made.rows(RUNS) if row["status"] == "failed"] == ["budget_exceeded"]
    assert len(made.plugins.runs) == 2
