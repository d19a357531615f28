"""Filters that ask a moderation model or a plugin: what they stop and cost, and what follows without a verdict."""

from typing import Any
from weakref import WeakKeyDictionary

import pytest

from parlour.core.config.budgets import Budget
from parlour.core.encoding import loads
from parlour.core.model.moderation import Moderate
from parlour.core.model.providers import ProviderFailed, Providers
from parlour.core.observability.explain.explanations import Explanations
from parlour.core.reruns.reruns import RerunOptions
from parlour.core.store.tables import BUDGET_USES, EVENTS, OUTBOX, OUTCOMES, RUNS, TRANSCRIPT
from parlour.testing.scripted.models import Hang, ScriptedModels

from ..plugin_hooks.test_path_hooks import open_world as open_hooked
from ..support import World, make_agent, until

MODELS: WeakKeyDictionary[Any, ScriptedModels] = WeakKeyDictionary()
"""The models of each world, by its database."""
FAILS = ProviderFailed("provider_failed", "the service is down")


def moderation(on: str = "block", **fields: Any) -> dict[str, Any]:
    config = {name: fields.pop(name) for name in ("on_error", "categories", "threshold") if name in fields}
    return {"use": "moderation", "config": {"model_id": "moderator", **config}, "on": on, **fields}


def plugin(**config: Any) -> dict[str, Any]:
    return {"use": "plugin", "config": {"plugin_id": "guard", **config}}


async def open_world(filters: dict[str, Any], *replies: Any, echo: bool = True, **policy: Any) -> World:
    agent = make_agent(message_policy={"filters": filters, **policy})
    models = ScriptedModels(*replies)
    world = await World.open(agent, echo=echo, providers=Providers(models=models))
    MODELS[world.journal.database] = models
    return world


def outcomes(world: World) -> list[str]:
    return [row["outcome"] for row in world.rows(OUTCOMES)]


def shown(world: World) -> list[str]:
    return [loads(row["payload"])["message"]["content"] for row in world.rows(OUTBOX)]


async def trail(world: World) -> list[str]:
    [event, *_] = world.rows(EVENTS)
    return [step.text for step in (await Explanations(world.journal, world.clock).explain(event)).steps]


def moderated(world: World) -> list[tuple[str, ...]]:
    """Returns the texts of each request to the moderation model."""
    models: Any = MODELS[world.journal.database]
    return [each.texts for each in models.requests if isinstance(each, Moderate)]


@pytest.mark.parametrize(
    ("filter", "outcome", "said"),
    [
        (moderation(tell="Please be kind."), "refused", ["Please be kind."]),
        (moderation("flag"), "answered", ["a violent text"]),
        (moderation(categories=["hate"]), "answered", ["a violent text"]),
        (moderation(threshold=0.95), "answered", ["a violent text"]),
        (moderation(threshold=0.5), "refused", []),
    ],
)
async def test_moderation_decides_about_a_message(filter: dict[str, Any], outcome: str, said: list[str]) -> None:
    world = await open_world({"input": [filter]})
    await world.say("a violent text")
    await world.rest()
    assert (outcomes(world), shown(world)) == ([outcome], said)
    found = "found: violence 0.90." if outcome == "refused" or filter["on"] == "flag" else "found nothing."
    assert f"The input filter 1 (moderation) {found}" in await trail(world)


async def test_moderation_reads_what_the_filters_before_it_left() -> None:
    masking = {"use": "words", "config": {"words": ["violent"]}, "on": "mask"}
    world = await open_world({"input": [masking, moderation()]})
    quote = {"type": "quote", "contents": [{"type": "text", "text": "a quote"}]}
    contents = [{"type": "image", "url": "https://example.org/a.png", "name": "a.png"}, quote]
    await world.say("a violent text", input={"text": "a violent text", "contents": contents})
    await world.rest()
    assert (outcomes(world), moderated(world)) == (["answered"], [("a ******* text", "a.png", "a quote")])


@pytest.mark.parametrize(
    ("side", "fields", "outcome", "said"),
    [
        ("input", {}, "answered", ["hi"]),
        ("input", {"on_error": "block"}, "refused", []),
        ("output", {}, "answered", ["The answer was withheld."]),
        ("output", {"on_error": "pass"}, "answered", ["hi"]),
    ],
)
@pytest.mark.parametrize("failure", [FAILS, Hang()])
async def test_policy_says_what_follows_without_a_verdict(
    failure: Any, side: str, fields: dict[str, Any], outcome: str, said: list[str]
) -> None:
    world = await open_world({side: [moderation(**fields)]}, failure)
    begin = world.clock.now()
    await world.say("hi")
    await world.rest()
    assert (outcomes(world), shown(world)) == ([outcome], said)
    follows = "which counts as found" if said != ["hi"] else "so the text passed"
    assert any(f"gave no verdict, {follows}" in sentence for sentence in await trail(world))
    assert world.clock.now() - begin < 8000


