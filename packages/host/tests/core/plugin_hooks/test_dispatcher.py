"""Listeners of plugins: called by priority, at least once, and isolated from each other and from runs."""

import asyncio
from typing import Any

import pytest

from parlour.core.config.routes import Route
from parlour.core.model.ports import PluginCallFailed, PluginDisconnected
from parlour.core.plugin_hooks.components import ComponentRegistry
from parlour.core.store.tables import INBOX, OUTCOMES, TRAIL

from ..support import DISCOVERY, PLUGIN, World, until
from .listener_support import listener, open_world, plugins_of

TO_PLUGINS = Route("*", "plugin", {"plugins": []})
TO_AGENT = Route("*", "agent", {"agent_id": "agent"})


def three_plugins() -> ComponentRegistry:
    components = ComponentRegistry()
    components.replace_plugin("acme/low", "1", [listener(priority=1)])
    components.replace_plugin("acme/high", "1", [listener(priority=9)])
    components.replace_plugin("acme/seer", "1", [listener(observe=True, priority=99)])
    return components


async def send_event(world: World, **fields: Any) -> int:
    accepted = await world.say("hi", surface="platform", **fields)
    await world.rest()
    return accepted.seq


def outcome(world: World, seq: int) -> tuple[str, str]:
    [row] = world.rows(OUTCOMES, event_seq=seq)
    return row["outcome"], row["reason"]


def answer_all(world: World, *plugins: str) -> None:
    for plugin_id in plugins or ("acme/low", "acme/high", "acme/seer"):
        plugins_of(world).handlers[plugin_id] = lambda data: None


async def test_listeners_are_called_by_priority_and_observers_last() -> None:
    world = await open_world(three_plugins(), TO_PLUGINS)
    answer_all(world)
    seq = await send_event(world, event_id="e1")
    assert plugins_of(world).received == [
        ("acme/high", "e1", False),
        ("acme/low", "e1", False),
        ("acme/seer", "e1", False),
    ]
    assert outcome(world, seq)[0] == "handled"
    assert world.open_jobs() == world.rows(INBOX) == []


async def test_stopped_event_reaches_only_observers() -> None:
    world = await open_world(three_plugins(), TO_PLUGINS)
    answer_all(world)
    plugins_of(world).handlers["acme/high"] = lambda data: {"handled": True, "stop_propagation": True}
    seq = await send_event(world, event_id="e1")
    assert plugins_of(world).received == [("acme/high", "e1", False), ("acme/seer", "e1", True)]
    assert "acme/high let nobody else have it" in outcome(world, seq)[1]


async def test_variables_of_a_listener_reach_the_next_one() -> None:
    world = await open_world(three_plugins(), TO_PLUGINS)
    answer_all(world)
    seen: list[dict[str, Any]] = []
    plugins_of(world).handlers["acme/high"] = lambda data: {"handled": True, "variables": {"a": 1, "b": 2}}
    plugins_of(world).handlers["acme/low"] = lambda data: seen.append(data["variables"])
    await send_event(world)
    assert seen == [{"a": 1, "b": 2}]


async def test_route_can_name_the_plugins() -> None:
    world = await open_world(three_plugins(), Route("*", "plugin", {"plugins": ["acme/low"]}))
    answer_all(world)
    await send_event(world)
    assert plugins_of(world).plugin_ids()[0] == "acme/low"
    assert "acme/high" not in plugins_of(world).plugin_ids()


@pytest.mark.parametrize(
    ("plugins", "reason"), [(["acme/gone", "acme/away"], "of acme/gone, acme/away none"), ([], "no plugin")]
)
async def test_route_without_listening_plugins_is_explained(plugins: list[str], reason: str) -> None:
    world = await open_world(ComponentRegistry(), Route("*", "plugin", {"plugins": plugins}))
    undelivered = await send_event(world)
    assert outcome(world, undelivered) == ("dropped", f"route '*', and {reason} listens to it")


