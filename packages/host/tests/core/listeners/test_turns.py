"""Handlers take turns by priority whichever plugin they are of, and what one does takes nothing from another."""

from collections.abc import Callable
from typing import Any

from parlour.core.components import Components
from parlour.core.facts.tables import LISTENING, OUTCOMES, TRAIL
from parlour.core.ports import PluginRefused
from parlour.core.routing.routes import Route

from ..support import World
from .listening_support import listener, listening, looking_on, named, opened

TO_PLUGINS = Route("*", "plugin", {"plugins": []})
LATE = PluginRefused("deadline_exceeded", "it took longer than 30 s")


async def gathered(**plugins: list[dict[str, Any]]) -> World:
    components = Components()
    for name, told in plugins.items():
        components.replace_plugin(f"acme/{name}", "1", told)
    return await opened(components, TO_PLUGINS)


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
    assert world.rows(LISTENING) == []


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
