"""Plugins that listen, each a function of the test, beside a core on virtual time."""

import asyncio
from collections.abc import Callable
from typing import Any

from parlour.core.config.routes import Route
from parlour.core.model.ports import PluginUnavailable
from parlour.core.plugin_hooks.components import ComponentRegistry
from parlour_sdk.protocol.manifest import PluginPermissions

from ..support import BreakableJournal, CountedIds, PlatformSurface, PuppetPlugins, World, make_agent

Hear = Callable[[dict[str, Any]], Any]


class ListeningPlugins(PuppetPlugins):
    """What each plugin's listeners do with what they are told; an exception is raised, an event is waited for."""

    def __init__(self, echo: bool = True) -> None:
        super().__init__(echo)
        self.hear: dict[str, Hear] = {}
        self.heard: list[tuple[str, str, bool]] = []
        """Plugin, event and whether it only looked on, in order."""

    async def call(self, plugin_id: str, action: str, data: dict[str, Any], timeout: float) -> dict[str, Any]:
        assert action == "emit_event"
        if plugin_id not in self.hear:
            raise PluginUnavailable(f"{plugin_id} is not running")
        self.heard.append((plugin_id, data["event"]["event_id"], data["observing"]))
        answer = self.hear[plugin_id](data)
        if isinstance(answer, asyncio.Event):
            await answer.wait()
            return {}
        if isinstance(answer, Exception):
            raise answer
        return answer or {"handled": not data["observing"]}

    def who(self) -> list[str]:
        return [plugin_id for plugin_id, _, _ in self.heard]


def listener(event: str = "*", priority: int = 0, observe: bool = False) -> dict[str, Any]:
    handlers = [{"event": event, "priority": priority, "observe": observe}]
    return {"kind": "EventListener", "name": f"{event} {priority} {observe}", "spec": {"handlers": handlers}}


def named(**priorities: int) -> list[dict[str, Any]]:
    """A listener for each handler, as functions with `@on` are told: by name, with its priority."""
    return [
        {
            "kind": "EventListener",
            "name": name,
            "spec": {"handlers": [{"name": name, "event": "*", "priority": number}]},
        }
        for name, number in priorities.items()
    ]


def looking_on(*names: str) -> list[dict[str, Any]]:
    return [
        {"kind": "EventListener", "name": name, "spec": {"handlers": [{"name": name, "event": "*", "observe": True}]}}
        for name in names
    ]


def granted(plugin_id: str) -> PluginPermissions:
    return PluginPermissions(events=["message.*"] if plugin_id == "acme/curbed" else ["*"])


async def opened(components: ComponentRegistry, *routes: Route, journal: BreakableJournal | None = None) -> World:
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


def listening(world: World) -> ListeningPlugins:
    assert isinstance(world.plugins, ListeningPlugins)
    return world.plugins
