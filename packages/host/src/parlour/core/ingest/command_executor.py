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

from parlour.core.delivery.composer import Delivery
from parlour.core.journal import Draft, GuardFailed, Journal, Ref, Statement, StorageFailed, Unit
from parlour.core.model.command import Acted, Control, Recognized
from parlour.core.model.event import EventEnvelope, RecordedEvent
from parlour.core.model.ports import Clock, Ids
from parlour.core.plugin_hooks.host_events import COMMAND, HostEvents, command_sent
from parlour.core.runs.outcomes import Outcomes
from parlour.core.store import event_log, event_notes, inbox, outbox_rows
from parlour.core.store.conversations import Conversations
from parlour.core.store.event_log import EventLog
from parlour.core.store.inbox import Inbox, Settled
from parlour.core.texts.languages import Languages
from parlour_sdk.values import dataclass

logger = logging.getLogger(__name__)

STORAGE_RETRY_SECONDS = 1.0
"""Seconds between attempts to write the outcome of a background command while the database fails."""
FORGOTTEN = Acted("it was cut off, and means nothing any more")
"""Result of an interrupted command that is no longer recognized as one."""


@dataclass(frozen=True, slots=True)
class Obeyed:
    """The result of handing an event to the command executor."""

    seq: int
    conversation_id: str
    """Conversation in which the chat continues."""
    again: bool
    """True if the event was recorded before and is not executed again."""


