"""Executes chat commands: records the event, executes the command, then writes the outcome and a reply to the sender.

A command that is interrupted between the first and the last step is executed at the next start, or when its event is
delivered again. A long-running command is not executed a second time: its sender gets a reply that it was interrupted.
A command that fails is reported to its sender as failed.
"""

import asyncio
import logging
from collections.abc import Coroutine, Sequence
from dataclasses import replace
from typing import Any

from parlour.core.delivery.service import DeliveryService
from parlour.core.journal import GuardFailed, Journal, Ref, Statement, StorageFailed, Unit, UnitBuilder
from parlour.core.model.command import CommandParser, CommandResult, ParsedCommand
from parlour.core.model.event import EventEnvelope, RecordedEvent
from parlour.core.model.ports import Clock, Ids
from parlour.core.plugin_hooks.host_events import COMMAND_EVENT_TYPE, HostEvents, command_event
from parlour.core.runs.outcomes import Outcomes
from parlour.core.store import event_log, event_notes, inbox, outbox_rows
from parlour.core.store.conversations import Conversations
from parlour.core.store.event_log import EventLog
from parlour.core.store.inbox import Inbox, InboxOutcome
from parlour.core.texts.languages import Languages
from parlour_sdk.values import dataclass

logger = logging.getLogger(__name__)

STORAGE_RETRY_SECONDS = 1.0
"""Seconds between attempts to write the outcome of a background command while the database fails."""
NO_LONGER_APPLIES = CommandResult("it was cut off, and means nothing any more")
"""Result of an interrupted command that is no longer recognized as one."""


@dataclass(frozen=True, slots=True)
class CommandReceipt:
    """The result of handing an event to the command executor."""

    seq: int
    conversation_id: str
    """Conversation in which the chat continues."""
    already_executed: bool
    """True if the event was recorded before and is not executed again."""


