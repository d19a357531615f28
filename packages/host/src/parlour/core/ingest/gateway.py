"""The one way in. An event is accepted when it is durable; a redelivery stops here."""

import asyncio
from collections.abc import Sequence

from parlour.core.journal import Draft, GuardFailed, Journal, Ref, Statement, StorageFailed, Unit, resolved
from parlour.core.model.command import Control, Recognized
from parlour.core.model.event import ConversationKey, EventEnvelope, RecordedEvent
from parlour.core.model.ports import Clock, Ids
from parlour.core.model.providers import ProviderFailed
from parlour.core.plugin_hooks.retries import LaterListening
from parlour.core.plugin_hooks.subscriptions import Audience
from parlour.core.routing.router import Bound, Decision, Listened, Router
from parlour.core.runs.fast_start import Beginnings
from parlour.core.runs.queue import Lanes
from parlour.core.runs.session import Entry
from parlour.core.store import conversations, event_log, event_notes, inbox, listener_deliveries
from parlour.core.store.conversations import Conversations
from parlour.core.store.event_attachments import EventMedia, Taken, taken_elsewhere
from parlour.core.store.event_log import EventLog
from parlour.core.store.feedback import Feedback
from parlour_sdk.values import dataclass

from .command_executor import Obeying


@dataclass(frozen=True, slots=True)
class Accepted:
    event_id: str
    seq: int
    conversation_id: str
    duplicate: bool
    settled: bool = False
    """Nothing is owed for it: it was an instruction, and is carried out."""


PLATFORM = "platform"
"""A platform does not ask again: what it tells while the Host stops is kept and answered after the next start."""


class Closed(Exception):
    """The Host is stopping and takes nothing new; send it again in a moment."""

    code = "stopping"


