"""Plugins' listeners: by priority, each at least once whatever happens, and without harm to each other or to runs."""

import asyncio
from typing import Any

import pytest

from parlour.core.config.routes import Route
from parlour.core.model.ports import PluginCallFailed, PluginDisconnected
from parlour.core.plugin_hooks.components import ComponentRegistry
from parlour.core.store.tables import INBOX, LISTENER_DELIVERIES, OUTCOMES, TRAIL

from ..support import DISCOVERY, PLUGIN, World, until
from .listening_support import listener, listening, opened

TO_PLUGINS = Route("*", "plugin", {"plugins": []})
TO_AGENT = Route("*", "agent", {"agent_id": "agent"})


def three() -> ComponentRegistry:
    components = ComponentRegistry()
    components.replace_plugin("acme/low", "1", [listener(priority=1)])
    components.replace_plugin("acme/high", "1", [listener(priority=9)])
    components.replace_plugin("acme/seer", "1", [listener(observe=True, priority=99)])
    return components


async def said(world: World, **fields: Any) -> int:
    accepted = await world.say("hi", surface="platform", **fields)
    await world.rest()
    return accepted.seq


def outcome(world: World, seq: int) -> tuple[str, str]:
    [row] = world.rows(OUTCOMES, event_seq=seq)
    return row["outcome"], row["reason"]


def all_hear(world: World, *plugins: str) -> None:
    for plugin_id in plugins or ("acme/low", "acme/high", "acme/seer"):
        listening(world).hear[plugin_id] = lambda data: None


async def test_listeners_hear_an_event_by_priority_and_observers_last() -> None:
    world = await opened(three(), TO_PLUGINS)
    all_hear(world)
    seq = await said(world, event_id="e1")
    assert listening(world).heard == [("acme/high", "e1", False), ("acme/low", "e1", False), ("acme/seer", "e1", False)]
    assert outcome(world, seq)[0] == "handled"
    assert world.rows(LISTENER_DELIVERIES) == world.rows(INBOX) == []


async def test_who_stops_an_event_leaves_the_rest_only_to_look_on() -> None:
    world = await opened(three(), TO_PLUGINS)
    all_hear(world)
    listening(world).hear["acme/high"] = lambda data: {"handled": True, "stop_propagation": True}
    seq = await said(world, event_id="e1")
    assert listening(world).heard == [("acme/high", "e1", False), ("acme/seer", "e1", True)]
    assert "acme/high let nobody else have it" in outcome(world, seq)[1]


async def test_what_one_notes_down_the_next_can_read() -> None:
    world = await opened(three(), TO_PLUGINS)
    all_hear(world)
    seen: list[dict[str, Any]] = []
    listening(world).hear["acme/high"] = lambda data: {"handled": True, "variables": {"a": 1, "b": 2}}
    listening(world).hear["acme/low"] = lambda data: seen.append(data["variables"])
    await said(world)
    assert seen == [{"a": 1, "b": 2}]


async def test_a_route_can_name_the_plugins() -> None:
    world = await opened(three(), Route("*", "plugin", {"plugins": ["acme/low"]}))
    all_hear(world)
    await said(world)
    assert listening(world).who()[0] == "acme/low"
    assert "acme/high" not in listening(world).who()


@pytest.mark.parametrize(
    ("plugins", "told"), [(["acme/gone", "acme/away"], "of acme/gone, acme/away none"), ([], "no plugin")]
)
async def test_a_route_whose_plugins_do_not_listen_is_told_on_the_trail(plugins: list[str], told: str) -> None:
    world = await opened(ComponentRegistry(), Route("*", "plugin", {"plugins": plugins}))
    unheard = await said(world)
    assert outcome(world, unheard) == ("dropped", f"route '*', and {told} listens to it")


