"""The single entry of all events. An event is accepted when it is committed; a redelivery ends here."""

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
    """The result of accepting an event: its number, its conversation, and whether it was a redelivery."""

    event_id: str
    seq: int
    conversation_id: str
    duplicate: bool
    settled: bool = False
    """True if the event was a chat command, which is handled by the gateway and not queued."""


PLATFORM = "platform"
"""Surface of events from platforms. A platform does not repeat an event that was rejected, so events that arrive while
the Host stops are stored and answered after the next start.
"""


class Closed(Exception):
    """The Host is stopping and takes nothing new; send it again in a moment."""

    code = "stopping"


class Gateway:
    """Stores events and queues them in the lanes of their conversations; chat commands are executed instead."""

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
        """Events whose commit failed with an unknown result, until they are delivered again."""

    def close(self) -> None:
        """Rejects new events from now on, except those of platforms."""
        self._closed = True

    async def rest(self) -> None:
        """Cancels long-running commands."""
        await self._obeying.close()

    async def take_up(self) -> None:
        """Executes or reports commands that were interrupted by the last stop of the Host."""
        await self._obeying.take_up(self._control)

    async def ingest(self, event: EventEnvelope, *also: Statement) -> Accepted:
        """Accepts an event and returns after the commit; from then on a crash loses nothing.

        `also` is written in the same unit or, if the event is a redelivery, with the note about it.
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
            return accepted  # its files were available at the first delivery
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
        """Commits the event and queues it. Returns None if a concurrent change made the commit fail and the caller has
        to retry.

        If no other event of the conversation is arriving (`alone`) and a run can start immediately, the run starts in
        the same unit.
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
            await asyncio.sleep(0)  # lets the run start first
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
        """Starts a new conversation if the chat was silent for longer than the agent's `conversation_ttl`, unless this
        is a redelivery.
        """
        seconds = decision.binding.agent.conversation_ttl if isinstance(decision, Bound) else 0
        if seconds and await self._log.same_as(event) is None:
            await self._conversations.renew_after(event.conversation, seconds, self._ids, self._clock)

    async def recorded(self, event: EventEnvelope) -> Accepted | None:
        """Returns the result for an event that was accepted before, or None if it is new."""
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
    """Returns whether listeners of this plugin handle the event; its observers then receive it together with them."""
    return isinstance(decision, Listened) and (not decision.plugins or plugin_id in decision.plugins)