async def test_event_without_a_route_reaches_listeners_of_its_type() -> None:
    components = ComponentRegistry()
    components.replace_plugin("acme/groups", "1", [listener("group.*")])
    components.replace_plugin("acme/recalls", "1", [listener("message.recalled")])
    world = await open_world(components)
    answer_all(world, "acme/groups", "acme/recalls")
    await send_event(world, event_type="group.member_joined")
    deleted = await send_event(world, event_type="message.deleted")
    untaken = await send_event(world, event_type="friend.added")
    assert plugins_of(world).plugin_ids() == ["acme/groups", "acme/recalls"]
    assert outcome(world, deleted)[0] == "handled"
    assert outcome(world, untaken) == ("dropped", "no route takes friend.added")


async def test_plugin_receives_only_permitted_events() -> None:
    components = ComponentRegistry()
    components.replace_plugin("acme/curbed", "1", [listener(), listener(observe=True)])
    world = await open_world(components, Route("message.*", "drop"))
    answer_all(world, "acme/curbed")
    await send_event(world, event_id="e1")
    undelivered = await send_event(world, event_id="e2", event_type="friend.added")
    await until(lambda: not world.open_jobs())
    assert plugins_of(world).received == [("acme/curbed", "e1", True)]
    assert outcome(world, undelivered)[0] == "dropped"


async def test_observers_receive_an_answered_event_without_delaying_it() -> None:
    world = await open_world(three_plugins(), TO_AGENT)
    world.core.registry.replace_plugin(PLUGIN, "1", [DISCOVERY])
    plugins_of(world).handlers["acme/seer"] = lambda data: None
    seq = await send_event(world, event_id="e1")
    assert outcome(world, seq)[0] == "answered"
    await until(lambda: not world.open_jobs())
    assert [each for each in plugins_of(world).received if each[1] == "e1"] == [("acme/seer", "e1", True)]


async def test_observers_outside_the_route_receive_the_event_at_once() -> None:
    world = await open_world(three_plugins(), Route("*", "plugin", {"plugins": ["acme/low"]}))
    answer_all(world)
    started = asyncio.get_running_loop().time()
    await send_event(world, event_id="e1")
    await until(lambda: not world.open_jobs())
    assert sorted(plugins_of(world).received) == [("acme/low", "e1", False), ("acme/seer", "e1", True)]
    assert asyncio.get_running_loop().time() - started < 1


async def test_failed_listener_does_not_affect_others_and_is_in_the_trail() -> None:
    world = await open_world(three_plugins(), TO_PLUGINS)
    answer_all(world)
    plugins_of(world).handlers["acme/high"] = lambda data: PluginCallFailed(
        "deadline_exceeded", "it took longer than 30 s"
    )
    plugins_of(world).handlers["acme/low"] = lambda data: {"handled": True, "failed": ["l.meddle"]}
    seq = await send_event(world)
    assert plugins_of(world).plugin_ids() == ["acme/high", "acme/low", "acme/seer"]
    [note] = world.rows(TRAIL, event_seq=seq)
    assert "acme/high failed: it took longer than 30 s" in note["data"]
    assert "l.meddle failed" in note["data"]


async def test_unavailable_plugin_receives_all_events_in_order_later() -> None:
    world = await open_world(three_plugins(), TO_PLUGINS)
    answer_all(world, "acme/low", "acme/seer")
    for number in range(3):
        await send_event(world, event_id=f"e{number}")
    assert [row["order_key"] for row in world.open_jobs()] == ["acme/high"] * 3
    await asyncio.sleep(100)
    answer_all(world)
    await until(lambda: not world.open_jobs())
    high = [event_id for plugin_id, event_id, _ in plugins_of(world).received if plugin_id == "acme/high"]
    assert high == ["e0", "e1", "e2"]


async def test_delivery_to_a_missing_plugin_is_given_up_after_an_hour() -> None:
    world = await open_world(three_plugins(), TO_PLUGINS)
    answer_all(world, "acme/low", "acme/seer")
    seq = await send_event(world)
    await asyncio.sleep(3700)
    assert world.open_jobs() == []
    assert any("acme/high listens to such events" in row["data"] for row in world.rows(TRAIL, event_seq=seq))