async def test_an_event_that_no_route_takes_goes_to_all_who_listen_to_its_type() -> None:
    components = ComponentRegistry()
    components.replace_plugin("acme/groups", "1", [listener("group.*")])
    components.replace_plugin("acme/recalls", "1", [listener("message.recalled")])
    world = await opened(components)
    all_hear(world, "acme/groups", "acme/recalls")
    await said(world, event_type="group.member_joined")
    deleted = await said(world, event_type="message.deleted")
    untaken = await said(world, event_type="friend.added")
    assert listening(world).who() == ["acme/groups", "acme/recalls"]
    assert outcome(world, deleted)[0] == "handled"
    assert outcome(world, untaken) == ("dropped", "no route takes friend.added")


async def test_a_plugin_hears_only_what_the_operator_lets_it_hear() -> None:
    components = ComponentRegistry()
    components.replace_plugin("acme/curbed", "1", [listener(), listener(observe=True)])
    world = await opened(components, Route("message.*", "drop"))
    all_hear(world, "acme/curbed")
    await said(world, event_id="e1")
    untold = await said(world, event_id="e2", event_type="friend.added")
    await until(lambda: not world.rows(LISTENER_DELIVERIES))
    assert listening(world).heard == [("acme/curbed", "e1", True)]
    assert outcome(world, untold)[0] == "dropped"


async def test_observers_see_what_an_agent_answers_and_do_not_delay_it() -> None:
    world = await opened(three(), TO_AGENT)
    world.core.registry.replace_plugin(PLUGIN, "1", [DISCOVERY])
    listening(world).hear["acme/seer"] = lambda data: None
    seq = await said(world, event_id="e1")
    assert outcome(world, seq)[0] == "answered"
    await until(lambda: not world.rows(LISTENER_DELIVERIES))
    assert [each for each in listening(world).heard if each[1] == "e1"] == [("acme/seer", "e1", True)]


async def test_observers_that_a_route_to_plugins_does_not_name_hear_of_it_at_once() -> None:
    world = await opened(three(), Route("*", "plugin", {"plugins": ["acme/low"]}))
    all_hear(world)
    begun = asyncio.get_running_loop().time()
    await said(world, event_id="e1")
    await until(lambda: not world.rows(LISTENER_DELIVERIES))
    assert sorted(listening(world).heard) == [("acme/low", "e1", False), ("acme/seer", "e1", True)]
    assert asyncio.get_running_loop().time() - begun < 1


async def test_a_failing_listener_harms_no_other_and_is_told_on_the_trail() -> None:
    world = await opened(three(), TO_PLUGINS)
    all_hear(world)
    listening(world).hear["acme/high"] = lambda data: PluginCallFailed("deadline_exceeded", "it took longer than 30 s")
    listening(world).hear["acme/low"] = lambda data: {"handled": True, "failed": ["l.meddle"]}
    seq = await said(world)
    assert listening(world).who() == ["acme/high", "acme/low", "acme/seer"]
    [note] = world.rows(TRAIL, event_seq=seq)
    assert "acme/high failed: it took longer than 30 s" in note["data"]
    assert "l.meddle failed" in note["data"]


async def test_a_plugin_that_was_away_hears_of_everything_in_order_when_it_is_back() -> None:
    world = await opened(three(), TO_PLUGINS)
    all_hear(world, "acme/low", "acme/seer")
    for number in range(3):
        await said(world, event_id=f"e{number}")
    assert [row["plugin_id"] for row in world.rows(LISTENER_DELIVERIES)] == ["acme/high"] * 3
    await asyncio.sleep(100)
    all_hear(world)
    await until(lambda: not world.rows(LISTENER_DELIVERIES))
    high = [event_id for plugin_id, event_id, _ in listening(world).heard if plugin_id == "acme/high"]
    assert high == ["e0", "e1", "e2"]


async def test_a_plugin_that_never_comes_back_is_given_up_after_an_hour_and_the_trail_says_so() -> None:
    world = await opened(three(), TO_PLUGINS)
    all_hear(world, "acme/low", "acme/seer")
    seq = await said(world)
    await asyncio.sleep(3700)
    assert world.rows(LISTENER_DELIVERIES) == []
    assert any("acme/high listens to such events" in row["data"] for row in world.rows(TRAIL, event_seq=seq))


