"""Events of the Host for listeners: sent replies, used commands, decisions, and prompts."""

import asyncio
from typing import Any

import pytest

from parlour.core.config.routes import Route
from parlour.core.model.ports import PluginDisconnected
from parlour.core.plugin_hooks.components import ComponentRegistry
from parlour.core.store.tables import EVENTS, OUTCOMES
from parlour_sdk.protocol.platform_events import ApprovalDecided, CommandSent, MessageResponded

from ..approvals.approval_support import ASK, BOSS, Group
from ..support import DISCOVERY, PLUGIN, World, make_agent, slow_disk, until
from .listener_support import ListeningPlugins, granted, listener, open_world, plugins_of

PROMPT = {"name": "prompt", "label": {"en_US": "Prompt"}, "type": "prompt-editor"}
TO_AGENT = Route("*", "agent", {"agent_id": "agent"})


def with_listener(event: str, observe: bool = False) -> ComponentRegistry:
    components = ComponentRegistry()
    components.replace_plugin("acme/ear", "1", [listener(event, observe=observe)])
    return components


async def open_with_agent(components: ComponentRegistry) -> tuple[World, list[dict[str, Any]]]:
    world = await open_world(components, TO_AGENT)
    world.core.registry.replace_plugin(PLUGIN, "1", [DISCOVERY])
    events: list[dict[str, Any]] = []
    plugins_of(world).handlers["acme/ear"] = lambda data: events.append(data["event"])
    return world, events


async def test_sent_reply_is_announced_to_listeners() -> None:
    world, events = await open_with_agent(with_listener("message.responded"))
    await world.say("hi", surface="platform", data={"chat_type": "group", "chat_id": "7"})
    await world.rest()
    await until(lambda: bool(events) and not world.open_jobs())
    [event] = [MessageResponded.model_validate(each) for each in events]
    assert (event.chat_type, event.chat_id, event.run_id) == ("group", "7", world.plugins.runs[0].run_id)
    assert [each.text for each in event.message_chain] == ["hi"]  # type: ignore[union-attr]


async def test_reply_in_the_web_chat_is_announced_to_listeners() -> None:
    world, events = await open_with_agent(with_listener("message.*"))
    await world.say("hi")
    await world.rest()
    await until(lambda: bool(events) and not world.open_jobs())
    assert [each["type"] for each in events] == ["message.responded"]


async def test_event_without_listeners_is_not_stored() -> None:
    world, events = await open_with_agent(with_listener("group.*"))
    await world.say("hi", surface="platform")
    await world.say("/new", surface="platform")
    await world.rest()
    assert {row["event_type"] for row in world.rows(EVENTS)} == {"message.received"}
    assert events == []


async def test_command_to_the_host_is_announced_to_listeners() -> None:
    world, events = await open_with_agent(with_listener("command.sent"))
    await world.say("/new", surface="platform")
    await until(lambda: bool(events) and not world.open_jobs())
    [event] = [CommandSent.model_validate(each) for each in events]
    assert (event.command, event.arguments, event.user.id) == ("new", [], "ann")


async def test_event_is_delivered_again_after_a_plugin_crash() -> None:
    world, events = await open_with_agent(with_listener("message.responded"))
    failures = [PluginDisconnected("it crashed")]

    def hear(data: dict[str, Any]) -> Any:
        return failures.pop() if failures else events.append(data["event"])

    plugins_of(world).handlers["acme/ear"] = hear
    await world.say("hi", surface="platform")
    await world.rest()
    await until(lambda: bool(events) and not world.open_jobs())
    assert len(plugins_of(world).received) == 2