async def test_event_that_crashes_its_plugin_is_delivered_three_times() -> None:
    world = await open_world(three_plugins(), TO_PLUGINS)
    answer_all(world)
    plugins_of(world).handlers["acme/high"] = lambda data: PluginDisconnected("its process is gone")
    await send_event(world)
    await asyncio.sleep(1000)
    assert plugins_of(world).plugin_ids().count("acme/high") == 3
    assert world.open_jobs() == []


async def test_crash_of_the_host_repeats_unrecorded_deliveries() -> None:
    world = await open_world(three_plugins(), TO_PLUGINS)
    answer_all(world)
    plugins_of(world).handlers["acme/low"] = lambda data: asyncio.Event()
    await world.say("hi", surface="platform", event_id="e1")
    await until(lambda: plugins_of(world).plugin_ids() == ["acme/high", "acme/low"])
    world.die()
    again = await open_world(three_plugins(), journal=type(world.journal)(world.journal.database))
    answer_all(again)
    await again.rest()
    assert plugins_of(again).plugin_ids() == ["acme/high", "acme/low", "acme/seer"]
    assert again.rows(INBOX) == again.open_jobs() == []


async def crash_during_delivery(world: World) -> World:
    plugins_of(world).handlers["acme/high"] = lambda data: asyncio.Event()
    await until(lambda: plugins_of(world).plugin_ids() == ["acme/high"])
    world.die()
    return await open_world(three_plugins(), journal=type(world.journal)(world.journal.database))


async def test_event_that_crashes_the_host_twice_is_quarantined() -> None:
    world = await open_world(three_plugins(), TO_PLUGINS)
    plugins_of(world).handlers["acme/high"] = lambda data: asyncio.Event()
    await world.say("hi", surface="platform", event_id="e1")
    world = await crash_during_delivery(await crash_during_delivery(world))
    answer_all(world)
    await world.rest()
    assert plugins_of(world).received == []
    assert outcome(world, 1)[0] == "quarantined"


async def test_pending_observer_delivery_survives_a_restart() -> None:
    world = await open_world(three_plugins(), TO_AGENT)
    world.core.registry.replace_plugin(PLUGIN, "1", [DISCOVERY])
    await world.say("hi", surface="platform", event_id="e1")
    world.die()
    again = await open_world(three_plugins(), journal=type(world.journal)(world.journal.database))
    plugins_of(again).handlers["acme/seer"] = lambda data: None
    await until(lambda: not again.open_jobs())
    assert plugins_of(again).received == [("acme/seer", "e1", True)]


async def test_observers_receive_commands_to_the_host() -> None:
    world = await open_world(three_plugins(), TO_AGENT)
    plugins_of(world).handlers["acme/seer"] = lambda data: None
    accepted = await world.say("/new", surface="platform", event_id="e1")
    assert outcome(world, accepted.seq)[0] == "control"
    await until(lambda: not world.open_jobs())
    assert [each for each in plugins_of(world).received if each[1] == "e1"] == [("acme/seer", "e1", True)]


async def test_redelivered_event_is_delivered_once() -> None:
    world = await open_world(three_plugins(), TO_AGENT)
    plugins_of(world).handlers["acme/seer"] = lambda data: None
    for _ in range(3):
        await send_event(world, event_id="e1")
    await until(lambda: not world.open_jobs())
    assert len(plugins_of(world).received) == 1


@pytest.mark.parametrize("answer", [{"handled": "perhaps", "strange": 1}, {"variables": []}])
async def test_invalid_answer_is_a_failure_of_the_plugin(answer: dict[str, Any]) -> None:
    world = await open_world(three_plugins(), TO_PLUGINS)
    answer_all(world)
    plugins_of(world).handlers["acme/high"] = lambda data: answer
    seq = await send_event(world)
    assert outcome(world, seq)[0] == "handled"
    assert "can't be read" in world.rows(TRAIL, event_seq=seq)[0]["data"]
