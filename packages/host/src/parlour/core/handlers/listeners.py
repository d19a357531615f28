"""The handler `plugin`: calls the listeners of plugins, and queues those that failed for later attempts."""

from typing import ClassVar

from parlour.core.config.routes import Route
from parlour.core.journal import Journal, Unit, UnitBuilder
from parlour.core.model.event import EventEnvelope
from parlour.core.model.ports import Clock
from parlour.core.plugin_hooks.dispatcher import DispatchResult, ListenerDispatcher
from parlour.core.plugin_hooks.retries import ListenerDelivery, ListenerRetries
from parlour.core.plugin_hooks.subscriptions import ListenerSubscriptions
from parlour.core.routing.decisions import RouteDecision, ToListeners
from parlour.core.runs import retry_policy
from parlour.core.runs.event_completion import EventCompleter
from parlour.core.runs.heard_messages import HeardMessages
from parlour.core.runs.lane_result import LaneResult
from parlour.core.runs.run_checks import QUARANTINE_REASONS
from parlour.core.runs.session import QueuedEvent
from parlour.core.store import event_notes, inbox


class ListenerHandler:
    """Passes events to plugin listeners."""

    type: ClassVar[str] = ToListeners.handler_type
    answers_by_agent: ClassVar[bool] = False

    def __init__(
        self,
        journal: Journal,
        subscriptions: ListenerSubscriptions,
        listeners: ListenerDispatcher,
        retries: ListenerRetries,
        completer: EventCompleter,
        heard: HeardMessages,
        clock: Clock,
    ) -> None:
        self._journal = journal
        self._subscriptions = subscriptions
        self._listeners = listeners
        self._retries = retries
        self._completer = completer
        self._heard = heard
        self._clock = clock

    def resolve(self, event: EventEnvelope, route: Route, skipped_routes: str) -> RouteDecision:
        plugins = tuple(route.handler_config.get("plugins", ()))
        return ToListeners(plugins, f"{route.label}{skipped_routes}", by_route=True)

    async def handle(self, entry: QueuedEvent, decision: ToListeners) -> LaneResult:
        if not self._subscriptions.subscribed_plugins(entry.event.envelope.event_type, decision.plugins):
            await self._completer.complete(
                entry, "dropped", decision.no_listener_reason, heard=None if decision.by_route else self._heard
            )
        elif cause := retry_policy.quarantine_cause(entry.tries):
            await self._completer.complete(entry, "quarantined", QUARANTINE_REASONS[cause])
        else:
            await self._call(entry, decision)
        return LaneResult()

    async def _call(self, entry: QueuedEvent, decision: ToListeners) -> None:
        """Calls the listeners at the event's turn, so that they receive a conversation's events in order. A crash
        before the end repeats the calls.
        """
        await self._journal.commit(Unit("event.attempt", (inbox.count_attempt(entry.seq),)))
        result = await self._listeners.dispatch(entry.event, decision.plugins)
        unit, now = UnitBuilder("event.listened"), self._clock.now()
        outcome = "handled" if result.handled_by else "dropped"
        inbox_outcome = self._completer.add_outcome(unit, entry.event, outcome, _reason(decision, result))
        if not decision.by_route:
            self._heard.add(unit, entry)
        unit.add(*(self._retries.withdraw(entry.seq, plugin_id) for plugin_id in result.completed_plugins))
        for plugin_id in result.failed_listeners:
            delivery = ListenerDelivery(False, tuple(result.finished_handlers[plugin_id]), tries=1)
            unit.add(
                self._retries.withdraw(entry.seq, plugin_id),
                self._retries.enqueue(entry.seq, entry.event.envelope.bot_id, plugin_id, delivery),
            )
        undelivered = [
            f"{plugin_id} could not be told: {each.failure}" for plugin_id, each in result.failed_listeners.items()
        ]
        if result.failures or undelivered:
            text = f"Of those who listen, {'; '.join([*result.failures, *undelivered])}."
            unit.add(event_notes.add_note(entry.seq, "listeners", {"text": text}, now))
        await self._completer.commit(unit, inbox_outcome)
        self._retries.wake(*result.failed_listeners)


def _reason(decision: ToListeners, result: DispatchResult) -> str:
    if not result.handled_by:
        return f"{decision.reason}, and no listener took it"
    stopped_text = f"; {result.stopped_by} let nobody else have it" if result.stopped_by else ""
    return f"{decision.reason}; {', '.join(result.handled_by)} took it{stopped_text}"
