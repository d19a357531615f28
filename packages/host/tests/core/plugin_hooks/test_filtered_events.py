"""The event `message.filtered`: listeners are told what a message policy ended or changed, and never the text."""

from typing import Any

import pytest

from parlour.core.config.routes import Route
from parlour.core.encoding import dumps
from parlour.core.plugin_hooks.components import ComponentRegistry
from parlour.core.store.tables import EVENTS
from parlour_sdk.protocol.manifest import PluginPermissions
from parlour_sdk.protocol.platform_events import MessageFiltered

from ..support import DISCOVERY, PLUGIN, BreakableJournal, CountedIds, PlatformSurface, World, make_agent, until
from .listener_support import ListeningPlugins, listener

EAR, FILTERED = "acme/ear", "message.filtered"


async def open_world(
    policy: dict[str, Any], pattern: str = FILTERED, granted: tuple[str, ...] = (FILTERED,)
) -> tuple[World, list[MessageFiltered]]:
    components, plugins, heard = ComponentRegistry(), ListeningPlugins(True), list[MessageFiltered]()
    components.replace_plugin(EAR, "1", [listener(pattern, observe=True)])
    plugins.handlers[EAR] = lambda data: heard.append(MessageFiltered.model_validate(data["event"]))
    world = World(
        BreakableJournal(),
        plugins,
        PlatformSurface(),
        CountedIds(),
        components=components,
        plugin_grants=lambda plugin_id: PluginPermissions(events=list(granted)),
    )
    world.core.registry.replace_plugin(PLUGIN, "1", [DISCOVERY])
    await world.core.agents.add(make_agent(message_policy=policy))
    await world.core.routes.replace("bot", [Route("message.received", "agent", {"agent_id": "agent"})])
    await world.core.recover()
    return world, heard


async def say(world: World, *texts: str, **fields: Any) -> None:
    for number, text in enumerate(texts):
        data = {"chat_type": "group", "chat_id": "7"}
        await world.say(text, event_id=f"e{number}", surface="platform", data=data, **fields)
        await world.rest()
    await until(lambda: not world.open_jobs())


WORDS = {"use": "words", "config": {"words": ["rude"]}}


@pytest.mark.parametrize(
    ("policy", "told"),
    [
        ({"wake": {"groups": {}}}, ("wake", "dropped", ["wake.groups"])),
        ({"wake": {"ignore": {"prefixes": ["a"]}}}, ("wake", "dropped", ["wake.ignore.prefixes"])),
        ({"wake": {"access": {"entries": ["group:7"]}}}, ("wake", "dropped", ["wake.access"])),
        ({"filters": {"input": [WORDS]}}, ("admit", "refused", ["filters.input.0"])),
        (
            {"filters": {"input": [{**WORDS, "on": "flag"}, {**WORDS, "on": "mask"}]}},
            ("admit", "masked", ["filters.input.0", "filters.input.1"]),
        ),
        ({"filters": {"input": [{**WORDS, "on": "flag"}]}}, ("admit", "flagged", ["filters.input.0"])),
        ({"filters": {"output": [WORDS]}}, ("finish", "masked", ["filters.output.0"])),
        ({"filters": {"output": [{**WORDS, "on": "block"}]}}, ("finish", "withheld", ["filters.output.0"])),
    ],
)
async def test_listener_is_told_which_rule_decided(policy: dict[str, Any], told: tuple[str, str, list[str]]) -> None:
    world, heard = await open_world(policy)
    await say(world, "a rude word")
    [event] = heard
    assert (event.checkpoint, event.verdict, event.rules) == told
    assert (event.source_event_id, event.chat_type, event.chat_id) == ("e0", "group", "7")
    assert event.run_id == (world.plugins.runs[0].run_id if event.checkpoint == "finish" else None)
    assert "rude" not in dumps(event.model_dump(mode="json"))


async def test_limited_message_is_told_once() -> None:
    world, heard = await open_world({"limits": [{"count": 9}, {"count": 1, "window": "day"}]})
    await say(world, "one", "two")
    await say(world, "one", "two")  # a redelivery decides nothing
    assert [(each.verdict, each.rules, each.source_event_id) for each in heard] == [("limited", ["limits.1"], "e1")]
    assert heard[0].reason == "message policy: 1 messages per sender and day were answered"


async def test_message_that_joins_a_run_is_told() -> None:
    world, heard = await open_world({"filters": {"input": [{**WORDS, "on": "mask"}]}})
    world.plugins.echo = False
    await world.say("first", surface="platform", event_id="e1")
    await until(lambda: bool(world.plugins.runs))
    await world.say("a rude word", surface="platform", event_id="e2")
    await until(lambda: bool(heard))
    [run] = world.plugins.runs
    pulled = await world.call(run, "steering_pull")
    assert [each["input"]["text"] for each in pulled["items"]] == ["a **** word"]
    assert [(each.verdict, each.source_event_id) for each in heard] == [("masked", "e2")]


async def test_message_that_is_collected_is_told() -> None:
    world, heard = await open_world({"gather": {"seconds": 1}, "filters": {"input": [{**WORDS, "on": "mask"}]}})
    await world.say("first", surface="platform", event_id="e1")
    await world.say("a rude word", surface="platform", event_id="e2")
    await world.rest()
    await until(lambda: bool(heard))
    assert [(each.verdict, each.source_event_id) for each in heard] == [("masked", "e2")]


@pytest.mark.parametrize(("pattern", "granted"), [("*", (FILTERED,)), ("message.*", ("*",)), (FILTERED, ("*",))])
async def test_plugin_that_does_not_name_the_event_is_not_told(pattern: str, granted: tuple[str, ...]) -> None:
    world, heard = await open_world({"filters": {"input": [WORDS]}}, pattern, granted)
    world.plugins.handlers = {EAR: lambda data: None}  # type: ignore[attr-defined]
    await say(world, "a rude word")
    assert FILTERED not in {row["event_type"] for row in world.rows(EVENTS)}
    assert heard == []


async def test_message_without_a_finding_is_not_told() -> None:
    policy = {"wake": {"groups": {"keywords": ["word"]}}, "filters": {"input": [WORDS], "output": [WORDS]}}
    world, heard = await open_world(policy)
    await say(world, "a kind word")
    assert heard == []
