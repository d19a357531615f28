"""Handlers run by priority across plugins, and one handler cannot take the event from another."""

from collections.abc import Callable
from typing import Any

from parlour.core.config.routes import Route
from parlour.core.model.ports import PluginCallFailed, PluginDisconnected, PluginUnavailable
from parlour.core.plugin_hooks.components import ComponentRegistry
from parlour.core.store.tables import OUTCOMES, TRAIL

from ..support import World, until
from .listener_support import listener, named_listeners, observers, open_world, plugins_of

TO_PLUGINS = Route("*", "plugin", {"plugins": []})
TO_AGENT = Route("*", "agent", {"agent_id": "agent"})
LATE = PluginCallFailed("deadline_exceeded", "it took longer than 30 s")


async def open_plugins(route: Route = TO_PLUGINS, **plugins: list[dict[str, Any]]) -> World:
    components = ComponentRegistry()
    for name, discovered in plugins.items():
        components.replace_plugin(f"acme/{name}", "1", discovered)
    return await open_world(components, route)


def answer_with(world: World, **does: Callable[[dict[str, Any]], Any]) -> list[str]:
    """Makes all plugins answer, these handlers as given; returns the names of called handlers in order."""
    called: list[str] = []

    def hear(data: dict[str, Any]) -> Any:
        called.append(data.get("handler", "all"))
        return does.get(called[-1], lambda data: None)(data)

    plugins_of(world).handlers = {f"acme/{name}": hear for name in ("la", "lb", "old")}
    return called


async def send_event(world: World, **fields: Any) -> int:
    accepted = await world.say("hi", surface="platform", **fields)
    await world.rest()
    return accepted.seq


async def test_handlers_of_several_plugins_run_by_priority() -> None:
    world = await open_plugins(la=named_listeners(a10=10, a1=1), lb=named_listeners(b5=5))
    called = answer_with(world)
    await send_event(world)
    assert called == ["a10", "b5", "a1"]
    assert world.open_jobs() == []


async def test_handlers_of_equal_priority_run_in_declared_order() -> None:
    world = await open_plugins(la=named_listeners(second=0, first=0, third=0))
    called = answer_with(world)
    await send_event(world)
    assert called == ["second", "first", "third"]


async def test_plugin_without_handler_names_is_called_once_at_its_highest_priority() -> None:
    world = await open_plugins(la=named_listeners(a10=10, a1=1), old=[listener(priority=5), listener(priority=0)])
    called = answer_with(world)
    await send_event(world)
    assert called == ["a10", "all", "a1"]


async def test_handler_with_two_matching_patterns_is_called_once() -> None:
    patterns = [{"name": "a", "event": "message.*"}, {"name": "a", "event": "*", "observe": True, "priority": 9}]
    world = await open_plugins(
        la=[{"kind": "EventListener", "name": "a", "spec": {"handlers": patterns}}], lb=named_listeners(b=1)
    )
    called = answer_with(world)
    await send_event(world)
    assert called == ["b", "a"]


async def test_handler_that_times_out_does_not_block_others_of_its_plugin() -> None:
    world = await open_plugins(la=named_listeners(a10=10, a1=1))
    called = answer_with(world, a10=lambda data: LATE)
    seq = await send_event(world)
    assert called == ["a10", "a1"]
    assert world.rows(OUTCOMES, event_seq=seq)[0]["outcome"] == "handled"
    assert "acme/la: its handler a10 failed: it took longer" in world.rows(TRAIL, event_seq=seq)[0]["data"]


async def test_stopped_event_reaches_only_observers() -> None:
    world = await open_plugins(la=[*named_listeners(a10=10, a1=1), *observers("seer")], lb=named_listeners(b5=5))
    called = answer_with(world, b5=lambda data: {"handled": True, "stop_propagation": True})
    await send_event(world)
    assert called == ["a10", "b5", "seer"]
    assert [observing for _, _, observing in plugins_of(world).received] == [False, False, True]


async def test_variables_of_a_handler_reach_the_next_one() -> None:
    world = await open_plugins(la=named_listeners(a10=10, a1=1), lb=named_listeners(b5=5))
    seen: list[dict[str, Any]] = []
    answer_with(
        world,
        a10=lambda data: {"handled": True, "variables": {"by": "a", "kept": 1}},
        b5=lambda data: {"handled": True, "variables": {"by": None}},
        a1=lambda data: seen.append(data["variables"]),
    )
    await send_event(world)
    assert seen == [{"kept": 1}]


async def wait_until_delivered(world: World) -> None:
    await until(lambda: not world.open_jobs())


async def test_observer_that_times_out_does_not_block_others() -> None:
    world = await open_plugins(TO_AGENT, la=observers("first", "second"))
    called = answer_with(world, first=lambda data: LATE)
    seq = await send_event(world, event_id="e1")
    await wait_until_delivered(world)
    assert called == ["first", "second"]
    assert any("its handler first failed: it took longer" in row["data"] for row in world.rows(TRAIL, event_seq=seq))


async def test_handler_that_crashes_its_plugin_is_given_up_alone() -> None:
    world = await open_plugins(la=named_listeners(a10=10, a1=1), lb=named_listeners(b5=5))
    called = answer_with(world, a10=lambda data: PluginDisconnected("its process is gone"))
    seq = await send_event(world)
    await wait_until_delivered(world)
    assert called == ["a10", "b5", "a10", "a10", "a1"]
    [note] = world.rows(TRAIL, event_seq=seq, step="listener acme/la a10")
    assert "acme/la listens to such events, and its process is gone" in note["data"]


async def test_plugin_that_restarts_receives_the_remaining_handlers() -> None:
    world = await open_plugins(la=named_listeners(a10=10, a5=5, a1=1))
    away = [PluginUnavailable("it restarts")] * 3
    called = answer_with(world, a5=lambda data: away.pop() if away else None)
    await send_event(world)
    await wait_until_delivered(world)
    assert called == ["a10", *["a5"] * 4, "a1"]


async def test_stopped_event_is_not_delivered_later() -> None:
    world = await open_plugins(la=named_listeners(a10=10, a1=1), lb=named_listeners(b5=5))
    away = [PluginUnavailable("it restarts")]
    called = answer_with(
        world,
        a10=lambda data: away.pop() if away else None,
        b5=lambda data: {"handled": True, "stop_propagation": True},
    )
    await send_event(world)
    await wait_until_delivered(world)
    assert called == ["a10", "b5", "a10"]


async def test_delivery_waits_for_a_plugin_that_has_not_reported() -> None:
    world = await open_plugins(TO_AGENT, la=observers("seer"))
    await world.say("hi", surface="platform", event_id="e1")
    world.die()
    components = ComponentRegistry()
    again = await open_world(components, journal=type(world.journal)(world.journal.database))
    called = answer_with(again)
    await until(lambda: any(row["attempts"] for row in again.open_jobs()))
    components.replace_plugin("acme/la", "1", observers("seer", "second"))
    await wait_until_delivered(again)
    assert called == ["seer", "second"]
