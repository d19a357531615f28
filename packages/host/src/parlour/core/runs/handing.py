"""What happens with events that no run answers: plugins' listeners hear them, or a webhook gets them."""

from parlour.core.facts import inbox, listening, trail, webhook_calls
from parlour.core.facts.webhook_calls import WebhookCall
from parlour.core.journal import Draft, Journal, Unit
from parlour.core.listeners import telling
from parlour.core.listeners.audience import Audience
from parlour.core.listeners.later import LaterListening
from parlour.core.listeners.listening import Heard, Listening
from parlour.core.platforms.book import BotBook
from parlour.core.ports import Clock, Ids
from parlour.core.routing.router import Hooked, Listened
from parlour.core.webhooks.hooks import Webhooks

from .ending import Endings
from .outcomes import Outcomes
from .session import Entry


class Handing:
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
        """In its turn, so that a conversation's events are heard in order. A crash before the end repeats it."""
        await self._journal.commit(Unit("event.attempt", (inbox.attempt(entry.seq),)))
        heard = await self._listeners.hand(entry.event, decision.plugins)
        draft, now = Draft("event.listened"), self._clock.now()
        outcome = "handled" if heard.handled_by else "dropped"
        settled = self._endings.settle(draft, entry.event, outcome, _reason(decision, heard))
        draft.add(*(listening.heard(entry.seq, plugin_id) for plugin_id in heard.told))
        for plugin_id in heard.missed:
            draft.add(listening.owe(entry.seq, plugin_id, False, now, attempts=1, past=heard.past[plugin_id]))
        missed = [f"{plugin_id} could not be told: {each.failure}" for plugin_id, each in heard.missed.items()]
        if heard.failures or missed:
            text = f"Of those who listen, {'; '.join([*heard.failures, *missed])}."
            draft.add(trail.note(entry.seq, "listeners", {"text": text}, now))
        await self._journal.commit(draft.unit())
        self._outcomes.settled([settled])
        self._later.offer(*heard.missed)

    async def to_webhook(self, entry: Entry, decision: Hooked) -> None:
        """The conversation goes on at once; the call is owed from here on."""
        bot_id, now = entry.event.envelope.bot_id, self._clock.now()
        bot = telling.bot(self._bots, bot_id) or {"id": bot_id, "name": "", "adapter": entry.event.envelope.source}
        call = WebhookCall(self._ids.new(), entry.seq, bot, decision.route.handler_config, now)
        draft = Draft("event.hooked")
        settled = self._endings.settle(draft, entry.event, "handed", decision.reason)
        draft.add(webhook_calls.put(call))
        await self._journal.commit(draft.unit())
        self._outcomes.settled([settled])
        self._webhooks.offer(call)


def _reason(decision: Listened, heard: Heard) -> str:
    if not heard.handled_by:
        return f"{decision.reason}, and no listener took it"
    stopped = f"; {heard.stopped_by} let nobody else have it" if heard.stopped_by else ""
    return f"{decision.reason}; {', '.join(heard.handled_by)} took it{stopped}"
