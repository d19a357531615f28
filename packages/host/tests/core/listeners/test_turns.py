"""Handlers take turns by priority whichever plugin they are of, and what one does takes nothing from another."""

from collections.abc import Callable
from typing import Any

from parlour.core.config.routes import Route
from parlour.core.model.ports import PluginCallFailed, PluginDisconnected, PluginUnavailable
from parlour.core.plugin_hooks.components import ComponentRegistry
from parlour.core.store.tables import LISTENER_DELIVERIES, OUTCOMES, TRAIL

from ..support import World, until
from .listening_support import listener, listening, looking_on, named, opened

TO_PLUGINS = Route("*", "plugin", {"plugins": []})
TO_AGENT = Route("*", "agent", {"agent_id": "agent"})
LATE = PluginCallFailed("deadline_exceeded", "it took longer than 30 s")


async def gathered(route: Route = TO_PLUGINS, **plugins: list[dict[str, Any]]) -> World:
    components = ComponentRegistry()
    for name, told in plugins.items():
        components.replace_plugin(f"acme/{name}", "1", told)
    return await opened(components, route)


def hearing(world: World, **does: Callable[[dict[str, Any]], Any]) -> list[str]:
    """All plugins hear, and their handlers of these names do this; the names of those that were called, in order."""
    called: list[str] = []

    def hear(data: dict[str, Any]) -> Any:
        called.append(data.get("handler", "all"))
        return does.get(called[-1], lambda data: None)(data)

    listening(world).hear = {f"acme/{name}": hear for name in ("la", "lb", "old")}
    return called


async def said(world: World, **fields: Any) -> int:
    accepted = await world.say("hi", surface="platform", **fields)
    await world.rest()
    return accepted.seq


async def test_handlers_of_several_plugins_take_turns_by_priority() -> None:
    world = await gathered(la=named(a10=10, a1=1), lb=named(b5=5))
    called = hearing(world)
    await said(world)
    assert called == ["a10", "b5", "a1"]
    assert world.rows(LISTENER_DELIVERIES) == []


async def test_equals_of_a_plugin_come_as_they_are_declared() -> None:
    world = await gathered(la=named(second=0, first=0, third=0))
    called = hearing(world)
    await said(world)
    assert called == ["second", "first", "third"]


async def test_a_plugin_that_does_not_name_its_handlers_is_called_once_at_its_best_ones_place() -> None:
    world = await gathered(la=named(a10=10, a1=1), old=[listener(priority=5), listener(priority=0)])
    called = hearing(world)
    await said(world)
    assert called == ["a10", "all", "a1"]


async def test_a_handler_with_two_patterns_for_an_event_has_one_turn() -> None:
    twice = [{"name": "a", "event": "message.*"}, {"name": "a", "event": "*", "observe": True, "priority": 9}]
    world = await gathered(la=[{"kind": "EventListener", "name": "a", "spec": {"handlers": twice}}], lb=named(b=1))
    called = hearing(world)
    await said(world)
    assert called == ["b", "a"]


async def test_who_hangs_takes_the_event_from_no_other_handler_of_its_plugin() -> None:
    world = await gathered(la=named(a10=10, a1=1))
    called = hearing(world, a10=lambda data: LATE)
    seq = await said(world)
    assert called == ["a10", "a1"]
    assert world.rows(OUTCOMES, event_seq=seq)[0]["outcome"] == "handled"
    assert "acme/la: its handler a10 failed: it took longer" in world.rows(TRAIL, event_seq=seq)[0]["data"]


async def test_who_stops_an_event_stops_it_for_later_handlers_of_any_plugin_but_not_for_those_who_look_on() -> None:
    world = await gathered(la=[*named(a10=10, a1=1), *looking_on("seer")], lb=named(b5=5))
    called = hearing(world, b5=lambda data: {"handled": True, "stop_propagation": True})
    await said(world)
    assert called == ["a10", "b5", "seer"]
    assert [looks for _, _, looks in listening(world).heard] == [False, False, True]


async def test_what_a_handler_notes_down_the_next_one_reads_whichever_plugin_it_is_of() -> None:
    world = await gathered(la=named(a10=10, a1=1), lb=named(b5=5))
    seen: list[dict[str, Any]] = []
    hearing(
        world,
        a10=lambda data: {"handled": True, "variables": {"by": "a", "kept": 1}},
        b5=lambda data: {"handled": True, "variables": {"by": None}},
        a1=lambda data: seen.append(data["variables"]),
    )
    await said(world)
    assert seen == [{"kept": 1}]


async def all_heard(world: World) -> None:
    await until(lambda: not world.rows(LISTENER_DELIVERIES))


async def test_who_looks_on_and_hangs_takes_the_event_from_no_other_either() -> None:
    world = await gathered(TO_AGENT, la=looking_on("first", "second"))
    called = hearing(world, first=lambda data: LATE)
    seq = await said(world, event_id="e1")
    await all_heard(world)
    assert called == ["first", "second"]
    assert any("its handler first failed: it took longer" in row["data"] for row in world.rows(TRAIL, event_seq=seq))


async def test_a_handler_over_which_its_plugin_dies_is_given_up_alone() -> None:
    world = await gathered(la=named(a10=10, a1=1), lb=named(b5=5))
    called = hearing(world, a10=lambda data: PluginDisconnected("its process is gone"))
    seq = await said(world)
    await all_heard(world)
    assert called == ["a10", "b5", "a10", "a10", "a1"]
    [note] = world.rows(TRAIL, event_seq=seq, step="listener acme/la a10")
    assert "acme/la listens to such events, and its process is gone" in note["data"]


async def test_a_plugin_that_goes_away_in_the_middle_hears_the_rest_when_it_is_back() -> None:
    world = await gathered(la=named(a10=10, a5=5, a1=1))
    away = [PluginUnavailable("it restarts")] * 3
    called = hearing(world, a5=lambda data: away.pop() if away else None)
    await said(world)
    await all_heard(world)
    assert called == ["a10", *["a5"] * 4, "a1"]


async def test_what_was_stopped_meanwhile_is_not_made_up_for() -> None:
    world = await gathered(la=named(a10=10, a1=1), lb=named(b5=5))
    away = [PluginUnavailable("it restarts")]
    called = hearing(
        world,
        a10=lambda data: away.pop() if away else None,
        b5=lambda data: {"handled": True, "stop_propagation": True},
    )
    await said(world)
    await all_heard(world)
    assert called == ["a10", "b5", "a10"]


async def test_a_plugin_that_has_not_told_its_handlers_yet_is_waited_for() -> None:
    world = await gathered(TO_AGENT, la=looking_on("seer"))
    await world.say("hi", surface="platform", event_id="e1")
    world.die()
    components = ComponentRegistry()
    again = await opened(components, journal=type(world.journal)(world.journal.database))
    called = hearing(again)
    await until(lambda: any(row["attempts"] for row in again.rows(LISTENER_DELIVERIES)))
    components.replace_plugin("acme/la", "1", looking_on("seer", "second"))
    await all_heard(again)
    assert called == ["seer", "second"]
