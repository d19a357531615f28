"""Which plugins want to hear an event and may, and in which order. Calls nobody."""

from collections.abc import Callable, Iterator, Sequence

from parlour.core.components import Component, Components, ListeningSpec, Subscription
from parlour.core.events.patterns import covers
from parlour_sdk.protocol.manifest import PluginPermissions


class Audience:
    def __init__(self, components: Components, grants: Callable[[str], PluginPermissions]) -> None:
        self._components = components
        self._grants = grants

    def listening(self, event_type: str, plugins: Sequence[str] = ()) -> list[str]:
        """Of these plugins (or all), those who want it: who can handle it by priority, then who only looks on."""
        best: dict[str, tuple[int, int]] = {}
        for plugin_id, wish in self._wishes(event_type):
            if not plugins or plugin_id in plugins:
                rank = (0 if wish.observe else 1, wish.priority)
                best[plugin_id] = max(best.get(plugin_id, rank), rank)
        return sorted(best, key=lambda plugin_id: (-best[plugin_id][0], -best[plugin_id][1], plugin_id))

    def handled(self, event_type: str) -> bool:
        """Whether somebody would do more than look on."""
        return any(not wish.observe for _, wish in self._wishes(event_type))

    def observing(self, event_type: str) -> list[str]:
        return sorted({plugin_id for plugin_id, wish in self._wishes(event_type) if wish.observe})

    def _wishes(self, event_type: str) -> Iterator[tuple[str, Subscription]]:
        for listener in self._components.listeners():
            wishes = [wish for wish in _subscriptions(listener) if covers(wish.event, event_type)]
            if wishes and self._may(listener.plugin_id, event_type):
                yield from ((listener.plugin_id, wish) for wish in wishes)

    def _may(self, plugin_id: str, event_type: str) -> bool:
        """As the operator grants it at this moment."""
        return any(covers(pattern, event_type) for pattern in self._grants(plugin_id).events)


def _subscriptions(listener: Component[ListeningSpec]) -> list[Subscription]:
    """A plugin that does not tell what its handlers want is asked about everything."""
    spec = listener.spec
    return spec.handlers or [Subscription(event="*", priority=spec.priority, observe=spec.observe)]
