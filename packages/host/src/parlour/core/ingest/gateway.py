"""The single entry of all events. An event is accepted when it is committed; a redelivery ends here."""

import asyncio
from collections.abc import Sequence

from parlour.core.journal import GuardFailed, Journal, Ref, Statement, StorageFailed, Unit, UnitBuilder, resolve_ref
from parlour.core.model.command import CommandParser, ParsedCommand
from parlour.core.model.event import ConversationKey, EventEnvelope, RecordedEvent
from parlour.core.model.ports import Clock, Ids
from parlour.core.model.providers import ProviderFailed
from parlour.core.plugin_hooks.retries import ListenerRetries
from parlour.core.plugin_hooks.subscriptions import ListenerSubscriptions
from parlour.core.routing.decisions import RouteDecision, ToAgent, ToListeners
from parlour.core.routing.router import Router
from parlour.core.runs.fast_start import FastStart
from parlour.core.runs.lanes import Lanes
from parlour.core.runs.session import QueuedEvent
from parlour.core.store import conversations, event_log, event_notes, inbox, listener_deliveries
from parlour.core.store.conversations import Conversations
from parlour.core.store.event_attachments import EventAttachments, PreparedEvent, attachment_in_use
from parlour.core.store.event_log import EventLog
from parlour.core.store.feedback import FeedbackStore
from parlour_sdk.values import dataclass

from .command_executor import CommandExecutor


@dataclass(frozen=True, slots=True)
class IngestResult:
    """The result of accepting an event: its number, its conversation, and whether it was a redelivery."""

    event_id: str
    seq: int
    conversation_id: str
    duplicate: bool
    handled: bool = False
    """True if the event was a chat command, which is handled by the gateway and not queued."""


PLATFORM = "platform"
"""Surface of events from platforms. A platform does not repeat an event that was rejected, so events that arrive while
the Host stops are stored and answered after the next start.
"""


class HostStopping(Exception):
    """The Host is stopping and takes nothing new; send it again in a moment."""

    code = "stopping"