async def test_handled_event_is_not_delivered_again_to_observers() -> None:
    components = with_listener("*", observe=True)
    components.replace_plugin("acme/slow", "1", [listener("message.received")])
    world = await open_world(components, Route("*", "plugin", {"plugins": []}))
    plugins, slow = plugins_of(world), asyncio.Event()
    plugins.handlers = {"acme/slow": lambda data: slow, "acme/ear": lambda data: None}
    await world.say("one", surface="platform", event_id="e1")
    await world.say("/new", surface="webui", event_id="c1")
    await until(lambda: "acme/ear" in plugins.plugin_ids())
    slow.set()
    await world.rest()
    await until(lambda: not world.open_jobs())
    assert sorted(event for plugin_id, event, _ in plugins.received if plugin_id == "acme/ear") == [
        "c1",
        "command:2",
        "e1",
    ]


async def test_observing_plugin_that_crashes_in_a_handler_is_called_again_soon() -> None:
    components = ComponentRegistry()
    components.replace_plugin("acme/ear", "1", [listener("*", observe=True), listener("message.received")])
    world = await open_world(components, Route("*", "plugin", {"plugins": []}))
    failures = [PluginDisconnected("it crashed")]
    plugins_of(world).handlers["acme/ear"] = lambda data: failures.pop() if failures else None
    await world.say("one", surface="platform", event_id="e1")
    await world.rest()
    started = asyncio.get_running_loop().time()
    await until(lambda: not world.open_jobs())
    assert plugins_of(world).received == [("acme/ear", "e1", False)] * 2
    assert asyncio.get_running_loop().time() - started < 30


async def test_decision_is_announced_to_listeners() -> None:
    group = await Group.open(
        {"*": ASK}, ports={"components": with_listener("approval.decided"), "plugin_grants": granted}
    )
    events: list[dict[str, Any]] = []
    listening_plugins = ListeningPlugins()
    listening_plugins.handlers["acme/ear"] = lambda data: events.append(data["event"])
    group.world.plugins.call = listening_plugins.call  # type: ignore[method-assign]
    await group.ask(await group.run(), "member.kick", {"user_id": "eve"})
    await group.say(f"deny {group.keyword} no", BOSS)
    await group.calm()
    [event] = [ApprovalDecided.model_validate(each) for each in events]
    assert (event.decision, event.decided_by, event.reason) == ("deny", "user:boss", "no")


ADDED = {"prompt_additions": [{"role": "system", "text": "Be brief."}]}
PROMPTED = {**DISCOVERY, "manifest": {**DISCOVERY["manifest"], "config_schema": [PROMPT]}}  # type: ignore[dict-item]


async def prompt_after_hooks(answers: dict[str, Any], prompt: Any = "You are kind.") -> Any:
    """Returns the prompt of a run after these plugins were called in order."""
    components = ComponentRegistry()
    for priority, plugin_id in enumerate(reversed(answers)):
        components.replace_plugin(plugin_id, "1", [listener("prompt.preparing", priority)])
    world = await open_world(components)
    await world.core.agents.replace(make_agent(runner_config={"prompt": prompt}))
    world.core.registry.replace_plugin(PLUGIN, "1", [PROMPTED])
    for plugin_id, answer in answers.items():
        plugins_of(world).handlers[plugin_id] = lambda data, answer=answer: answer  # type: ignore[misc]
    await world.say("hi")
    await world.rest()
    [run] = world.plugins.runs
    return run.context["config"]["prompt"]


async def test_prompt_hooks_are_called_after_the_run_is_durable(monkeypatch: pytest.MonkeyPatch) -> None:
    components, done = ComponentRegistry(), list[str]()
    components.replace_plugin("acme/ear", "1", [listener("prompt.preparing")])
    world = await open_world(components)
    world.core.registry.replace_plugin(PLUGIN, "1", [PROMPTED])
    plugins_of(world).handlers["acme/ear"] = lambda data: done.append("asked")
    slow_disk(world, monkeypatch, done)
    await world.say("hi")
    await world.rest()
    assert done[:3] == ["event.begin", "event.begin is durable", "asked"]


