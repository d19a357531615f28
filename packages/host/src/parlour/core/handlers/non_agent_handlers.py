"""Handles events that no run answers: passes them to plugin listeners or queues webhook calls for them."""

from parlour.core.config.bots import BotRepository
from parlour.core.journal import Journal, Unit, UnitBuilder
from parlour.core.model.ports import Clock, Ids
from parlour.core.plugin_hooks import payloads
from parlour.core.plugin_hooks.dispatcher import DispatchResult, ListenerDispatcher
from parlour.core.plugin_hooks.retries import ListenerRetries
from parlour.core.plugin_hooks.subscriptions import ListenerSubscriptions
from parlour.core.routing.router import ToListeners, ToWebhook
from parlour.core.runs.event_completion import EventCompleter
from parlour.core.runs.session import QueuedEvent
from parlour.core.store import event_notes, inbox, listener_deliveries, webhook_deliveries
from parlour.core.store.webhook_deliveries import WebhookDelivery
from parlour.core.webhooks.outbound import OutboundWebhooks


class NonAgentHandlers:
    """Handles events whose route names plugin listeners or a webhook."""

    def __init__(
        self,
        audience: ListenerSubscriptions,
        listeners: ListenerDispatcher,
        later: ListenerRetries,
        webhooks: OutboundWebhooks,
        bots: BotRepository,
        completer: EventCompleter,
        journal: Journal,
        ids: Ids,
        clock: Clock,
    ) -> None:
        self._audience = audience
        self._listeners = listeners
        self._later = later
        self._webhooks = webhooks
        self._bots = bots
        self._completer = completer
        self._journal = journal
        self._ids = ids
        self._clock = clock

    def has_listeners(self, entry: QueuedEvent, decision: ToListeners) -> bool:
        return bool(self._audience.subscribed_plugins(entry.event.envelope.event_type, decision.plugins))

    async def call_listeners(self, entry: QueuedEvent, decision: ToListeners) -> None:
        """Calls the listeners at the event's turn, so that they receive a conversation's events in order. A crash
        before the end repeats the calls.
        """
        await self._journal.commit(Unit("event.attempt", (inbox.count_attempt(entry.seq),)))
        heard = await self._listeners.dispatch(entry.event, decision.plugins)
        draft, now = UnitBuilder("event.listened"), self._clock.now()
        outcome = "handled" if heard.handled_by else "dropped"
        settled = self._completer.add_outcome(draft, entry.event, outcome, _reason(decision, heard))
        draft.add(*(listener_deliveries.complete(entry.seq, plugin_id) for plugin_id in heard.completed_plugins))
        for plugin_id in heard.failed_listeners:
            draft.add(
                listener_deliveries.enqueue(
                    entry.seq, plugin_id, False, now, attempts=1, past=heard.finished_handlers[plugin_id]
                )
            )
        missed = [
            f"{plugin_id} could not be told: {each.failure}" for plugin_id, each in heard.failed_listeners.items()
        ]
        if heard.failures or missed:
            text = f"Of those who listen, {'; '.join([*heard.failures, *missed])}."
            draft.add(event_notes.add_note(entry.seq, "listeners", {"text": text}, now))
        await self._completer.commit(draft, settled)
        self._later.enqueue(*heard.failed_listeners)

    async def queue_webhook_call(self, entry: QueuedEvent, decision: ToWebhook) -> None:
        """Completes the event and queues the webhook call in one unit. The conversation continues without waiting for
        the call.
        """
        bot_id, now = entry.event.envelope.bot_id, self._clock.now()
        bot = payloads.bot_payload(self._bots, bot_id) or {
            "id": bot_id,
            "name": "",
            "adapter": entry.event.envelope.source,
        }
        call = WebhookDelivery(self._ids.new(), entry.seq, bot, decision.route.handler_config, now)
        draft = UnitBuilder("event.hooked")
        settled = self._completer.add_outcome(draft, entry.event, "handed", decision.reason)
        draft.add(webhook_deliveries.insert(call))
        await self._completer.commit(draft, settled)
        self._webhooks.enqueue(call)


def _reason(decision: ToListeners, heard: DispatchResult) -> str:
    if not heard.handled_by:
        return f"{decision.reason}, and no listener took it"
    stopped = f"; {heard.stopped_by} let nobody else have it" if heard.stopped_by else ""
    return f"{decision.reason}; {', '.join(heard.handled_by)} took it{stopped}"