class Obeying:
    """Records and executes chat commands, and recovers those that a crash interrupted."""

    def __init__(
        self,
        journal: Journal,
        conversations: Conversations,
        delivery: Delivery,
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
        self._tasks: set[asyncio.Task[Acted]] = set()
        self._ids = ids
        self._clock = clock

    async def obey(self, event: EventEnvelope, recognized: Recognized, also: Sequence[Statement]) -> Obeyed:
        """Records and executes a command; a long-running one continues in the background after this returns.

        `also` is written after the event, whose number is that of statement 0.
        """
        name = recognized.control_input.name
        recorded, new = await self._recorded(event, name, also)
        settled = await self._inbox.outcome(recorded.seq)
        lasting = recognized.control_input.lasting
        if settled is None or settled.reason != _begun(name) or (lasting and not new):
            return Obeyed(recorded.seq, recorded.conversation_id, again=True)
        if lasting:
            self._in_background(self._carry_out_alone(recorded, recognized))
            return Obeyed(recorded.seq, recorded.conversation_id, again=False)
        acted = await self._carry_out(recorded, recognized)
        return Obeyed(recorded.seq, acted.conversation_id or recorded.conversation_id, again=False)

    async def _carry_out(self, event: RecordedEvent, recognized: Recognized) -> Acted:
        """Executes the command and writes its outcome. Raises StorageFailed; the source of the event then delivers it
        again.
        """
        name = recognized.control_input.name
        try:
            acted = await recognized.act(event)
        except StorageFailed:
            raise
        except Exception:  # the sender gets a reply now, not at the next start
            logger.exception("%s of event %s failed", name, event.envelope.event_id)
            acted = self._failed(event, name)
        await self._settle(event, name, acted)
        return acted

    async def _carry_out_alone(self, event: RecordedEvent, recognized: Recognized) -> Acted:
        """Executes a command whose event is not delivered again. It retries until the outcome is written, and a command
        that was interrupted by a database failure is reported as failed.
        """
        name = recognized.control_input.name
        try:
            acted = await recognized.act(event)
        except Exception:  # the sender gets a reply now, as in `_execute`
            logger.exception("%s of event %s failed", name, event.envelope.event_id)
            acted = self._failed(event, name)
        while True:
            try:
                await self._settle(event, name, acted)
                return acted
            except StorageFailed as failure:
                logger.error("the outcome of %s could not be written and is retried: %s", name, failure.message)
                await asyncio.sleep(STORAGE_RETRY_SECONDS)

    def _in_background(self, work: Coroutine[Any, Any, Acted]) -> None:
        task = asyncio.get_running_loop().create_task(work)
        self._tasks.add(task)
        task.add_done_callback(self._over)

    def _over(self, task: "asyncio.Task[Acted]") -> None:
        self._tasks.discard(task)
        if not task.cancelled() and (error := task.exception()) is not None:
            logger.error("command interrupted; it will be reported after the next start: %s", error)

    async def close(self) -> None:
        """Cancels background commands and waits until they have stopped."""
        for task in list(self._tasks):
            task.cancel()
        await asyncio.gather(*self._tasks, return_exceptions=True)

    async def take_up(self, control: Control) -> None:
        """Executes commands that a previous process of the Host recorded and may not have executed. Not every platform
        delivers an event again.
        """
        for seq in await self._inbox.controls():
            event = await self._log.by_seq(seq)
            if event is None or event.erased:
                continue
            try:
                await self._take_up(event, control.recognize(event.envelope))
            except Exception:  # a command that can't be executed must not keep the Host from starting
                logger.exception("the command of event %s was not executed", event.envelope.event_id)

    async def _take_up(self, event: RecordedEvent, recognized: Recognized | None) -> None:
        if recognized is None:
            await self._settle(event, "control", FORGOTTEN)
        elif recognized.control_input.lasting:
            await self._settle(event, recognized.control_input.name, self._cut_off(event, recognized))
        else:
            await self._carry_out(event, recognized)

    async def _recorded(self, event: EventEnvelope, name: str, also: Sequence[Statement]) -> tuple[RecordedEvent, bool]:
        """Records the event and returns it, with whether it is new.

        A preliminary outcome is written in the same unit, so that a command that is interrupted here has a visible
        outcome.
        """
        conversation_id = await self._conversations.open(event.conversation, self._ids, self._clock)
        now = self._clock.now()
        begun = inbox.decide(Settled(0, "control", _begun(name), ""), now, Ref(0, "seq"))
        try:
            owed = inbox.obey(Ref(0, "seq"), conversation_id)
            unit = Unit("control.record", (event_log.append(event, conversation_id, now), begun, owed, *also))
            receipt = await self._journal.commit(unit)
        except GuardFailed:
            known = await self._log.same_as(event)
            if known is None:
                raise
            return known, False
        return RecordedEvent(receipt[0][0]["seq"], conversation_id, now, event), True

    async def _settle(self, event: RecordedEvent, name: str, acted: Acted) -> None:
        """Writes the outcome and the reply. The reply is not part of the transcript, because it comes from the Host and
        is not about the topic of the conversation.
        """
        settled = Settled(event.seq, "control", f"{name}: {acted.told}", "")
        draft = Draft("control.settle")
        now = self._clock.now()
        draft.add(*inbox.obeyed(settled, now))
        if name.startswith("/"):
            self._host_events.draft(draft, command_sent(event, name.removeprefix("/"), now), event.conversation_id, now)
        rows = []
        if acted.word:
            there = replace(event, conversation_id=acted.conversation_id or event.conversation_id)
            message = {"role": "assistant", "content": acted.word, "metadata": {"control": name}}
            rows.append(self._delivery.compose(there, "", "message", message))
            told = {"text": f"Its sender was told: {acted.word}", event_notes.OUTBOX_IDS: [rows[0].outbox_id]}
            draft.add(outbox_rows.put(rows[0]), event_notes.note(event.seq, "notice", told, now))
        await self._delivery.deliver(self._journal, draft.unit(), rows)
        self._outcomes.settled([settled])
        if name.startswith("/"):
            self._host_events.offer(COMMAND)

    def _cut_off(self, event: RecordedEvent, recognized: Recognized) -> Acted:
        word = self._languages.text(event, "command.cut_off", name=recognized.control_input.name)
        return Acted("it was cut off by a restart", word)

    def _failed(self, event: RecordedEvent, name: str) -> Acted:
        word = self._languages.text(event, "command.failed", name=name)
        return Acted("it was cut off by a failure, which the log tells of", word)


def _begun(name: str) -> str:
    return f"{name}: it was recognized, and whether it was carried out is not known"