async def test_run_can_be_stopped_during_its_prompt_hooks() -> None:
    components, answered = ComponentRegistry(), asyncio.Event()
    components.replace_plugin("acme/ear", "1", [listener("prompt.preparing")])
    world = await open_world(components)
    world.core.registry.replace_plugin(PLUGIN, "1", [PROMPTED])
    plugins_of(world).handlers["acme/ear"] = lambda data: answered
    await world.say("hi")
    await until(lambda: bool(plugins_of(world).received))
    stopping = asyncio.create_task(world.say("/stop"))
    await until(lambda: any(session.stopping for session in world.core.sessions.all()))
    answered.set()
    await stopping
    await world.rest()
    assert sorted(row["outcome"] for row in world.rows(OUTCOMES)) == ["cancelled", "control"]
    assert world.plugins.runs == []


async def test_prompt_hooks_add_text_in_their_order() -> None:
    later = {"prompt_additions": [{"text": "Be right."}]}
    assert await prompt_after_hooks({"acme/a": ADDED, "acme/b": later}) == "You are kind.\n\nBe brief.\n\nBe right."


async def test_prompt_messages_are_kept() -> None:
    prompt = [{"role": "system", "content": "You are kind."}]
    assert await prompt_after_hooks({"acme/a": ADDED}, prompt) == [*prompt, {"role": "system", "content": "Be brief."}]


async def test_addition_with_user_role_turns_the_prompt_into_messages() -> None:
    added = {"prompt_additions": [{"role": "user", "text": "I like cats."}]}
    assert await prompt_after_hooks({"acme/a": added}) == [
        {"role": "system", "content": "You are kind."},
        {"role": "user", "content": "I like cats."},
    ]


async def test_prompt_is_replaced_and_the_next_plugin_adds_to_it() -> None:
    replaced = {"prompt": [{"role": "system", "content": "You are a pirate."}, {"role": "user", "content": "Ahoy!"}]}
    assert await prompt_after_hooks({"acme/a": replaced, "acme/b": ADDED}) == [
        {"role": "system", "content": "You are a pirate."},
        {"role": "user", "content": "Ahoy!"},
        {"role": "system", "content": "Be brief."},
    ]


async def test_prompt_of_a_plugin_that_is_too_large_is_not_used() -> None:
    huge = {"prompt": [{"role": "system", "content": "x" * 300_000}]}
    assert await prompt_after_hooks({"acme/a": huge}) == "You are kind."


async def test_failed_or_slow_prompt_hook_adds_nothing() -> None:
    answers = {"acme/a": PluginDisconnected("it crashed"), "acme/b": asyncio.Event(), "acme/c": ADDED}
    assert await prompt_after_hooks(answers) == "You are kind.\n\nBe brief."


async def test_prompt_hook_that_stops_propagation_is_the_last() -> None:
    assert await prompt_after_hooks({"acme/a": {"stop_propagation": True}, "acme/b": ADDED}) == "You are kind."


async def test_a_prompt_hook_removes_a_variable_by_null() -> None:
    components, seen = ComponentRegistry(), list[dict[str, Any]]()
    answers = [{"variables": {"mood": "kind", "tone": "calm"}}, {"variables": {"mood": None}}, {}]
    for priority, plugin_id in enumerate(("acme/c", "acme/b", "acme/a")):
        components.replace_plugin(plugin_id, "1", [listener("prompt.preparing", priority)])
    world = await open_world(components)
    world.core.registry.replace_plugin(PLUGIN, "1", [PROMPTED])

    def hear(data: dict[str, Any]) -> dict[str, Any]:
        seen.append(data["variables"])
        return answers[len(seen) - 1]

    plugins_of(world).handlers |= dict.fromkeys(("acme/a", "acme/b", "acme/c"), hear)
    await world.say("hi")
    await world.rest()
    assert seen == [{}, {"mood": "kind", "tone": "calm"}, {"tone": "calm"}]
