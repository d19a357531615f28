"""Plugins that are asked on the path of a message: before its agent reads it, and before a reply is sent."""

import asyncio
from typing import Any

import pytest

from parlour.core.config.routes import Route
from parlour.core.encoding import loads
from parlour.core.model.ports import PluginDisconnected
from parlour.core.observability.explain.explanations import Explanations
from parlour.core.plugin_hooks.components import ComponentRegistry
from parlour.core.reruns.reruns import RerunOptions
from parlour.core.store.tables import EVENTS, LIMITS, OUTBOX, OUTCOMES, RUN_EVENTS, RUNS, TRANSCRIPT
from parlour_sdk.protocol.manifest import PluginPermissions

from ..support import (
    DISCOVERY,
    PLUGIN,
    BreakableJournal,
    CountedIds,
    PlatformSurface,
    World,
    make_agent,
    settle,
    until,
)
from .listener_support import ListeningPlugins, listener, plugins_of

MOST_SECONDS = 9.9
"""Less than two time limits; the time until a test looks again is included."""
STOP = {"stop_propagation": True}
ARRIVING, REPLY = "message.arriving", "reply.preparing"


def reply(text: str) -> dict[str, Any]:
    return {"text": text}


async def open_world(
    event: str,
    answers: dict[str, Any],
    echo: bool = True,
    granted: tuple[str, ...] = (),
    concurrent_runs: int = 64,
    **agent: Any,
) -> World:
    """Opens a world whose plugins give these answers; they are asked in this order."""
    components, plugins = ComponentRegistry(), ListeningPlugins(echo)
    for priority, plugin_id in enumerate(reversed(answers)):
        components.replace_plugin(plugin_id, "1", [listener(event, priority)])
    plugins.handlers = {plugin_id: lambda data, answer=answer: answer for plugin_id, answer in answers.items()}  # type: ignore[misc]
    world = World(
        BreakableJournal(),
        plugins,
        PlatformSurface(),
        CountedIds(),
        components=components,
        plugin_grants=lambda plugin_id: PluginPermissions(events=list(granted or (event,))),
        concurrent_runs=concurrent_runs,
    )
    world.core.registry.replace_plugin(PLUGIN, "1", [DISCOVERY])
    await world.core.agents.add(make_agent(**agent))
    await world.core.routes.replace("bot", [Route("message.*", "agent", {"agent_id": "agent"})])
    await world.core.recover()
    return world


def shown(world: World) -> list[str]:
    rows = sorted(world.rows(OUTBOX), key=lambda row: row["feed_seq"])
    return [loads(row["payload"])["message"]["content"] for row in rows if row["kind"] == "message"]


def outcomes(world: World) -> list[str]:
    return [row["outcome"] for row in world.rows(OUTCOMES)]


async def trail(world: World) -> list[str]:
    [event, *_] = world.rows(EVENTS)
    explanation = await Explanations(world.journal, world.clock).explain(event)
    return [step.text for step in explanation.steps if step.step.startswith("hooks")]


async def say(world: World, text: str = "hi", **fields: Any) -> None:
    await world.say(text, **fields)
    await world.rest()


async def test_plugin_answers_a_message_in_place_of_the_agent() -> None:
    world = await open_world(ARRIVING, {"acme/a": {**STOP, "replies": [reply("Closed today.")]}})
    await say(world)
    assert (shown(world), outcomes(world), world.rows(RUNS)) == (["Closed today."], ["handled"], [])
    assert await trail(world) == ["Plugin acme/a answered the message itself."]


async def test_plugin_that_lets_a_message_pass_changes_nothing() -> None:
    world = await open_world(ARRIVING, {"acme/a": {"handled": True}})
    await say(world)
    assert (shown(world), outcomes(world)) == (["hi"], ["answered"])
    assert await trail(world) == ["Plugin acme/a was asked and changed nothing."]


async def test_agent_reads_what_plugins_made_of_a_message_one_after_another() -> None:
    seen: list[Any] = []
    world = await open_world(ARRIVING, {"acme/a": None, "acme/b": None})
    handlers = plugins_of(world).handlers

    def change(data: dict[str, Any]) -> dict[str, Any]:
        seen.append((data["event"]["text"], data["variables"]))
        return {"input": {"text": data["event"]["text"] + "!"}, "variables": {f"n{len(seen)}": "x"}}

    handlers |= dict.fromkeys(("acme/a", "acme/b"), change)
    await say(world)
    assert seen == [("hi", {}), ("hi!", {"n1": "x"})]
    [context] = [run.context for run in world.plugins.runs]
    assert (context["input"]["text"], context["metadata"]) == ("hi!!", {"variables": {"n1": "x", "n2": "x"}})
    [user, _] = world.rows(TRANSCRIPT)
    assert user["content"] == "hi!!"
    assert world.rows(EVENTS)[0]["input_summary"] == "hi"


