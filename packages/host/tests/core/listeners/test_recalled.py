"""A plugin that has yet to come up is owed what happens meanwhile, by what it listened to when it was last there."""

import asyncio

from parlour.core.config.routes import Route
from parlour.core.plugin_hooks.components import ComponentRegistry
from parlour.core.store.tables import LISTENER_DELIVERIES, OUTCOMES, TRAIL

from ..support import DISCOVERY, PLUGIN, World, until
from .listening_support import listener, listening, opened

TO_PLUGINS = Route("*", "plugin", {"plugins": []})
TO_AGENT = Route("*", "agent", {"agent_id": "agent"})
LATE = "acme/late"


def recalling(told: list[object]) -> ComponentRegistry:
    components = ComponentRegistry()
    components.restore_listeners(LATE, "1", told)
    return components


def comes_up(world: World, components: ComponentRegistry, *told: object) -> None:
    listening(world).hear[LATE] = lambda data: None
    components.replace_plugin(LATE, "2", list(told))


async def said(world: World, event_id: str) -> int:
    accepted = await world.say("hi", surface="platform", event_id=event_id)
    await until(lambda: bool(world.rows(OUTCOMES, event_seq=accepted.seq)))
    return accepted.seq


async def test_what_it_handles_is_told_when_it_comes_up() -> None:
    components = recalling([listener()])
    world = await opened(components, TO_PLUGINS)
    seq = await said(world, "e1")
    [note] = world.rows(TRAIL, event_seq=seq, step="listeners")
    assert "acme/late could not be told: plugin acme/late has not come up" in note["data"]
    comes_up(world, components, listener())
    await until(lambda: not world.rows(LISTENER_DELIVERIES))
    assert listening(world).heard == [(LATE, "e1", False)]


async def test_what_it_looks_on_at_is_told_and_holds_up_nobody() -> None:
    components = recalling([listener(observe=True)])
    world = await opened(components, TO_AGENT)
    world.core.registry.replace_plugin(PLUGIN, "1", [DISCOVERY])
    begun = asyncio.get_running_loop().time()
    seq = await said(world, "e1")
    [outcome] = world.rows(OUTCOMES, event_seq=seq)
    assert outcome["outcome"] == "answered"
    assert asyncio.get_running_loop().time() - begun < 1
    comes_up(world, components, listener(observe=True))
    await until(lambda: not world.rows(LISTENER_DELIVERIES))
    assert listening(world).heard[0] == (LATE, "e1", True)


async def test_what_it_does_not_listen_to_any_more_is_owed_no_longer() -> None:
    components = recalling([listener()])
    world = await opened(components, TO_PLUGINS)
    await said(world, "e1")
    comes_up(world, components)
    await until(lambda: not world.rows(LISTENER_DELIVERIES))
    assert listening(world).heard == []


async def test_one_that_was_removed_is_owed_nothing() -> None:
    components = recalling([listener()])
    world = await opened(components, TO_PLUGINS)
    components.remove_plugin(LATE)
    await said(world, "e1")
    assert world.rows(LISTENER_DELIVERIES) == []


def test_what_is_kept_is_what_is_recalled() -> None:
    before, after = ComponentRegistry(), ComponentRegistry()
    tool = {"kind": "Tool", "name": "clock", "spec": {}}
    before.replace_plugin(LATE, "1", [tool, listener("message.*", 5), listener("group.*", observe=True)])
    after.restore_listeners(LATE, "1", before.listener_snapshot(LATE))
    assert after.listeners() == before.listeners()
    assert after.tools() == []
    assert not after.has_reported(LATE)


def test_what_can_not_be_read_is_not_recalled() -> None:
    known = recalling([listener(), {"kind": "EventListener"}, 7]).listeners()
    assert [each.plugin_id for each in known] == [LATE]
