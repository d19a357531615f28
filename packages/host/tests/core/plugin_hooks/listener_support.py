"""Plugins whose listeners are functions of a test, with a core on virtual time."""

import asyncio
from collections.abc import Callable
from typing import Any

from parlour.core.config.routes import Route
from parlour.core.model.ports import PluginUnavailable
from parlour.core.plugin_hooks.components import ComponentRegistry
from parlour_sdk.protocol.manifest import PluginPermissions

from ..support import BreakableJournal, CountedIds, PlatformSurface, PuppetPlugins, World, make_agent

Handler = Callable[[dict[str, Any]], Any]


class ListeningPlugins(PuppetPlugins):
    """Plugins whose listeners return an answer, raise an exception, or wait for an event."""

    def __init__(self, echo: bool = True) -> None:
        super().__init__(echo)
        self.handlers: dict[str, Handler] = {}
        self.received: list[tuple[str, str, bool]] = []
        """Plugin, event and whether it only observed, in order."""

    async def call(self, plugin_id: str, action: str, data: dict[str, Any], timeout: float) -> dict[str, Any]:
        assert action == "emit_event"
        if plugin_id not in self.handlers:
            raise PluginUnavailable(f"{plugin_id} is not running")
        self.received.append((plugin_id, data["event"]["event_id"], data["observing"]))
        answer = self.handlers[plugin_id](data)
        if isinstance(answer, asyncio.Event):
            await answer.wait()
            return {}
        if isinstance(answer, Exception):
            raise answer
        return answer or {"handled": not data["observing"]}

    def plugin_ids(self) -> list[str]:
        return [plugin_id for plugin_id, _, _ in self.received]


def listener(event: str = "*", priority: int = 0, observe: bool = False) -> dict[str, Any]:
    handlers = [{"event": event, "priority": priority, "observe": observe}]
    return {"kind": "EventListener", "name": f"{event} {priority} {observe}", "spec": {"handlers": handlers}}


def named_listeners(**priorities: int) -> list[dict[str, Any]]:
    """Returns a listener for each named handler with its priority, as `@on` declares them."""
    return [
        {
            "kind": "EventListener",
            "name": name,
            "spec": {"handlers": [{"name": name, "event": "*", "priority": number}]},
        }
        for name, number in priorities.items()
    ]


def observers(*names: str) -> list[dict[str, Any]]:
    return [
        {"kind": "EventListener", "name": name, "spec": {"handlers": [{"name": name, "event": "*", "observe": True}]}}
        for name in names
    ]


def granted(plugin_id: str) -> PluginPermissions:
    return PluginPermissions(events=["message.*"] if plugin_id == "acme/curbed" else ["*"])


async def open_world(components: ComponentRegistry, *routes: Route, journal: BreakableJournal | None = None) -> World:
    world = World(
        journal or BreakableJournal(),
        ListeningPlugins(),
        PlatformSurface(),
        CountedIds(),
        components=components,
        plugin_grants=granted,
    )
    await world.core.load()
    if world.core.agents.get("agent") is None:
        await world.core.agents.add(make_agent(event_types=("*",)))
        await world.core.routes.replace("bot", list(routes))
    await world.core.recover()
    return world


def plugins_of(world: World) -> ListeningPlugins:
    assert isinstance(world.plugins, ListeningPlugins)
    return world.plugins