@pytest.mark.parametrize(
    ("answer", "expected"),
    [
        (asyncio.Event(), "did not answer in time"),
        (PluginDisconnected("it crashed"), "failed"),
        ({"stop_propagation": "yes"}, "failed"),
        ({"replies": [reply("x")] * 11}, "failed"),
        ({"replies": [reply("x" * 70_000)]}, "failed"),
        ({"replies": [{}]}, "failed"),
        ({"variables": {"x": "y" * 70_000}}, "failed"),
        ({"input": {"contents": [{"type": "file", "artifact_id": "another-chat"}]}}, "failed"),
        ({"replacement": [reply("x")]}, "failed"),
        ({"failed": ["handler"]}, "failed"),
    ],
    ids=["hangs", "crashes", "lies", "floods", "long", "empty", "variables", "foreign file", "wrong hook", "fails"],
)
async def test_hostile_plugin_delays_a_message_by_its_time_at_most(answer: Any, expected: str) -> None:
    world = await open_world(ARRIVING, {"acme/a": answer})
    started = asyncio.get_running_loop().time()
    await say(world)
    assert asyncio.get_running_loop().time() - started < MOST_SECONDS
    assert (shown(world), outcomes(world)) == (["hi"], ["answered"])
    [text] = await trail(world)
    assert expected in text


async def test_plugins_have_one_time_limit_together() -> None:
    world = await open_world(ARRIVING, {"acme/a": asyncio.Event(), "acme/b": STOP})
    await say(world)
    assert outcomes(world) == ["answered"]
    assert [plugin_id for plugin_id, *_ in plugins_of(world).received] == ["acme/a"]


async def test_message_that_waits_for_a_plugin_takes_no_slot() -> None:
    world = await open_world(ARRIVING, {"acme/a": asyncio.Event()}, concurrent_runs=2)
    for number in range(40):
        await world.say("hi", chat=f"chat {number}", actor=f"ann {number}")
    started = asyncio.get_running_loop().time()
    await world.rest()
    assert asyncio.get_running_loop().time() - started < MOST_SECONDS
    assert outcomes(world) == ["answered"] * 40


@pytest.mark.parametrize("granted", [("*",), ("message.*",), ("message.received",)])
async def test_plugin_without_the_grant_by_name_is_never_asked(granted: tuple[str, ...]) -> None:
    world = await open_world(ARRIVING, {"acme/a": STOP}, granted=granted)
    await say(world)
    assert (outcomes(world), plugins_of(world).received) == (["answered"], [])


async def test_commands_are_never_asked_about() -> None:
    world = await open_world(ARRIVING, {"acme/a": STOP})
    await say(world, "/new")
    assert plugins_of(world).received == []


async def test_retry_does_not_ask_again_and_keeps_what_was_changed() -> None:
    world = await open_world(ARRIVING, {"acme/a": {"input": {"text": "changed"}, "replies": [reply("Wait.")]}}, False)
    await world.say("hi")
    run = await _next_run(world, 1)
    run.send(run.failed(retryable=True))
    run = await _next_run(world, 2)
    assert run.context["input"]["text"] == "changed"
    run.answer("done")
    await world.rest()
    assert len(plugins_of(world).received) == 1
    assert shown(world) == ["Wait.", "done"]


async def test_crash_after_the_record_does_not_ask_again() -> None:
    world = await open_world(ARRIVING, {"acme/a": {**STOP, "replies": [reply("No.")]}})
    world.journal.broken["event.settle"] = 10**6
    await world.say("hi")
    await until(lambda: "hooks.answer" in world.journal.units)
    await settle()
    components = ComponentRegistry()
    components.replace_plugin("acme/a", "1", [listener(ARRIVING)])
    restarted = await world.restart(
        components=components, plugin_grants=lambda plugin_id: PluginPermissions(events=[ARRIVING])
    )
    await restarted.rest()
    assert (shown(restarted), outcomes(restarted)) == (["No."], ["handled"])


async def test_stopped_message_does_not_count_for_limits() -> None:
    world = await open_world(ARRIVING, {"acme/a": STOP}, message_policy={"limits": [{"count": 1, "window": "day"}]})
    await say(world)
    assert (outcomes(world), world.rows(LIMITS)) == (["handled"], [])


async def test_input_filter_sees_what_a_plugin_wrote() -> None:
    policy = {"filters": {"input": [{"use": "words", "on": "block", "config": {"words": ["bad"]}}]}}
    world = await open_world(ARRIVING, {"acme/a": {"input": {"text": "bad"}}}, message_policy=policy)
    await say(world)
    assert outcomes(world) == ["refused"]


