"""Accepts events: commits an event in one unit, together with the start of its run if that can start immediately."""

import asyncio
from collections.abc import Sequence

from parlour.core.journal import GuardFailed, Journal, Ref, Statement, StorageFailed, Unit, UnitBuilder, resolve_ref
from parlour.core.model.event import ConversationKey, EventEnvelope, RecordedEvent
from parlour.core.model.ports import Clock, Ids
from parlour.core.routing.decisions import RouteDecision, ToAgent
from parlour.core.runs.fast_start import FastStart
from parlour.core.store import conversations, event_log, event_notes
from parlour.core.store.conversations import Conversations
from parlour.core.store.event_attachments import PreparedEvent, attachment_in_use
from parlour.core.store.event_log import EventLog
from parlour.core.store.feedback import FeedbackStore
from parlour_sdk.values import dataclass

from .observers import EventObservers


@dataclass(frozen=True, slots=True)
class IngestResult:
    """The result of accepting an event: its number, its conversation, and whether it was a redelivery."""

    event_id: str
    seq: int
    conversation_id: str
    duplicate: bool
    handled: bool = False
    """True if the event was a chat command, which is handled by the gateway and not queued."""


class EventAcceptor:
    """Commits events and queues them; a redelivery is noted at the first event."""

    def __init__(
        self,
        journal: Journal,
        chats: Conversations,
        feedback: FeedbackStore,
        observers: EventObservers,
        starts: FastStart,
        ids: Ids,
        clock: Clock,
    ) -> None:
        self._journal = journal
        self._log = EventLog(journal)
        self._conversations = chats
        self._feedback = feedback
        self._observers = observers
        self._starts = starts
        self._ids = ids
        self._clock = clock
        self._uncertain_commits: set[tuple[ConversationKey, str]] = set()
        """Events whose commit failed with an unknown result, until they are delivered again."""

    async def accept(
        self, prepared: PreparedEvent, decision: RouteDecision, observers: Sequence[str], also: Sequence[Statement]
    ) -> IngestResult:
        """Commits the event, and queues it or starts its run. `also` is part of its unit."""
        key = prepared.event.conversation_key
        alone = self._starts.enter(key)
        try:
            while (accepted := await self._try_accept(prepared, decision, observers, also, alone)) is None:
                alone = False
            return accepted
        finally:
            self._starts.leave(key)

    async def renew_if_idle(self, event: EventEnvelope, decision: RouteDecision) -> None:
        """Starts a new conversation if the chat was silent for longer than the agent's `conversation_ttl`, unless this
        is a redelivery.
        """
        seconds = decision.binding.agent.conversation_ttl if isinstance(decision, ToAgent) else 0
        if seconds and await self._log.find_duplicate(event) is None:
            await self._conversations.start_new_if_idle(event.conversation_key, seconds, self._ids, self._clock)

    async def find_accepted(self, event: EventEnvelope) -> IngestResult | None:
        """Returns the result for an event that was accepted before, or None if it is new."""
        recorded = await self._log.find_duplicate(event)
        if recorded is None:
            return None
        return IngestResult(event.event_id, recorded.seq, recorded.conversation_id, duplicate=True)

    async def note_redelivery(self, accepted: IngestResult, also: Sequence[Statement]) -> None:
        """Notes at an event that it was delivered again."""
        note = event_notes.add_note(accepted.seq, "duplicate", {"event_id": accepted.event_id}, self._clock.now())
        await self._journal.commit(Unit("event.repeat", (note, *also)))

    async def _try_accept(
        self,
        prepared: PreparedEvent,
        decision: RouteDecision,
        observers: Sequence[str],
        also: Sequence[Statement],
        alone: bool,
    ) -> IngestResult | None:
        """Commits the event and queues it. Returns None if a concurrent change made the commit fail and the caller has
        to retry.

        If no other event of the conversation is arriving (`alone`) and a run can start immediately, the run starts in
        the same unit.
        """
        event, now = prepared.event, self._clock.now()
        key = event.conversation_key
        known = await self._conversations.find(key)
        conversation_id = known or self._ids.new()
        arrived = RecordedEvent(0, conversation_id, now, event)
        start = await self._starts.prepare(arrived, decision, alone)
        try:
            unit = UnitBuilder(start.unit_name)
            if known is None:
                unit.add(conversations.create(conversation_id, key, now))
            recorded = unit.add(event_log.append(event, conversation_id, now))
            seq = Ref(recorded, "seq")
            observed = self._observers.statements(observers, seq, now, decision)
            unit.add(*await self._feedback.statements(event, known, now), *also, *observed)
            files = unit.add(*prepared.statements(conversation_id))
            after_files = len(unit)
            start.add_to_unit(unit, seq)
            receipt = await self._journal.commit(unit.build())
        except BaseException as error:
            start.rollback()
            if isinstance(error, StorageFailed) and error.uncertain:
                self._uncertain_commits.add((key, event.event_id))
            if not isinstance(error, GuardFailed):
                raise
            if files <= error.statement < after_files:
                raise attachment_in_use() from error
            if error.statement != recorded:
                return None
            return await self._accept_redelivery(event, also)
        self._conversations.cache(key, conversation_id)
        number = resolve_ref(receipt, seq)
        if start.confirm(receipt):
            await asyncio.sleep(0)  # lets the run start first
        self._observers.after_commit(observers, decision)
        return IngestResult(event.event_id, number, conversation_id, duplicate=False)

    async def _accept_redelivery(self, event: EventEnvelope, also: Sequence[Statement]) -> IngestResult:
        accepted = await self.find_accepted(event)
        if accepted is None:
            raise LookupError(f"event {event.event_id} was refused as known and can't be found")
        await self.note_redelivery(accepted, also)
        uncertain = (event.conversation_key, event.event_id)
        if uncertain in self._uncertain_commits:
            await self._starts.refresh(accepted.conversation_id)
            self._uncertain_commits.discard(uncertain)
        return accepted
