"""What the Host itself tells listeners: replies that went out, commands that were used, decisions that were made."""

import asyncio
from typing import Any

import pytest

from parlour.core.config.routes import Route
from parlour.core.model.ports import PluginDisconnected
from parlour.core.plugin_hooks.components import ComponentRegistry
from parlour.core.store.tables import EVENTS, LISTENER_DELIVERIES, OUTCOMES
from parlour_sdk.protocol.platform_events import ApprovalDecided, CommandSent, MessageResponded

from ..approvals.support import ASK, BOSS, Group
from ..support import DISCOVERY, PLUGIN, World, make_agent, slow_disk, until
from .listening_support import ListeningPlugins, granted, listener, listening, opened

PROMPT = {"name": "prompt", "label": {"en_US": "Prompt"}, "type": "prompt-editor"}
TO_AGENT = Route("*", "agent", {"agent_id": "agent"})


def who_listens(event: str, observe: bool = False) -> ComponentRegistry:
    components = ComponentRegistry()
    components.replace_plugin("acme/ear", "1", [listener(event, observe=observe)])
    return components


async def answering(components: ComponentRegistry) -> tuple[World, list[dict[str, Any]]]:
    world = await opened(components, TO_AGENT)
    world.core.registry.replace_plugin(PLUGIN, "1", [DISCOVERY])
    heard: list[dict[str, Any]] = []
    listening(world).hear["acme/ear"] = lambda data: heard.append(data["event"])
    return world, heard


async def test_a_reply_that_went_out_is_told() -> None:
    world, heard = await answering(who_listens("message.responded"))
    await world.say("hi", surface="platform", data={"chat_type": "group", "chat_id": "7"})
    await world.rest()
    await until(lambda: bool(heard) and not world.rows(LISTENER_DELIVERIES))
    [event] = [MessageResponded.model_validate(each) for each in heard]
    assert (event.chat_type, event.chat_id, event.run_id) == ("group", "7", world.plugins.runs[0].run_id)
    assert [each.text for each in event.message_chain] == ["hi"]  # type: ignore[union-attr]


async def test_a_reply_in_the_web_chat_is_told_too() -> None:
    world, heard = await answering(who_listens("message.*"))
    await world.say("hi")
    await world.rest()
    await until(lambda: bool(heard) and not world.rows(LISTENER_DELIVERIES))
    assert [each["type"] for each in heard] == ["message.responded"]


async def test_where_nobody_listens_no_event_is_kept() -> None:
    world, heard = await answering(who_listens("group.*"))
    await world.say("hi", surface="platform")
    await world.say("/new", surface="platform")
    await world.rest()
    assert {row["event_type"] for row in world.rows(EVENTS)} == {"message.received"}
    assert heard == []


async def test_a_command_to_the_host_is_told() -> None:
    world, heard = await answering(who_listens("command.sent"))
    await world.say("/new", surface="platform")
    await until(lambda: bool(heard) and not world.rows(LISTENER_DELIVERIES))
    [event] = [CommandSent.model_validate(each) for each in heard]
    assert (event.command, event.arguments, event.user.id) == ("new", [], "ann")


async def test_a_plugin_that_dies_over_it_is_told_again() -> None:
    world, heard = await answering(who_listens("message.responded"))
    trouble = [PluginDisconnected("it crashed")]

    def hear(data: dict[str, Any]) -> Any:
        return trouble.pop() if trouble else heard.append(data["event"])

    listening(world).hear["acme/ear"] = hear
    await world.say("hi", surface="platform")
    await world.rest()
    await until(lambda: bool(heard) and not world.rows(LISTENER_DELIVERIES))
    assert len(listening(world).heard) == 2


async def test_what_listeners_are_about_to_handle_is_not_told_twice() -> None:
    components = who_listens("*", observe=True)
    components.replace_plugin("acme/slow", "1", [listener("message.received")])
    world = await opened(components, Route("*", "plugin", {"plugins": []}))
    plugins, slow = listening(world), asyncio.Event()
    plugins.hear = {"acme/slow": lambda data: slow, "acme/ear": lambda data: None}
    await world.say("one", surface="platform", event_id="e1")
    await world.say("/new", surface="webui", event_id="c1")
    await until(lambda: "acme/ear" in plugins.who())
    slow.set()
    await world.rest()
    await until(lambda: not world.rows(LISTENER_DELIVERIES))
    assert sorted(event for plugin_id, event, _ in plugins.heard if plugin_id == "acme/ear") == [
        "c1",
        "command:2",
        "e1",
    ]


async def test_a_plugin_that_looks_on_and_dies_over_what_it_handles_is_told_soon_again() -> None:
    components = ComponentRegistry()
    components.replace_plugin("acme/ear", "1", [listener("*", observe=True), listener("message.received")])
    world = await opened(components, Route("*", "plugin", {"plugins": []}))
    trouble = [PluginDisconnected("it crashed")]
    listening(world).hear["acme/ear"] = lambda data: trouble.pop() if trouble else None
    await world.say("one", surface="platform", event_id="e1")
    await world.rest()
    begun = asyncio.get_running_loop().time()
    await until(lambda: not world.rows(LISTENER_DELIVERIES))
    assert listening(world).heard == [("acme/ear", "e1", False)] * 2
    assert asyncio.get_running_loop().time() - begun < 30


