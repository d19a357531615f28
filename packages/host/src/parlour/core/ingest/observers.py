"""Queues events for plugins that observe them, in the unit that records the event."""

from collections.abc import Iterable, Sequence

from parlour.core.journal import Ref, Statement
from parlour.core.plugin_hooks.retries import ListenerRetries
from parlour.core.plugin_hooks.subscriptions import ListenerSubscriptions
from parlour.core.routing.decisions import RouteDecision, ToListeners
from parlour.core.store import listener_deliveries


class EventObservers:
    """Finds the plugins that observe an event, and queues it for them."""

    def __init__(self, subscriptions: ListenerSubscriptions, retries: ListenerRetries) -> None:
        self._subscriptions = subscriptions
        self._retries = retries

    def plugins(self, event_type: str) -> Sequence[str]:
        """Returns the plugins that observe events of this type."""
        return self._subscriptions.observing_plugins(event_type)

    @staticmethod
    def statements(
        plugins: Iterable[str], seq: Ref, now: int, decision: RouteDecision | None = None
    ) -> list[Statement]:
        """Builds the statements that queue the event with the number `seq` for these plugins."""
        return [_delivery(seq, plugin_id, now, decision) for plugin_id in plugins]

    def after_commit(self, plugins: Iterable[str], decision: RouteDecision | None = None) -> None:
        """Calls the observers of a recorded event; those whose plugin also handles it are called at its turn."""
        self._retries.enqueue(*(plugin_id for plugin_id in plugins if not _is_handled_by(plugin_id, decision)))


def _delivery(seq: Ref, plugin_id: str, now: int, decision: RouteDecision | None) -> Statement:
    if _is_handled_by(plugin_id, decision):
        return listener_deliveries.enqueue_in_order(seq, plugin_id, now)
    return listener_deliveries.enqueue(seq, plugin_id, True, now)


def _is_handled_by(plugin_id: str, decision: RouteDecision | None) -> bool:
    """Returns whether listeners of this plugin handle the event; its observers then receive it together with them."""
    return isinstance(decision, ToListeners) and (not decision.plugins or plugin_id in decision.plugins)