class Gateway:
    def __init__(
        self,
        journal: Journal,
        chats: Conversations,
        media: EventMedia,
        feedback: Feedback,
        router: Router,
        audience: Audience,
        later: LaterListening,
        control: Control,
        obeying: Obeying,
        lanes: Lanes,
        beginnings: Beginnings,
        ids: Ids,
        clock: Clock,
    ) -> None:
        self._journal = journal
        self._media = media
        self._feedback = feedback
        self._router = router
        self._audience = audience
        self._later = later
        self._log = EventLog(journal)
        self._conversations = chats
        self._control = control
        self._obeying = obeying
        self._lanes = lanes
        self._beginnings = beginnings
        self._ids = ids
        self._clock = clock
        self._closed = False
        self._doubtful: set[tuple[ConversationKey, str]] = set()
        """Events of which nobody knows whether they were recorded, until they come again."""

    def close(self) -> None:
        self._closed = True

    async def rest(self) -> None:
        """Instructions that take their time are cut off."""
        await self._obeying.close()

    async def take_up(self) -> None:
        """Instructions that were cut off."""
        await self._obeying.take_up(self._control)

    async def ingest(self, event: EventEnvelope, *also: Statement) -> Accepted:
        """Returns after the commit; from then on a crash loses nothing. `also` is written with it, or with the note
        that it came before.
        """
        if self._closed and event.surface != PLATFORM:
            raise Closed(Closed.__doc__)
        recognized = self._control.recognize(event)
        if recognized is not None:
            return await self._obey(event, recognized, also)
        key, decision = event.conversation, self._router.decide(event)
        await self._begin_anew(event, decision)
        observers = self._audience.observing(event.event_type)
        try:
            taken = await self._media.take(event, self._conversations)
        except ProviderFailed:
            accepted = await self.recorded(event)
            if accepted is None:
                raise
            await self._repeated(accepted, also)
            return accepted  # its files were there when it came first
        alone = self._beginnings.arrives(key)
        try:
            while (accepted := await self._accept(taken, decision, observers, also, alone)) is None:
                alone = False
            return accepted
        finally:
            self._beginnings.arrived(key)

    async def _accept(
        self, taken: Taken, decision: Decision, observers: Sequence[str], also: Sequence[Statement], alone: bool
    ) -> Accepted | None:
        """None when something else happened at the same moment, and it is to be tried again.

        An event that is alone takes its run along, if it gets one at once.
        """
        event, now = taken.event, self._clock.now()
        key = event.conversation
        known = await self._conversations.find(key)
        conversation_id = known or self._ids.new()
        arrived = RecordedEvent(0, conversation_id, now, event)
        beginning = await self._beginnings.prepare(arrived, decision) if alone else None
        try:
            draft = Draft("event.begin" if beginning else "event.accept")
            if known is None:
                draft.add(conversations.create(conversation_id, key, now))
            numbered = draft.add(event_log.append(event, conversation_id, now))
            seq = Ref(numbered, "seq")
            told = [_observed(seq, plugin_id, now, decision) for plugin_id in observers]
            draft.add(*await self._feedback.statements(event, known, now), *also, *told)
            files = draft.add(*taken.statements(conversation_id))
            owed = len(draft)
            if beginning is not None:
                beginning.write(draft, seq)
            else:
                draft.add(inbox.owe(seq, conversation_id))
            receipt = await self._journal.commit(draft.unit())
        except BaseException as error:
            if beginning is not None:
                beginning.give_up()
            if isinstance(error, StorageFailed) and error.uncertain:
                self._doubtful.add((key, event.event_id))
            if not isinstance(error, GuardFailed):
                raise
            if files <= error.statement < owed:
                raise taken_elsewhere() from error
            if error.statement != numbered:
                return None
            return await self._duplicate(event, also)
        self._conversations.remember(key, conversation_id)
        number = resolved(receipt, seq)
        if beginning is not None:
            beginning.offer(receipt)
            await asyncio.sleep(0)  # the run goes first
        else:
            self._lanes.offer(Entry(RecordedEvent(number, conversation_id, now, event)))
        self._later.offer(*(plugin_id for plugin_id in observers if not _in_turn(plugin_id, decision)))
        return Accepted(event.event_id, number, conversation_id, duplicate=False)

    async def _obey(self, event: EventEnvelope, recognized: Recognized, also: Sequence[Statement]) -> Accepted:
        observers, now = self._audience.observing(event.event_type), self._clock.now()
        owed = [listener_deliveries.owe(Ref(0, "seq"), plugin_id, True, now) for plugin_id in observers]
        obeyed = await self._obeying.obey(event, recognized, [*owed, *also])
        accepted = Accepted(event.event_id, obeyed.seq, obeyed.conversation_id, obeyed.again, settled=True)
        if obeyed.again:
            await self._repeated(accepted, also)
        self._later.offer(*observers)
        return accepted

    async def _begin_anew(self, event: EventEnvelope, decision: Decision) -> None:
        """A chat that was silent for longer than its agent remembers, unless this is a redelivery."""
        seconds = decision.binding.agent.conversation_ttl if isinstance(decision, Bound) else 0
        if seconds and await self._log.same_as(event) is None:
            await self._conversations.renew_after(event.conversation, seconds, self._ids, self._clock)

    async def recorded(self, event: EventEnvelope) -> Accepted | None:
        """What was answered when this event came before."""
        recorded = await self._log.same_as(event)
        if recorded is None:
            return None
        return Accepted(event.event_id, recorded.seq, recorded.conversation_id, duplicate=True)

    async def _duplicate(self, event: EventEnvelope, also: Sequence[Statement]) -> Accepted:
        accepted = await self.recorded(event)
        if accepted is None:
            raise LookupError(f"event {event.event_id} was refused as known and can't be found")
        await self._repeated(accepted, also)
        doubt = (event.conversation, event.event_id)
        if doubt in self._doubtful:
            await self._lanes.look(accepted.conversation_id)
            self._doubtful.discard(doubt)
        return accepted

    async def _repeated(self, accepted: Accepted, also: Sequence[Statement]) -> None:
        note = event_notes.note(accepted.seq, "duplicate", {"event_id": accepted.event_id}, self._clock.now())
        await self._journal.commit(Unit("event.repeat", (note, *also)))


def _observed(seq: Ref, plugin_id: str, now: int, decision: Decision) -> Statement:
    owed = listener_deliveries.owe(seq, plugin_id, True, now)
    return listener_deliveries.owe_in_turn(seq, plugin_id, now) if _in_turn(plugin_id, decision) else owed


def _in_turn(plugin_id: str, decision: Decision) -> bool:
    """Whether listeners of this plugin are to handle it: then its observers hear of it with them."""
    return isinstance(decision, Listened) and (not decision.plugins or plugin_id in decision.plugins)