class Gateway:
    """Stores events and queues them in the lanes of their conversations; chat commands are executed instead."""

    def __init__(
        self,
        journal: Journal,
        chats: Conversations,
        media: EventAttachments,
        feedback: FeedbackStore,
        router: Router,
        audience: ListenerSubscriptions,
        later: ListenerRetries,
        control: CommandParser,
        obeying: CommandExecutor,
        lanes: Lanes,
        beginnings: FastStart,
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
        self._uncertain_commits: set[tuple[ConversationKey, str]] = set()
        """Events whose commit failed with an unknown result, until they are delivered again."""

    def stop_accepting(self) -> None:
        """Rejects new events from now on, except those of platforms."""
        self._closed = True

    async def aclose(self) -> None:
        """Cancels long-running commands."""
        await self._obeying.close()

    async def recover(self) -> None:
        """Executes or reports commands that were interrupted by the last stop of the Host."""
        await self._obeying.recover(self._control)

    async def ingest(self, event: EventEnvelope, *also: Statement) -> IngestResult:
        """Accepts an event and returns after the commit; from then on a crash loses nothing.

        `also` is written in the same unit or, if the event is a redelivery, with the note about it.
        """
        if self._closed and event.surface != PLATFORM:
            raise HostStopping(HostStopping.__doc__)
        recognized = self._control.recognize(event)
        if recognized is not None:
            return await self._execute_command(event, recognized, also)
        key, decision = event.conversation_key, self._router.decide(event)
        await self._renew_if_idle(event, decision)
        observers = self._audience.observing_plugins(event.event_type)
        try:
            taken = await self._media.store(event, self._conversations)
        except ProviderFailed:
            accepted = await self.find_accepted(event)
            if accepted is None:
                raise
            await self._note_redelivery(accepted, also)
            return accepted  # its files were available at the first delivery
        alone = self._beginnings.enter(key)
        try:
            while (accepted := await self._accept(taken, decision, observers, also, alone)) is None:
                alone = False
            return accepted
        finally:
            self._beginnings.leave(key)

    async def _accept(
        self,
        taken: PreparedEvent,
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
        event, now = taken.event, self._clock.now()
        key = event.conversation_key
        known = await self._conversations.find(key)
        conversation_id = known or self._ids.new()
        arrived = RecordedEvent(0, conversation_id, now, event)
        beginning = await self._beginnings.prepare(arrived, decision) if alone else None
        try:
            draft = UnitBuilder("event.begin" if beginning else "event.accept")
            if known is None:
                draft.add(conversations.create(conversation_id, key, now))
            numbered = draft.add(event_log.append(event, conversation_id, now))
            seq = Ref(numbered, "seq")
            told = [_observer_delivery(seq, plugin_id, now, decision) for plugin_id in observers]
            draft.add(*await self._feedback.statements(event, known, now), *also, *told)
            files = draft.add(*taken.statements(conversation_id))
            owed = len(draft)
            if beginning is not None:
                beginning.add_to_unit(draft, seq)
            else:
                draft.add(inbox.enqueue(seq, conversation_id))
            receipt = await self._journal.commit(draft.build())
        except BaseException as error:
            if beginning is not None:
                beginning.rollback()
            if isinstance(error, StorageFailed) and error.uncertain:
                self._uncertain_commits.add((key, event.event_id))
            if not isinstance(error, GuardFailed):
                raise
            if files <= error.statement < owed:
                raise attachment_in_use() from error
            if error.statement != numbered:
                return None
            return await self._accept_redelivery(event, also)
        self._conversations.cache(key, conversation_id)
        number = resolve_ref(receipt, seq)
        if beginning is not None:
            beginning.confirm(receipt)
            await asyncio.sleep(0)  # lets the run start first
        else:
            self._lanes.enqueue(QueuedEvent(RecordedEvent(number, conversation_id, now, event)))
        self._later.enqueue(*(plugin_id for plugin_id in observers if not _is_handled_by(plugin_id, decision)))
        return IngestResult(event.event_id, number, conversation_id, duplicate=False)

    async def _execute_command(
        self, event: EventEnvelope, recognized: ParsedCommand, also: Sequence[Statement]
    ) -> IngestResult:
        observers, now = self._audience.observing_plugins(event.event_type), self._clock.now()
        owed = [listener_deliveries.enqueue(Ref(0, "seq"), plugin_id, True, now) for plugin_id in observers]
        obeyed = await self._obeying.execute(event, recognized, [*owed, *also])
        accepted = IngestResult(
            event.event_id, obeyed.seq, obeyed.conversation_id, obeyed.already_executed, handled=True
        )
        if obeyed.already_executed:
            await self._note_redelivery(accepted, also)
        self._later.enqueue(*observers)
        return accepted

    async def _renew_if_idle(self, event: EventEnvelope, decision: RouteDecision) -> None:
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

    async def _accept_redelivery(self, event: EventEnvelope, also: Sequence[Statement]) -> IngestResult:
        accepted = await self.find_accepted(event)
        if accepted is None:
            raise LookupError(f"event {event.event_id} was refused as known and can't be found")
        await self._note_redelivery(accepted, also)
        doubt = (event.conversation_key, event.event_id)
        if doubt in self._uncertain_commits:
            await self._lanes.refresh(accepted.conversation_id)
            self._uncertain_commits.discard(doubt)
        return accepted

    async def _note_redelivery(self, accepted: IngestResult, also: Sequence[Statement]) -> None:
        note = event_notes.add_note(accepted.seq, "duplicate", {"event_id": accepted.event_id}, self._clock.now())
        await self._journal.commit(Unit("event.repeat", (note, *also)))


def _observer_delivery(seq: Ref, plugin_id: str, now: int, decision: RouteDecision) -> Statement:
    owed = listener_deliveries.enqueue(seq, plugin_id, True, now)
    return listener_deliveries.enqueue_in_order(seq, plugin_id, now) if _is_handled_by(plugin_id, decision) else owed


def _is_handled_by(plugin_id: str, decision: RouteDecision) -> bool:
    """Returns whether listeners of this plugin handle the event; its observers then receive it together with them."""
    return isinstance(decision, ToListeners) and (not decision.plugins or plugin_id in decision.plugins)