async def test_moderation_of_a_reply_is_in_the_ledger_and_withholds_it() -> None:
    world = await open_world({"output": [moderation()]}, echo=False)
    await world.say("hi")
    run = await world.plugins.next_run()
    run.send(run.delta("a viol"), run.delta("ent reply"))
    run.send(run.completed("a violent reply"), run.finished())
    await world.rest()
    assert shown(world) == ["The answer was withheld."]
    assert [row["content"] for row in world.rows(TRANSCRIPT)] == ["hi", "The answer was withheld."]
    [call] = [data for type, data in world.facts(world.rows(RUNS)[0]["run_id"]) if type == "model.called"]
    assert (call["name"], call["outcome"], call["filter"]) == ("moderator", "answered", "output")
    usage = loads(world.rows(RUNS)[0]["usage"])
    assert (usage["model_calls"], usage["prompt_tokens"], usage["cost_micros"]) == (1, 1, 7)


async def test_moderation_of_a_message_is_in_the_ledger_of_its_run_and_on_the_budget() -> None:
    world = await open_world({"input": [moderation()]})
    await world.core.budgets.add(Budget("b", "All", scope="workspace", tokens=10_000))
    await world.say("hi")
    await world.rest()
    [call] = [data for type, data in world.facts(world.rows(RUNS)[0]["run_id"]) if type == "model.called"]
    assert (call["filter"], call["usage"]["prompt_tokens"]) == ("input", 1)
    assert [row["tokens"] for row in world.rows(BUDGET_USES)] == [1]


async def test_used_up_budget_is_no_verdict() -> None:
    world = await open_world({"input": [moderation(on_error="block", tell="Not now.")]})
    await world.core.budgets.add(Budget("b", "All", scope="workspace", tokens=1))
    await world.say("hi")
    await world.rest()
    await world.core.budgets.add(Budget("c", "None", scope="agent", cost_micros=1))
    await world.say("hi again")
    await world.rest()
    assert outcomes(world)[-1] == "refused"


async def test_verdict_is_recorded_so_that_a_retry_does_not_ask_again() -> None:
    world = await open_world({"input": [moderation()]}, echo=False)
    await world.say("hi")
    await world.plugins.next_run()
    models = MODELS[world.journal.database]
    world = await world.restart(providers=Providers(models=models))
    (await world.plugins.next_run()).answer("done")
    await world.rest()
    assert (outcomes(world), moderated(world)) == (["answered"], [("hi",)])


async def test_steering_message_is_moderated_before_a_run_takes_it_in() -> None:
    world = await open_world({"input": [moderation()]}, echo=False)
    await world.say("first")
    run = await world.plugins.next_run()
    await world.say("a violent second")
    await world.say("third")
    await until(lambda: len(moderated(world)) == 2)
    run.answer("done")
    await until(lambda: len(world.plugins.runs) == 2)
    (await world.plugins.next_run()).answer("done")
    await world.rest()
    assert sorted(outcomes(world)) == ["answered", "answered", "refused"]
    assert "violent" not in str([run.context for run in world.plugins.runs])


async def test_rerun_asks_about_its_reply_and_records_the_call() -> None:
    world = await open_world({"output": [moderation()]}, echo=False)
    await world.say("hi")
    (await world.plugins.next_run()).answer("fine")
    await world.rest()
    await world.core.reruns.start(world.rows(RUNS)[0], RerunOptions())
    (await world.plugins.next_run()).answer("violent")
    await until(lambda: len(world.rows(RUNS)) == 2 and world.rows(RUNS)[1]["status"] == "completed")
    rerun = next(row for row in world.rows(RUNS) if row["rerun_of"])
    facts = dict(world.facts(rerun["run_id"]))
    assert facts["message.completed"]["message"]["content"] == "The answer was withheld."
    assert (facts["model.called"]["name"], loads(rerun["usage"])["model_calls"]) == ("moderator", 1)
    assert shown(world) == ["fine"]


@pytest.mark.parametrize(
    ("answer", "config", "outcome", "sentence"),
    [
        ({"finding": "a telephone number"}, {}, "refused", "found: a telephone number."),
        ({}, {}, "answered", "found nothing."),
        ({"replies": [{"text": "hi"}]}, {}, "answered", "so the text passed"),
        ({"replies": [{"text": "hi"}]}, {"on_error": "block"}, "refused", "which counts as found"),
    ],
)
async def test_plugin_filter_decides_about_a_message(
    answer: dict[str, Any], config: dict[str, Any], outcome: str, sentence: str
) -> None:
    policy = {"filters": {"input": [plugin(**config)]}}
    world = await open_hooked("text.filtering", {"guard": answer}, message_policy=policy)
    await world.say("call 555")
    await world.rest()
    assert outcomes(world) == [outcome]
    assert any(sentence in text for text in await trail(world))


async def test_plugin_without_the_grant_is_not_asked() -> None:
    asked: list[Any] = []
    policy = {"filters": {"input": [plugin()]}}
    world = await open_hooked("text.filtering", {"guard": {}}, granted=("*", "message.arriving"), message_policy=policy)
    handlers: Any = world.plugins
    handlers.handlers["guard"] = asked.append
    await world.say("hi")
    await world.rest()
    assert (asked, outcomes(world)) == ([], ["answered"])
    assert any("was not granted text.filtering" in text for text in await trail(world))


async def test_unasked_plugins_of_a_filter_do_not_see_the_text() -> None:
    policy = {"filters": {"output": [plugin()]}}
    world = await open_hooked("text.filtering", {"guard": {"finding": "x"}, "other": None}, message_policy=policy)
    seen: list[Any] = []
    handlers: Any = world.plugins
    handlers.handlers["other"] = seen.append
    await world.say("hi")
    await world.rest()
    assert (seen, shown(world)) == ([], ["The answer was withheld."])
