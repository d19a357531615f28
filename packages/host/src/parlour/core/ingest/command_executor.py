"""Carries out control input: recorded first, then acted upon, then settled with a word to whoever gave it.

What a stop cuts off between the first and the last is done at the next start, or when the same event is delivered
again; what fails in between is told as such.
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
FORGOTTEN = Acted("it was cut off, and means nothing any more")


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
        """`also` is written after the event, whose number is that of statement 0."""
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
        """Raises StorageFailed: then whoever brought it brings it again."""
        name = recognized.control_input.name
        try:
            acted = await recognized.act(event)
        except StorageFailed:
            raise
        except Exception:  # whoever gave it is told now, not at the next start
            logger.exception("%s of event %s was cut off", name, event.envelope.event_id)
            acted = self._failed(event, name)
        await self._settle(event, name, acted)
        return acted

    async def _carry_out_alone(self, event: RecordedEvent, recognized: Recognized) -> Acted:
        """Nobody brings it again: the database is waited for, and what was lost by its failure is told."""
        name = recognized.control_input.name
        try:
            acted = await recognized.act(event)
        except Exception:  # as above
            logger.exception("%s of event %s was cut off", name, event.envelope.event_id)
            acted = self._failed(event, name)
        while True:
            try:
                await self._settle(event, name, acted)
                return acted
            except StorageFailed as failure:
                logger.error("the end of %s waits for the database: %s", name, failure.message)
                await asyncio.sleep(STORAGE_RETRY_SECONDS)

    def _in_background(self, work: Coroutine[Any, Any, Acted]) -> None:
        task = asyncio.get_running_loop().create_task(work)
        self._tasks.add(task)
        task.add_done_callback(self._over)

    def _over(self, task: "asyncio.Task[Acted]") -> None:
        self._tasks.discard(task)
        if not task.cancelled() and (error := task.exception()) is not None:
            logger.error("an instruction was cut off, and is told so at the next start: %s", error)

    async def close(self) -> None:
        for task in list(self._tasks):
            task.cancel()
        await asyncio.gather(*self._tasks, return_exceptions=True)

    async def take_up(self, control: Control) -> None:
        """What an earlier life of the Host may not have carried out: not every platform tells it again."""
        for seq in await self._inbox.controls():
            event = await self._log.by_seq(seq)
            if event is None or event.erased:
                continue
            try:
                await self._take_up(event, control.recognize(event.envelope))
            except Exception:  # one that can't be carried out keeps no Host from starting
                logger.exception("the instruction of event %s was not carried out", event.envelope.event_id)

    async def _take_up(self, event: RecordedEvent, recognized: Recognized | None) -> None:
        if recognized is None:
            await self._settle(event, "control", FORGOTTEN)
        elif recognized.control_input.lasting:
            await self._settle(event, recognized.control_input.name, self._cut_off(event, recognized))
        else:
            await self._carry_out(event, recognized)

    async def _recorded(self, event: EventEnvelope, name: str, also: Sequence[Statement]) -> tuple[RecordedEvent, bool]:
        """With an outcome already, so that one that is cut off here is no event that nobody knows of. And whether it
        is new.
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
        """The word is no part of the transcript: it is the Host that speaks, and not about what was talked of."""
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
