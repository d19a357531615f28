"""Carries out control input: recorded first, then acted upon, then settled with a word to whoever gave it.

Whatever is cut off between the first and the last is done when the same event is delivered again.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace

from parlour.core.delivery.delivery import Delivery
from parlour.core.facts import event_log, inbox, outgoing
from parlour.core.facts.conversations import Conversations
from parlour.core.facts.event_log import EventLog
from parlour.core.facts.inbox import Inbox, Settled
from parlour.core.journal import Draft, GuardFailed, Journal, Ref, Statement, Unit
from parlour.core.ports import Clock, Ids
from parlour.core.runs.outcomes import Outcomes

from .control import Acted, Recognized
from .envelope import EventEnvelope, RecordedEvent


@dataclass(frozen=True, slots=True)
class Obeyed:
    seq: int
    conversation_id: str
    """Where the chat goes on."""
    again: bool
    """The same event was obeyed before."""


class Obeying:
    def __init__(
        self,
        journal: Journal,
        conversations: Conversations,
        delivery: Delivery,
        outcomes: Outcomes,
        ids: Ids,
        clock: Clock,
    ) -> None:
        self._journal = journal
        self._log = EventLog(journal)
        self._inbox = Inbox(journal)
        self._conversations = conversations
        self._delivery = delivery
        self._outcomes = outcomes
        self._ids = ids
        self._clock = clock

    async def obey(self, event: EventEnvelope, recognized: Recognized, also: Sequence[Statement]) -> Obeyed:
        """`also` is written after the event, whose number is that of statement 0."""
        name = recognized.control_input.name
        recorded = await self._recorded(event, name, also)
        settled = await self._inbox.outcome(recorded.seq)
        if settled is None or settled.reason != _begun(name):
            return Obeyed(recorded.seq, recorded.conversation_id, again=True)
        acted = await recognized.act(recorded)
        await self._settle(recorded, name, acted)
        return Obeyed(recorded.seq, acted.conversation_id or recorded.conversation_id, again=False)

    async def _recorded(self, event: EventEnvelope, name: str, also: Sequence[Statement]) -> RecordedEvent:
        """With an outcome already, so that one that is cut off here is no event that nobody knows of."""
        conversation_id = await self._conversations.open(event.conversation, self._ids, self._clock)
        now = self._clock.now()
        begun = inbox.decide(Settled(0, "control", _begun(name), ""), now, Ref(0, "seq"))
        try:
            unit = Unit("control.record", (event_log.append(event, conversation_id, now), begun, *also))
            receipt = await self._journal.commit(unit)
        except GuardFailed:
            known = await self._log.same_as(event)
            if known is None:
                raise
            return known
        return RecordedEvent(receipt[0][0]["seq"], conversation_id, now, event)

    async def _settle(self, event: RecordedEvent, name: str, acted: Acted) -> None:
        """The word is no part of the transcript: it is the Host that speaks, and not about what was talked of."""
        settled = Settled(event.seq, "control", f"{name}: {acted.told}", "")
        draft = Draft("control.settle")
        draft.add(inbox.decide(settled, self._clock.now()))
        rows = []
        if acted.word:
            there = replace(event, conversation_id=acted.conversation_id or event.conversation_id)
            message = {"role": "assistant", "content": acted.word, "metadata": {"control": name}}
            rows.append(self._delivery.compose(there, "", "message", message))
            draft.add(outgoing.put(rows[0]))
        await self._delivery.deliver(self._journal, draft.unit(), rows)
        self._outcomes.settled([settled])


def _begun(name: str) -> str:
    return f"{name}: it was recognized, and whether it was carried out is not known"
