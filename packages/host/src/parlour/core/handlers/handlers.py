"""Handles events that no run answers: passes them to plugin listeners or queues webhook calls for them."""

from parlour.core.config.bots import BotBook
from parlour.core.journal import Draft, Journal, Unit
from parlour.core.model.ports import Clock, Ids
from parlour.core.plugin_hooks import payloads
from parlour.core.plugin_hooks.dispatcher import Heard, Listening
from parlour.core.plugin_hooks.retries import LaterListening
from parlour.core.plugin_hooks.subscriptions import Audience
from parlour.core.routing.router import Hooked, Listened
from parlour.core.runs.completion import Endings
from parlour.core.runs.outcomes import Outcomes
from parlour.core.runs.session import Entry
from parlour.core.store import event_notes, inbox, listener_deliveries, webhook_deliveries
from parlour.core.store.webhook_deliveries import WebhookCall
from parlour.core.webhooks.outbound import Webhooks


class Handing:
    """Handles events whose route names plugin listeners or a webhook."""

    def __init__(
        self,
        audience: Audience,
        listeners: Listening,
        later: LaterListening,
        webhooks: Webhooks,
        bots: BotBook,
        endings: Endings,
        outcomes: Outcomes,
        journal: Journal,
        ids: Ids,
        clock: Clock,
    ) -> None:
        self._audience = audience
        self._listeners = listeners
        self._later = later
        self._webhooks = webhooks
        self._bots = bots
        self._endings = endings
        self._outcomes = outcomes
        self._journal = journal
        self._ids = ids
        self._clock = clock

    def anybody(self, entry: Entry, decision: Listened) -> bool:
        return bool(self._audience.listening(entry.event.envelope.event_type, decision.plugins))

    async def to_listeners(self, entry: Entry, decision: Listened) -> None:
        """Calls the listeners at the event's turn, so that they receive a conversation's events in order. A crash
        before the end repeats the calls.
        """
        await self._journal.commit(Unit("event.attempt", (inbox.attempt(entry.seq),)))
        heard = await self._listeners.hand(entry.event, decision.plugins)
        draft, now = Draft("event.listened"), self._clock.now()
        outcome = "handled" if heard.handled_by else "dropped"
        settled = self._endings.settle(draft, entry.event, outcome, _reason(decision, heard))
        draft.add(*(listener_deliveries.heard(entry.seq, plugin_id) for plugin_id in heard.told))
        for plugin_id in heard.missed:
            draft.add(listener_deliveries.owe(entry.seq, plugin_id, False, now, attempts=1, past=heard.past[plugin_id]))
        missed = [f"{plugin_id} could not be told: {each.failure}" for plugin_id, each in heard.missed.items()]
        if heard.failures or missed:
            text = f"Of those who listen, {'; '.join([*heard.failures, *missed])}."
            draft.add(event_notes.note(entry.seq, "listeners", {"text": text}, now))
        await self._journal.commit(draft.unit())
        self._outcomes.settled([settled])
        self._later.offer(*heard.missed)

    async def to_webhook(self, entry: Entry, decision: Hooked) -> None:
        """Completes the event and queues the webhook call in one unit. The conversation continues without waiting for
        the call.
        """
        bot_id, now = entry.event.envelope.bot_id, self._clock.now()
        bot = payloads.bot(self._bots, bot_id) or {"id": bot_id, "name": "", "adapter": entry.event.envelope.source}
        call = WebhookCall(self._ids.new(), entry.seq, bot, decision.route.handler_config, now)
        draft = Draft("event.hooked")
        settled = self._endings.settle(draft, entry.event, "handed", decision.reason)
        draft.add(webhook_deliveries.put(call))
        await self._journal.commit(draft.unit())
        self._outcomes.settled([settled])
        self._webhooks.offer(call)


def _reason(decision: Listened, heard: Heard) -> str:
    if not heard.handled_by:
        return f"{decision.reason}, and no listener took it"
    stopped = f"; {heard.stopped_by} let nobody else have it" if heard.stopped_by else ""
    return f"{decision.reason}; {', '.join(heard.handled_by)} took it{stopped}"
