"""The records of chat commands: the unit that records a command, and the one that writes its outcome and reply."""

from collections.abc import AsyncIterator, Sequence
from dataclasses import replace

from parlour.core.delivery.service import DeliveryService
from parlour.core.journal import GuardFailed, Journal, Ref, Statement, Unit, UnitBuilder
from parlour.core.model.command import CommandResult
from parlour.core.model.event import EventEnvelope, RecordedEvent
from parlour.core.model.ids import NO_RUN, PartId
from parlour.core.model.ports import Clock, Ids
from parlour.core.plugin_hooks.host_events import COMMAND_EVENT_TYPE, HostEvents, command_event
from parlour.core.runs.outcomes import Outcomes
from parlour.core.store import event_log, event_notes, inbox, outbox_rows
from parlour.core.store.conversations import Conversations
from parlour.core.store.event_log import EventLog
from parlour.core.store.inbox import Inbox, InboxOutcome


class CommandLog:
    """Records chat commands and completes them."""

    def __init__(
        self,
        journal: Journal,
        conversations: Conversations,
        delivery: DeliveryService,
        outcomes: Outcomes,
        host_events: HostEvents,
        ids: Ids,
        clock: Clock,
    ) -> None:
        self._journal = journal
        self._log = EventLog(journal)
        self._inbox = Inbox(journal)
        self._conversations = conversations
        self._delivery = delivery
        self._outcomes = outcomes
        self._host_events = host_events
        self._ids = ids
        self._clock = clock

    async def pending(self, part: PartId | None = None) -> AsyncIterator[RecordedEvent]:
        """Yields the recorded commands, of all parts or of one, that were not completed, except erased ones."""
        for seq in await self._inbox.pending_commands(part):
            event = await self._log.get_by_seq(seq)
            if event is not None and not event.is_erased:
                yield event

    async def is_unfinished(self, event: RecordedEvent, name: str) -> bool:
        """Returns whether the recorded command has only its preliminary outcome."""
        outcome = await self._inbox.outcome(event.seq)
        return outcome is not None and outcome.reason == _started_reason(name)

    async def record(
        self, event: EventEnvelope, name: str, extra_statements: Sequence[Statement]
    ) -> tuple[RecordedEvent, bool]:
        """Records the event and returns it, with whether it is new.

        A preliminary outcome is written in the same unit, so that a command that is interrupted here has a visible
        outcome.
        """
        conversation_id = await self._conversations.get_or_create(event.conversation_key, self._ids, self._clock)
        now = self._clock.now()
        outcome_row = inbox.record_outcome(
            InboxOutcome(0, "control", _started_reason(name), NO_RUN), now, Ref(0, "seq")
        )
        try:
            inbox_row = inbox.enqueue_command(Ref(0, "seq"), conversation_id, event.bot_id)
            unit = Unit(
                "control.record",
                (event_log.append(event, conversation_id, now), outcome_row, inbox_row, *extra_statements),
            )
            receipt = await self._journal.commit(unit)
        except GuardFailed:
            duplicate = await self._log.find_duplicate(event)
            if duplicate is None:
                raise
            return duplicate, False
        return RecordedEvent(receipt[0][0]["seq"], conversation_id, now, event), True

    async def complete(self, event: RecordedEvent, name: str, result: CommandResult) -> None:
        """Writes the outcome and the reply. The reply is not part of the transcript, because it comes from the Host and
        is not about the topic of the conversation.
        """
        outcome = InboxOutcome(event.seq, "control", f"{name}: {result.reason}", NO_RUN)
        unit = UnitBuilder("control.settle")
        now = self._clock.now()
        unit.add(*inbox.complete_command(outcome, now))
        if name.startswith("/") and not event.envelope.is_preview:
            self._host_events.add(unit, command_event(event, name.removeprefix("/"), now), event.conversation_id, now)
        rows = []
        if result.reply:
            target_event = replace(event, conversation_id=result.conversation_id or event.conversation_id)
            message = {"role": "assistant", "content": result.reply, "metadata": {"control": name}}
            rows.append(self._delivery.composer.compose_message(target_event, NO_RUN, "message", message))
            note = {"text": f"Its sender was told: {result.reply}", event_notes.OUTBOX_IDS: [rows[0].outbox_id]}
            unit.add(outbox_rows.insert(rows[0]), event_notes.add_note(event.seq, "notice", note, now))
        await self._delivery.publisher.deliver(self._journal, unit.build(), rows)
        self._outcomes.publish([outcome])
        if name.startswith("/"):
            self._host_events.after_commit(COMMAND_EVENT_TYPE)


def _started_reason(name: str) -> str:
    return f"{name}: it was recognized, and whether it was carried out is not known"