class CommandExecutor:
    """Records and executes chat commands, and recovers those that a crash interrupted."""

    def __init__(
        self,
        journal: Journal,
        conversations: Conversations,
        delivery: DeliveryService,
        outcomes: Outcomes,
        host_events: HostEvents,
        languages: Languages,
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
        self._languages = languages
        self._tasks: set[asyncio.Task[CommandResult]] = set()
        self._ids = ids
        self._clock = clock

    async def execute(
        self, event: EventEnvelope, recognized: ParsedCommand, also: Sequence[Statement]
    ) -> CommandReceipt:
        """Records and executes a command; a long-running one continues in the background after this returns.

        `also` is written after the event, whose number is that of statement 0.
        """
        name = recognized.command.name
        recorded, new = await self._recorded(event, name, also)
        settled = await self._inbox.outcome(recorded.seq)
        lasting = recognized.command.long_running
        if settled is None or settled.reason != _started_reason(name) or (lasting and not new):
            return CommandReceipt(recorded.seq, recorded.conversation_id, already_executed=True)
        if lasting:
            self._in_background(self._execute_in_background(recorded, recognized))
            return CommandReceipt(recorded.seq, recorded.conversation_id, already_executed=False)
        acted = await self._execute(recorded, recognized)
        return CommandReceipt(recorded.seq, acted.conversation_id or recorded.conversation_id, already_executed=False)

    async def _execute(self, event: RecordedEvent, recognized: ParsedCommand) -> CommandResult:
        """Executes the command and writes its outcome. Raises StorageFailed; the source of the event then delivers it
        again.
        """
        name = recognized.command.name
        try:
            acted = await recognized.execute(event)
        except StorageFailed:
            raise
        except Exception:  # the sender gets a reply now, not at the next start
            logger.exception("%s of event %s failed", name, event.envelope.event_id)
            acted = self._failed(event, name)
        await self._complete(event, name, acted)
        return acted

    async def _execute_in_background(self, event: RecordedEvent, recognized: ParsedCommand) -> CommandResult:
        """Executes a command whose event is not delivered again. It retries until the outcome is written, and a command
        that was interrupted by a database failure is reported as failed.
        """
        name = recognized.command.name
        try:
            acted = await recognized.execute(event)
        except Exception:  # the sender gets a reply now, as in `_execute`
            logger.exception("%s of event %s failed", name, event.envelope.event_id)
            acted = self._failed(event, name)
        while True:
            try:
                await self._complete(event, name, acted)
                return acted
            except StorageFailed as failure:
                logger.error("the outcome of %s could not be written and is retried: %s", name, failure.message)
                await asyncio.sleep(STORAGE_RETRY_SECONDS)

    def _in_background(self, work: Coroutine[Any, Any, CommandResult]) -> None:
        task = asyncio.get_running_loop().create_task(work)
        self._tasks.add(task)
        task.add_done_callback(self._over)

    def _over(self, task: "asyncio.Task[CommandResult]") -> None:
        self._tasks.discard(task)
        if not task.cancelled() and (error := task.exception()) is not None:
            logger.error("command interrupted; it will be reported after the next start: %s", error)

    async def close(self) -> None:
        """Cancels background commands and waits until they have stopped."""
        for task in list(self._tasks):
            task.cancel()
        await asyncio.gather(*self._tasks, return_exceptions=True)

    async def recover(self, control: CommandParser) -> None:
        """Executes commands that a previous process of the Host recorded and may not have executed. Not every platform
        delivers an event again.
        """
        for seq in await self._inbox.pending_commands():
            event = await self._log.get_by_seq(seq)
            if event is None or event.is_erased:
                continue
            try:
                await self._take_up(event, control.recognize(event.envelope))
            except Exception:  # a command that can't be executed must not keep the Host from starting
                logger.exception("the command of event %s was not executed", event.envelope.event_id)

    async def _take_up(self, event: RecordedEvent, recognized: ParsedCommand | None) -> None:
        if recognized is None:
            await self._complete(event, "control", NO_LONGER_APPLIES)
        elif recognized.command.long_running:
            await self._complete(event, recognized.command.name, self._interrupted_result(event, recognized))
        else:
            await self._execute(event, recognized)

    async def _recorded(self, event: EventEnvelope, name: str, also: Sequence[Statement]) -> tuple[RecordedEvent, bool]:
        """Records the event and returns it, with whether it is new.

        A preliminary outcome is written in the same unit, so that a command that is interrupted here has a visible
        outcome.
        """
        conversation_id = await self._conversations.get_or_create(event.conversation_key, self._ids, self._clock)
        now = self._clock.now()
        begun = inbox.record_outcome(InboxOutcome(0, "control", _started_reason(name), ""), now, Ref(0, "seq"))
        try:
            owed = inbox.enqueue_command(Ref(0, "seq"), conversation_id)
            unit = Unit("control.record", (event_log.append(event, conversation_id, now), begun, owed, *also))
            receipt = await self._journal.commit(unit)
        except GuardFailed:
            known = await self._log.find_duplicate(event)
            if known is None:
                raise
            return known, False
        return RecordedEvent(receipt[0][0]["seq"], conversation_id, now, event), True

    async def _complete(self, event: RecordedEvent, name: str, acted: CommandResult) -> None:
        """Writes the outcome and the reply. The reply is not part of the transcript, because it comes from the Host and
        is not about the topic of the conversation.
        """
        settled = InboxOutcome(event.seq, "control", f"{name}: {acted.reason}", "")
        draft = UnitBuilder("control.settle")
        now = self._clock.now()
        draft.add(*inbox.complete_command(settled, now))
        if name.startswith("/"):
            self._host_events.add(draft, command_event(event, name.removeprefix("/"), now), event.conversation_id, now)
        rows = []
        if acted.reply:
            there = replace(event, conversation_id=acted.conversation_id or event.conversation_id)
            message = {"role": "assistant", "content": acted.reply, "metadata": {"control": name}}
            rows.append(self._delivery.composer.compose_message(there, "", "message", message))
            told = {"text": f"Its sender was told: {acted.reply}", event_notes.OUTBOX_IDS: [rows[0].outbox_id]}
            draft.add(outbox_rows.insert(rows[0]), event_notes.add_note(event.seq, "notice", told, now))
        await self._delivery.publisher.deliver(self._journal, draft.build(), rows)
        self._outcomes.publish([settled])
        if name.startswith("/"):
            self._host_events.after_commit(COMMAND_EVENT_TYPE)

    def _interrupted_result(self, event: RecordedEvent, recognized: ParsedCommand) -> CommandResult:
        word = self._languages.text(event, "command.cut_off", name=recognized.command.name)
        return CommandResult("it was cut off by a restart", word)

    def _failed(self, event: RecordedEvent, name: str) -> CommandResult:
        word = self._languages.text(event, "command.failed", name=name)
        return CommandResult("it was cut off by a failure, which the log tells of", word)


def _started_reason(name: str) -> str:
    return f"{name}: it was recognized, and whether it was carried out is not known"
