"""Events for a plugin that has not started yet are kept by the subscriptions it had before."""

import asyncio

from parlour.core.config.routes import Route
from parlour.core.plugin_hooks.components import ComponentRegistry
from parlour.core.store.tables import OUTCOMES, TRAIL

from ..support import DISCOVERY, PLUGIN, World, until
from .listener_support import listener, open_world, plugins_of

TO_PLUGINS = Route("*", "plugin", {"plugins": []})
TO_AGENT = Route("*", "agent", {"agent_id": "agent"})
LATE = "acme/late"


def restore_listeners(discovered: list[object]) -> ComponentRegistry:
    components = ComponentRegistry()
    components.restore_listeners(LATE, "1", discovered)
    return components


def start_plugin(world: World, components: ComponentRegistry, *discovered: object) -> None:
    plugins_of(world).handlers[LATE] = lambda data: None
    components.replace_plugin(LATE, "2", list(discovered))


async def send_event(world: World, event_id: str) -> int:
    accepted = await world.say("hi", surface="platform", event_id=event_id)
    await until(lambda: bool(world.rows(OUTCOMES, event_seq=accepted.seq)))
    return accepted.seq


async def test_handled_event_is_delivered_when_the_plugin_starts() -> None:
    components = restore_listeners([listener()])
    world = await open_world(components, TO_PLUGINS)
    seq = await send_event(world, "e1")
    [note] = world.rows(TRAIL, event_seq=seq, step="listeners")
    assert "acme/late could not be told: plugin acme/late has not come up" in note["data"]
    start_plugin(world, components, listener())
    await until(lambda: not world.open_jobs())
    assert plugins_of(world).received == [(LATE, "e1", False)]


async def test_observed_event_is_delivered_later_and_delays_nothing() -> None:
    components = restore_listeners([listener(observe=True)])
    world = await open_world(components, TO_AGENT)
    world.core.registry.replace_plugin(PLUGIN, "1", [DISCOVERY])
    started = asyncio.get_running_loop().time()
    seq = await send_event(world, "e1")
    [outcome] = world.rows(OUTCOMES, event_seq=seq)
    assert outcome["outcome"] == "answered"
    assert asyncio.get_running_loop().time() - started < 1
    start_plugin(world, components, listener(observe=True))
    await until(lambda: not world.open_jobs())
    assert plugins_of(world).received[0] == (LATE, "e1", True)


async def test_delivery_ends_if_the_plugin_no_longer_subscribes() -> None:
    components = restore_listeners([listener()])
    world = await open_world(components, TO_PLUGINS)
    await send_event(world, "e1")
    start_plugin(world, components)
    await until(lambda: not world.open_jobs())
    assert plugins_of(world).received == []


async def test_removed_plugin_gets_no_deliveries() -> None:
    components = restore_listeners([listener()])
    world = await open_world(components, TO_PLUGINS)
    components.remove_plugin(LATE)
    await send_event(world, "e1")
    assert world.open_jobs() == []


def test_restored_listeners_equal_the_snapshot() -> None:
    before, after = ComponentRegistry(), ComponentRegistry()
    tool = {"kind": "Tool", "name": "clock", "spec": {}}
    before.replace_plugin(LATE, "1", [tool, listener("message.*", 5), listener("group.*", observe=True)])
    after.restore_listeners(LATE, "1", before.listener_snapshot(LATE))
    assert after.listeners() == before.listeners()
    assert after.tools() == []
    assert not after.has_reported(LATE)


def test_invalid_snapshot_entries_are_skipped() -> None:
    known = restore_listeners([listener(), {"kind": "EventListener"}, 7]).listeners()
    assert [each.plugin_id for each in known] == [LATE]