async def test_a_decision_is_told() -> None:
    group = await Group.open(
        {"*": ASK}, ports={"components": who_listens("approval.decided"), "plugin_grants": granted}
    )
    heard: list[dict[str, Any]] = []
    ears = ListeningPlugins()
    ears.hear["acme/ear"] = lambda data: heard.append(data["event"])
    group.world.plugins.call = ears.call  # type: ignore[method-assign]
    await group.ask(await group.run(), "member.kick", {"user_id": "eve"})
    await group.say(f"deny {group.keyword} no", BOSS)
    await group.calm()
    [event] = [ApprovalDecided.model_validate(each) for each in heard]
    assert (event.decision, event.decided_by, event.reason) == ("deny", "user:boss", "no")


ADDED = {"prompt_additions": [{"role": "system", "text": "Be brief."}]}
PROMPTED = {**DISCOVERY, "manifest": {**DISCOVERY["manifest"], "config_schema": [PROMPT]}}  # type: ignore[dict-item]


async def prompted(answers: dict[str, Any], prompt: Any = "You are kind.") -> Any:
    """What a run is configured with after these plugins were asked, in this order."""
    components = ComponentRegistry()
    for priority, plugin_id in enumerate(reversed(answers)):
        components.replace_plugin(plugin_id, "1", [listener("prompt.preparing", priority)])
    world = await opened(components)
    await world.core.agents.replace(make_agent(runner_config={"prompt": prompt}))
    world.core.registry.replace_plugin(PLUGIN, "1", [PROMPTED])
    for plugin_id, answer in answers.items():
        listening(world).hear[plugin_id] = lambda data, answer=answer: answer  # type: ignore[misc]
    await world.say("hi")
    await world.rest()
    [run] = world.plugins.runs
    return run.context["config"]["prompt"]


async def test_nobody_is_asked_about_a_prompt_before_its_run_is_durable(monkeypatch: pytest.MonkeyPatch) -> None:
    components, done = ComponentRegistry(), list[str]()
    components.replace_plugin("acme/ear", "1", [listener("prompt.preparing")])
    world = await opened(components)
    world.core.registry.replace_plugin(PLUGIN, "1", [PROMPTED])
    listening(world).hear["acme/ear"] = lambda data: done.append("asked")
    slow_disk(world, monkeypatch, done)
    await world.say("hi")
    await world.rest()
    assert done[:3] == ["event.begin", "event.begin is durable", "asked"]


async def test_a_run_whose_prompt_is_being_prepared_can_be_stopped() -> None:
    components, going_on = ComponentRegistry(), asyncio.Event()
    components.replace_plugin("acme/ear", "1", [listener("prompt.preparing")])
    world = await opened(components)
    world.core.registry.replace_plugin(PLUGIN, "1", [PROMPTED])
    listening(world).hear["acme/ear"] = lambda data: going_on
    await world.say("hi")
    await until(lambda: bool(listening(world).heard))
    stopping = asyncio.create_task(world.say("/stop"))
    await until(lambda: any(session.stopping for session in world.core.sessions.all()))
    going_on.set()
    await stopping
    await world.rest()
    assert sorted(row["outcome"] for row in world.rows(OUTCOMES)) == ["cancelled", "control"]
    assert world.plugins.runs == []


async def test_listeners_add_to_a_prompt_in_their_order() -> None:
    later = {"prompt_additions": [{"text": "Be right."}]}
    assert await prompted({"acme/a": ADDED, "acme/b": later}) == "You are kind.\n\nBe brief.\n\nBe right."


async def test_a_prompt_of_several_messages_keeps_them() -> None:
    prompt = [{"role": "system", "content": "You are kind."}]
    assert await prompted({"acme/a": ADDED}, prompt) == [*prompt, {"role": "system", "content": "Be brief."}]


async def test_what_is_not_the_systems_to_say_makes_messages_of_a_prompt() -> None:
    added = {"prompt_additions": [{"role": "user", "text": "I like cats."}]}
    assert await prompted({"acme/a": added}) == [
        {"role": "system", "content": "You are kind."},
        {"role": "user", "content": "I like cats."},
    ]


async def test_who_fails_or_takes_too_long_adds_nothing_and_stops_nobody() -> None:
    answers = {"acme/a": PluginDisconnected("it crashed"), "acme/b": asyncio.Event(), "acme/c": ADDED}
    assert await prompted(answers) == "You are kind.\n\nBe brief."


async def test_who_stops_it_is_the_last_to_be_asked() -> None:
    assert await prompted({"acme/a": {"stop_propagation": True}, "acme/b": ADDED}) == "You are kind."