async def test_message_for_an_active_run_is_asked_about_before_it_is_claimed() -> None:
    world = await open_world(ARRIVING, {"acme/a": None}, False)
    plugins_of(world).handlers["acme/a"] = lambda data: STOP if data["event"]["text"] == "stop me" else None
    await world.say("hi")
    run = await _next_run(world, 1)
    await world.say("stop me")
    await until(lambda: len(plugins_of(world).received) == 2)
    run.answer("done")
    await world.rest()
    assert (shown(world), sorted(outcomes(world))) == (["done"], ["answered", "handled"])


async def test_collected_messages_are_asked_about_one_by_one() -> None:
    policy = {"gather": {"seconds": 2}}
    world = await open_world(ARRIVING, {"acme/a": None}, message_policy=policy)
    plugins_of(world).handlers["acme/a"] = lambda data: STOP if data["event"]["text"] == "no" else None
    for text in ("one", "two", "no"):
        await world.say(text)
    await world.rest()
    assert shown(world) == ["one\ntwo"]
    assert sorted(outcomes(world)) == ["answered", "answered", "handled"]


async def test_replies_to_bots_count_for_the_loop_guard() -> None:
    world = await open_world(ARRIVING, {"acme/a": {**STOP, "replies": [reply("Hello, bot.")]}})
    for number in range(30):
        await say(world, f"{number}", surface="platform", data={"chat_type": "group", "chat_id": "7"})
    assert outcomes(world).count("limited") > 0


async def test_plugin_replaces_and_adds_messages() -> None:
    answer = {"replacement": [reply("One."), reply("Two.")], "replies": [reply("Three.")]}
    world = await open_world(REPLY, {"acme/a": answer})
    await say(world)
    assert shown(world) == ["One.", "Two.", "Three."]
    assert [row["content"] for row in world.rows(TRANSCRIPT)][1:] == ["One.", "Two.", "Three."]
    assert await trail(world) == ["Plugin acme/a replaced a reply."]


async def test_plugin_that_stops_a_reply_leaves_the_run_silent() -> None:
    world = await open_world(REPLY, {"acme/a": STOP})
    await say(world)
    assert (shown(world), outcomes(world)) == ([], ["silent"])
    assert world.rows(RUNS)[0]["status"] == "completed"


async def test_deltas_are_held_back_while_a_plugin_may_replace_the_reply() -> None:
    world = await open_world(REPLY, {"acme/a": {"replacement": [reply("Nothing to see.")]}}, False)
    await world.say("hi")
    run = await _next_run(world, 1)
    run.send(run.delta("The sec"), run.delta("ret."))
    run.answer("The secret.")
    await world.rest()
    assert shown(world) == ["Nothing to see."]
    assert not [row for row in world.rows(OUTBOX) if "secret" in row["payload"]]


async def test_output_filter_has_the_last_word() -> None:
    policy = {"filters": {"output": [{"use": "words", "on": "mask", "config": {"words": ["bad"]}}]}}
    world = await open_world(REPLY, {"acme/a": {"replacement": [reply("so bad")]}}, message_policy=policy)
    await say(world)
    assert shown(world) == ["so ***"]


@pytest.mark.parametrize(
    "answer",
    [asyncio.Event(), PluginDisconnected("x"), {"replacement": [{}]}, {"input": {"text": "x"}}, {"replies": "x"}],
    ids=["hangs", "crashes", "empty", "wrong hook", "lies"],
)
async def test_hostile_reply_hook_delays_the_reply_only(answer: Any) -> None:
    world = await open_world(REPLY, {"acme/a": answer})
    started = asyncio.get_running_loop().time()
    await say(world)
    assert asyncio.get_running_loop().time() - started < MOST_SECONDS
    assert (shown(world), outcomes(world)) == (["hi"], ["answered"])


async def test_rerun_rehearses_and_sends_nothing() -> None:
    world = await open_world(ARRIVING, {"acme/a": {"input": {"text": "changed"}, "replies": [reply("Wait.")]}})
    await say(world)
    [run] = world.rows(RUNS)
    rehearsals: list[bool] = []

    def hear(data: dict[str, Any]) -> dict[str, Any]:
        rehearsals.append(data.get("rehearsal", False))
        return {**STOP, "replies": [reply("Never sent.")]}

    plugins_of(world).handlers["acme/a"] = hear
    rerun = await world.core.reruns.start(run, RerunOptions())
    await until(lambda: world.rows(RUNS, run_id=rerun["run_id"])[0]["finished_at"])
    assert (rehearsals, shown(world)) == ([True], ["Wait.", "changed"])
    [asked] = [loads(row["data"]) for row in world.rows(RUN_EVENTS, run_id=rerun["run_id"], type="hook.asked")]
    assert asked["replies"] == ["Never sent."]
    assert len(world.plugins.runs) == 1


async def _next_run(world: World, count: int) -> Any:
    await until(lambda: len(world.plugins.runs) >= count)
    return world.plugins.runs[count - 1]
