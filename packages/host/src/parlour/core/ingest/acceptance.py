"""Accepts events: commits an event in one unit, together with the start of its run if that can start immediately."""

import asyncio
from collections.abc import Sequence

from parlour.core.cluster.ownership import PartLost
from parlour.core.journal import GuardFailed, Journal, Ref, Statement, StorageFailed, Unit, UnitBuilder, resolve_ref
from parlour.core.model.event import ConversationKey, EventEnvelope, RecordedEvent
from parlour.core.model.ids import ConversationId, EventId, PluginId
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

    event_id: EventId
    seq: int
    conversation_id: ConversationId
    duplicate: bool
    handled: bool = False
    """True if the event was a chat command, which is handled by the gateway and not queued."""


class EventAcceptor:
    """Commits events and queues them; a redelivery is noted at the first event."""

    def __init__(
        self,
        journal: Journal,
        conversations: Conversations,
        feedback: FeedbackStore,
        observers: EventObservers,
        fast_start: FastStart,
        ids: Ids,
        clock: Clock,
    ) -> None:
        self._journal = journal
        self._log = EventLog(journal)
        self._conversations = conversations
        self._feedback = feedback
        self._observers = observers
        self._fast_start = fast_start
        self._ids = ids
        self._clock = clock
        self._uncertain_commits: set[tuple[ConversationKey, str]] = set()
        """Events whose commit failed with an unknown result, until they are delivered again."""

    async def accept(
        self,
        prepared: PreparedEvent,
        decision: RouteDecision,
        observers: Sequence[PluginId],
        extra_statements: Sequence[Statement],
    ) -> IngestResult:
        """Commits the event, and queues it or starts its run. `extra_statements` are part of its unit."""
        key = prepared.event.conversation_key
        is_only_arrival = self._fast_start.enter(key)
        try:
            while (
                result := await self._try_accept(prepared, decision, observers, extra_statements, is_only_arrival)
            ) is None:
                is_only_arrival = False
            return result
        finally:
            self._fast_start.leave(key)

    async def renew_if_idle(self, event: EventEnvelope, decision: RouteDecision) -> None:
        """Starts a new conversation if the chat was silent for longer than the agent's `conversation_ttl`, unless this
        is a redelivery.
        """
        seconds = decision.binding.agent.conversation_ttl if isinstance(decision, ToAgent) else 0
        if seconds and await self._log.find_duplicate(event) is None:
            await self._conversations.start_new_if_idle(event.conversation_key, seconds, self._ids, self._clock)

    async def find_accepted(self, event: EventEnvelope) -> IngestResult | None:
        """Returns the result for an event that was accepted before, or None if it is new."""
        duplicate = await self._log.find_duplicate(event)
        if duplicate is None:
            return None
        return IngestResult(event.event_id, duplicate.seq, duplicate.conversation_id, duplicate=True)

    async def note_redelivery(self, result: IngestResult, extra_statements: Sequence[Statement]) -> None:
        """Notes at an event that it was delivered again."""
        note = event_notes.add_note(result.seq, "duplicate", {"event_id": result.event_id}, self._clock.now())
        await self._journal.commit(Unit("event.repeat", (note, *extra_statements)))

    async def _try_accept(
        self,
        prepared: PreparedEvent,
        decision: RouteDecision,
        observers: Sequence[PluginId],
        extra_statements: Sequence[Statement],
        is_only_arrival: bool,
    ) -> IngestResult | None:
        """Commits the event and queues it. Returns None if a concurrent change made the commit fail and the caller has
        to retry.

        If no other event of the conversation is arriving (`is_only_arrival`) and a run can start immediately, the
        run starts in the same unit.
        """
        event, now = prepared.event, self._clock.now()
        key = event.conversation_key
        existing_id = await self._conversations.find(key)
        conversation_id = existing_id or self._conversations.new_id(event.bot_id, self._ids)
        recorded = RecordedEvent(0, conversation_id, now, event)
        start = await self._fast_start.prepare(recorded, decision, is_only_arrival)
        try:
            unit = UnitBuilder(start.unit_name)
            if existing_id is None:
                unit.add(conversations.create(conversation_id, key, now))
            event_position = unit.add(event_log.append(event, conversation_id, now))
            seq = Ref(event_position, "seq")
            observer_statements = self._observers.statements(observers, seq, event.bot_id, now, decision)
            unit.add(*await self._feedback.statements(event, existing_id, now))
            first_extra = unit.add(*extra_statements)
            after_extra = len(unit)
            unit.add(*observer_statements)
            files = unit.add(*prepared.statements(conversation_id))
            after_files = len(unit)
            start.add_to_unit(unit, seq)
            receipt = await self._journal.commit(unit.build(), start.on_prepared)
        except BaseException as error:
            start.rollback()
            if isinstance(error, StorageFailed) and error.uncertain:
                self._uncertain_commits.add((key, event.event_id))
            if not isinstance(error, GuardFailed):
                raise
            if files <= error.statement < after_files:
                raise attachment_in_use() from error
            if first_extra <= error.statement < after_extra:
                raise PartLost(f"event {event.event_id} is left to the Host that owns its bot") from error
            if error.statement != event_position:
                return None
            return await self._accept_redelivery(event, extra_statements)
        self._conversations.cache(key, conversation_id)
        number = resolve_ref(receipt, seq)
        if start.confirm(receipt):
            await asyncio.sleep(0)  # lets the run start first
        self._observers.after_commit(observers, decision)
        return IngestResult(event.event_id, number, conversation_id, duplicate=False)

    async def _accept_redelivery(self, event: EventEnvelope, extra_statements: Sequence[Statement]) -> IngestResult:
        result = await self.find_accepted(event)
        if result is None:
            raise LookupError(f"event {event.event_id} was refused as known and can't be found")
        await self.note_redelivery(result, extra_statements)
        uncertain = (event.conversation_key, event.event_id)
        if uncertain in self._uncertain_commits:
            await self._fast_start.refresh(result.conversation_id)
            self._uncertain_commits.discard(uncertain)
        return result