async def test_an_event_that_a_plugin_dies_of_is_told_to_it_three_times_and_no_more() -> None:
    world = await opened(three(), TO_PLUGINS)
    all_hear(world)
    listening(world).hear["acme/high"] = lambda data: PluginDisconnected("its process is gone")
    await said(world)
    await asyncio.sleep(1000)
    assert listening(world).who().count("acme/high") == 3
    assert world.rows(LISTENER_DELIVERIES) == []


async def test_a_crash_of_the_host_repeats_what_was_not_recorded_as_heard() -> None:
    world = await opened(three(), TO_PLUGINS)
    all_hear(world)
    listening(world).hear["acme/low"] = lambda data: asyncio.Event()
    await world.say("hi", surface="platform", event_id="e1")
    await until(lambda: listening(world).who() == ["acme/high", "acme/low"])
    world.die()
    again = await opened(three(), journal=type(world.journal)(world.journal.database))
    all_hear(again)
    await again.rest()
    assert listening(again).who() == ["acme/high", "acme/low", "acme/seer"]
    assert again.rows(INBOX) == again.rows(LISTENER_DELIVERIES) == []


async def died_over_it(world: World) -> World:
    listening(world).hear["acme/high"] = lambda data: asyncio.Event()
    await until(lambda: listening(world).who() == ["acme/high"])
    world.die()
    return await opened(three(), journal=type(world.journal)(world.journal.database))


async def test_what_takes_the_host_along_is_set_aside_after_two_times() -> None:
    world = await opened(three(), TO_PLUGINS)
    listening(world).hear["acme/high"] = lambda data: asyncio.Event()
    await world.say("hi", surface="platform", event_id="e1")
    world = await died_over_it(await died_over_it(world))
    all_hear(world)
    await world.rest()
    assert listening(world).heard == []
    assert outcome(world, 1)[0] == "quarantined"


async def test_an_observer_that_was_owed_hears_of_it_after_a_restart() -> None:
    world = await opened(three(), TO_AGENT)
    world.core.registry.replace_plugin(PLUGIN, "1", [DISCOVERY])
    await world.say("hi", surface="platform", event_id="e1")
    world.die()
    again = await opened(three(), journal=type(world.journal)(world.journal.database))
    listening(again).hear["acme/seer"] = lambda data: None
    await until(lambda: not again.rows(LISTENER_DELIVERIES))
    assert listening(again).heard == [("acme/seer", "e1", True)]


async def test_observers_see_what_people_say_to_the_host_itself() -> None:
    world = await opened(three(), TO_AGENT)
    listening(world).hear["acme/seer"] = lambda data: None
    accepted = await world.say("/new", surface="platform", event_id="e1")
    assert outcome(world, accepted.seq)[0] == "control"
    await until(lambda: not world.rows(LISTENER_DELIVERIES))
    assert [each for each in listening(world).heard if each[1] == "e1"] == [("acme/seer", "e1", True)]


async def test_a_redelivery_is_not_heard_twice() -> None:
    world = await opened(three(), TO_AGENT)
    listening(world).hear["acme/seer"] = lambda data: None
    for _ in range(3):
        await said(world, event_id="e1")
    await until(lambda: not world.rows(LISTENER_DELIVERIES))
    assert len(listening(world).heard) == 1


@pytest.mark.parametrize("answer", [{"handled": "perhaps", "strange": 1}, {"variables": []}])
async def test_an_answer_that_can_not_be_read_is_the_plugins_failure(answer: dict[str, Any]) -> None:
    world = await opened(three(), TO_PLUGINS)
    all_hear(world)
    listening(world).hear["acme/high"] = lambda data: answer
    seq = await said(world)
    assert outcome(world, seq)[0] == "handled"
    assert "can't be read" in world.rows(TRAIL, event_seq=seq)[0]["data"]
