"""Selects the handlers that are subscribed and permitted to receive an event, and their order."""

from collections.abc import Callable, Iterator, Sequence

from parlour.core.model.event_pattern import pattern_matches
from parlour.core.model.ids import PluginId
from parlour.core.model.resource_policy import Names, Selection
from parlour_sdk.protocol.events import NAMED_EVENTS
from parlour_sdk.protocol.manifest import PluginPermissions
from parlour_sdk.values import dataclass

from .components import ComponentRegistry, HandlerSubscription, ListenerHandlersSpec, RegisteredComponent


@dataclass(frozen=True, slots=True)
class HandlerCall:
    """One call: to a handler, or to a plugin that does not report its handlers."""

    plugin_id: PluginId
    handler: str
    is_observer: bool
    """True if it may also observe events that another handler handles or has stopped."""


class ListenerSubscriptions:
    """The subscriptions of all plugins."""

    def __init__(self, components: ComponentRegistry, grants: Callable[[PluginId], PluginPermissions]) -> None:
        self._components = components
        self._grants = grants

    def handler_calls(self, event_type: str, plugins: Sequence[PluginId] = ()) -> list[HandlerCall]:
        """Returns the handlers of these (or all) plugins for an event: first those that can handle it, by priority,
        then pure observers.

        A handler is called once, even if several of its patterns match the event.
        """
        best: dict[tuple[PluginId, str], tuple[int, int]] = {}
        observers: set[tuple[PluginId, str]] = set()
        for plugin_id, subscription in self._matching_subscriptions(event_type):
            if not plugins or plugin_id in plugins:
                key, rank = (plugin_id, subscription.name), (0 if subscription.observe else 1, subscription.priority)
                best[key] = max(best.get(key, rank), rank)
                if subscription.observe:
                    observers.add(key)
        in_order = sorted(best, key=lambda key: (-best[key][0], -best[key][1], key[0]))
        return [HandlerCall(*key, is_observer=key in observers) for key in in_order]

    def has_reported(self, plugin_id: PluginId) -> bool:
        """Returns whether the plugin has reported its components; before that, its subscriptions are not known."""
        return self._components.has_reported(plugin_id)

    def subscribed_plugins(self, event_type: str, plugins: Sequence[PluginId] = ()) -> list[PluginId]:
        """Returns the plugins that have a handler for the event."""
        return list(dict.fromkeys(handler_call.plugin_id for handler_call in self.handler_calls(event_type, plugins)))

    def asked_plugins(self, event_type: str, plugins: Names = "*") -> list[PluginId]:
        """Returns those of these plugins that are asked on an event of the path of a message, by priority."""
        selection = Selection.parse(plugins)
        calls = [each for each in self.handler_calls(event_type) if not each.is_observer]
        return list(dict.fromkeys(each.plugin_id for each in calls if each.plugin_id in selection))

    def has_handlers(self, event_type: str) -> bool:
        """Returns whether a handler would do more than observe."""
        return any(not subscription.observe for _, subscription in self._matching_subscriptions(event_type))

    def observing_plugins(self, event_type: str) -> list[PluginId]:
        return sorted(
            {plugin_id for plugin_id, subscription in self._matching_subscriptions(event_type) if subscription.observe}
        )

    def _matching_subscriptions(self, event_type: str) -> Iterator[tuple[PluginId, HandlerSubscription]]:
        matches = _is_named if event_type in NAMED_EVENTS else pattern_matches
        for listener in self._components.listeners():
            subscriptions = [
                subscription for subscription in _subscriptions(listener) if matches(subscription.event, event_type)
            ]
            if subscriptions and any(matches(each, event_type) for each in self._grants(listener.plugin_id).events):
                yield from ((listener.plugin_id, subscription) for subscription in subscriptions)


def _is_named(pattern: str, event_type: str) -> bool:
    """Returns whether a pattern is the event type itself, as some events require."""
    return pattern == event_type


def _subscriptions(listener: RegisteredComponent[ListenerHandlersSpec]) -> list[HandlerSubscription]:
    """Returns a listener's subscriptions. A plugin that does not report them receives every event."""
    spec = listener.spec
    return spec.handlers or [HandlerSubscription(event="*", priority=spec.priority, observe=spec.observe)]
