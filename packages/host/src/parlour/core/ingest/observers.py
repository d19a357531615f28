"""Queues events for plugins that observe them, in the unit that records the event."""

from collections.abc import Iterable, Sequence

from parlour.core.journal import Ref, Statement
from parlour.core.model.event import EventEnvelope
from parlour.core.model.ids import BotId, PluginId
from parlour.core.plugin_hooks.retries import ListenerDelivery, ListenerRetries
from parlour.core.plugin_hooks.subscriptions import ListenerSubscriptions
from parlour.core.routing.decisions import RouteDecision, ToListeners


class EventObservers:
    """Finds the plugins that observe an event, and queues it for them."""

    def __init__(self, subscriptions: ListenerSubscriptions, retries: ListenerRetries) -> None:
        self._subscriptions = subscriptions
        self._retries = retries

    def plugins(self, event: EventEnvelope) -> Sequence[PluginId]:
        """Returns the plugins that observe this event; none observes a preview."""
        return () if event.is_preview else self._subscriptions.observing_plugins(event.event_type)

    def statements(
        self, plugins: Iterable[PluginId], seq: Ref, bot_id: BotId, now: int, decision: RouteDecision | None = None
    ) -> list[Statement]:
        """Builds the statements that queue a bot's event with the number `seq` for these plugins."""
        return [
            self._retries.enqueue_in_order(seq, bot_id, plugin_id, now)
            if _is_handled_by(plugin_id, decision)
            else self._retries.enqueue(seq, bot_id, plugin_id, ListenerDelivery(observing=True))
            for plugin_id in plugins
        ]

    def after_commit(self, plugins: Iterable[PluginId], decision: RouteDecision | None = None) -> None:
        """Calls the observers of a recorded event; those whose plugin also handles it are called at its turn."""
        self._retries.wake(*(plugin_id for plugin_id in plugins if not _is_handled_by(plugin_id, decision)))


def _is_handled_by(plugin_id: PluginId, decision: RouteDecision | None) -> bool:
    """Returns whether listeners of this plugin handle the event; its observers then receive it together with them."""
    return isinstance(decision, ToListeners) and (not decision.plugins or plugin_id in decision.plugins)
