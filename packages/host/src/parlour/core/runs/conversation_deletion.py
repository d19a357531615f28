"""Deletes a conversation: transcript, state, files and the content of its events and runs. The log keeps a tombstone.

One unit decides the deletion; it fails while an event or a delivery is pending. Small units then carry it out, so that
no message waits for the deletion of a long conversation. A deletion that is interrupted continues at the next start, or
when it is requested again.
"""

import asyncio
import logging
from collections.abc import AsyncIterator
from typing import Final

from parlour.core.cluster.parts import part_of
from parlour.core.encoding import dumps, loads
from parlour.core.errors import CallRejected
from parlour.core.journal import (
    ANY,
    Condition,
    Delete,
    GuardFailed,
    Insert,
    Journal,
    Row,
    Select,
    Statement,
    StorageFailed,
    Table,
    Unit,
    UnitBuilder,
    Update,
    above,
    at_most,
    one_of,
    starts_with,
    where,
)
from parlour.core.model.event import EventContext, EventEnvelope, Participant
from parlour.core.model.ids import NO_BOT, ConversationId, EventId, PartId
from parlour.core.model.ports import Clock, Ids
from parlour.core.platforms.directory import Directory
from parlour.core.platforms.names import NameDirectory
from parlour.core.store import artifacts, event_log, limits, memories
from parlour.core.store.ledger import ACTIVE_STATUSES
from parlour.core.store.tables import (
    APPROVALS,
    ARTIFACTS,
    CALLS,
    CONVERSATIONS,
    DIRECTORY_MESSAGES,
    EVENTS,
    FEEDBACK,
    INBOX,
    JOBS,
    META,
    MODEL_CALLS,
    OUTBOX,
    RUN_EVENTS,
    RUNS,
    SKILL_ACTIVATIONS,
    STATE,
    TRANSCRIPT,
)

from .control import RunControl
from .model_call_log import ModelCallLog
from .session import RunTermination

logger = logging.getLogger(__name__)

MAX_DECISION_ATTEMPTS = 40
"""Attempts to decide a deletion while something in the conversation is pending."""
DECISION_RETRY_SECONDS = 0.05
"""Seconds between two such attempts."""
UNSENT: Final = ("pending", "streaming", "sending")
"""Outbox states of rows that are not sent yet."""
BATCH_ROWS = 500
"""Rows per unit."""
BATCH_RUNS = 20
"""Runs whose rows are deleted in one unit."""
MARK_PREFIX = "erasing:"
"""Prefix of the name of the meta row that marks a decided deletion."""
CANCELLED_BY_DELETION = RunTermination("cancelled", "cancelled", "the conversation is being deleted")
ERASED_BODY = dumps(
    {
        "chat": "",
        "surface": "",
        "agent_id": "",
        "input": {},
        "data": {},
        "actor_data": {},
        "subject_data": {},
        "metadata": {},
        "context": {"id": "", "parent_id": "", "origin": ""},
    }
)
"""Body of an event whose content was deleted."""
TABLES_BY_RUN: Final = (RUN_EVENTS, CALLS, MODEL_CALLS, ARTIFACTS)
"""Tables whose rows are deleted with the run that they name."""
ERASED_COLUMNS: Final = {"body": ERASED_BODY, "input_summary": "", "actor_name": ""}
"""Columns of an event whose content was deleted."""


class ConversationEraser:
    """Deletes conversations and continues interrupted deletions."""

    def __init__(
        self,
        journal: Journal,
        control: RunControl,
        names: NameDirectory,
        directory: Directory,
        model_calls: ModelCallLog,
        ids: Ids,
        clock: Clock,
    ) -> None:
        self._journal = journal
        self._control = control
        self._names = names
        self._directory = directory
        self._model_calls = model_calls
        self._ids = ids
        self._clock = clock
        self._recovery_tasks: set[asyncio.Task[None]] = set()
        self._in_progress: set[ConversationId] = set()

    async def erase(self, conversation_id: ConversationId, actor: Participant, *extra_statements: Statement) -> None:
        """Deletes the conversation after cancelling its active runs. Raises Refused if that is not possible now;
        nothing is deleted then.
        """
        for _ in range(MAX_DECISION_ATTEMPTS):
            await self._end_runs(conversation_id)
            try:
                await self._decide(conversation_id, actor, extra_statements)
            except GuardFailed:
                if await self._was_interrupted(conversation_id):
                    await self._execute(conversation_id)
                else:
                    await asyncio.sleep(DECISION_RETRY_SECONDS)  # something in it is still pending
            else:
                await self._execute(conversation_id)
                return
        message = "a message of this conversation is still being handled or waits to be sent; ask again in a moment"
        raise CallRejected("conflict", message, retryable=True)

    async def recover(self, part: PartId | None = None) -> None:
        """Continues deletions that a previous process of the Host, or the previous owner of a part, had decided, in the
        background.
        """
        marks = await self._journal.read(Select(META, where(name=starts_with(MARK_PREFIX)), ("name",)))
        marked = [ConversationId(mark["name"].removeprefix(MARK_PREFIX)) for mark in marks]
        if part is not None:
            marked = [each for each in marked if await self._part(each) == part]
        if marked:
            self._recovery_tasks.add(task := asyncio.create_task(self._resume_all(marked)))
            task.add_done_callback(self._recovery_tasks.discard)

    async def _part(self, conversation_id: ConversationId) -> PartId:
        query = Select(CONVERSATIONS, where(conversation_id=conversation_id), ("bot_id",), limit=1)
        rows = await self._journal.read(query)
        return part_of(rows[0]["bot_id"] if rows else NO_BOT, conversation_id)

    async def _resume_all(self, conversations: list[ConversationId]) -> None:
        for conversation_id in conversations:
            try:
                await self._execute(conversation_id)
            except StorageFailed as failure:  # the mark stays for the next start
                logger.error("conversation %s is not deleted yet: %s", conversation_id, failure.message)

    async def _end_runs(self, conversation_id: ConversationId) -> None:
        active = where(conversation_id=conversation_id, status=one_of(*ACTIVE_STATUSES))
        for run in await self._journal.read(Select(RUNS, active, ("run_id",))):
            try:
                await self._control.cancel(run["run_id"], CANCELLED_BY_DELETION)
            except CallRejected as refusal:
                if not refusal.retryable:
                    raise

    async def _decide(
        self, conversation_id: ConversationId, actor: Participant, extra_statements: tuple[Statement, ...]
    ) -> None:
        """Commits the decision; from then on the conversation is deleted, even if this process ends."""
        in_conversation = where(conversation_id=conversation_id)
        columns = ("transcript_seq", "bot_id", "chat", "principal")
        [conversation] = await self._journal.read(Select(CONVERSATIONS, in_conversation, columns))
        until = conversation["transcript_seq"]
        draft = UnitBuilder("conversation.erase")
        # nothing may be pending: neither an answer nor its delivery
        draft.add(Update(INBOX, {"attempts": 0}, where(lane=conversation_id), expect=0))
        draft.add(Update(OUTBOX, {"attempts": 0}, in_conversation + where(state=one_of(*UNSENT)), expect=0))
        draft.add(Update(CONVERSATIONS, {"transcript_seq": until}, in_conversation + where(transcript_seq=until)))
        draft.add(Delete(STATE, in_conversation, expect=ANY), Delete(FEEDBACK, in_conversation, expect=ANY))
        draft.add(artifacts.remove_for_conversation(conversation_id), Delete(APPROVALS, in_conversation, expect=ANY))
        draft.add(
            limits.delete_for_conversation(conversation_id), Delete(SKILL_ACTIVATIONS, in_conversation, expect=ANY)
        )
        draft.add(*self._names.forget_chat(conversation["bot_id"], conversation["chat"]))
        draft.add(*self._directory.forget_chat(conversation["bot_id"], conversation["chat"]))
        place = (conversation["bot_id"], conversation["chat"], conversation["principal"])
        draft.add(*memories.forget_conversation(conversation_id, *place))
        draft.add(event_log.append(self._tombstone(actor), conversation_id, self._clock.now()), *extra_statements)
        draft.add(Insert(META, {"name": f"{MARK_PREFIX}{conversation_id}", "value": dumps({"until": until})}))
        await self._journal.commit(draft.build())

    async def _was_interrupted(self, conversation_id: ConversationId) -> bool:
        """Returns whether the deletion was decided before and interrupted by a database failure."""
        marks = await self._journal.read(Select(META, where(name=f"{MARK_PREFIX}{conversation_id}"), ("name",)))
        return bool(marks) and conversation_id not in self._in_progress

    async def _execute(self, conversation_id: ConversationId) -> None:
        self._in_progress.add(conversation_id)
        try:
            await self._model_calls.forget_conversation(conversation_id)
            await self._delete_rows(conversation_id)
        finally:
            self._in_progress.discard(conversation_id)

    async def _delete_rows(self, conversation_id: ConversationId) -> None:
        """Deletes the rows of the conversation. Messages that came after the decision stay."""
        name, in_conversation = where(name=f"{MARK_PREFIX}{conversation_id}"), where(conversation_id=conversation_id)
        marks = await self._journal.read(Select(META, name, ("value",)))
        until = int(loads(marks[0]["value"])["until"])
        deletion_events = in_conversation + where(event_type="conversation.deleted")
        [tombstone] = await self._journal.read(
            Select(EVENTS, deletion_events, ("seq", "created_at"), ("seq",), "descending", 1)
        )
        before_deletion = where(created_at=at_most(tombstone["created_at"]))
        async for rows in self._batches(
            TRANSCRIPT, "seq", in_conversation + where(seq=at_most(until)), ("transcript_id",)
        ):
            batch = where(transcript_id=one_of(*(row["transcript_id"] for row in rows)))
            await self._step(Delete(TRANSCRIPT, batch, expect=ANY))
        async for rows in self._batches(OUTBOX, "feed_seq", in_conversation + before_deletion):
            batch = in_conversation + where(feed_seq=one_of(*(row["feed_seq"] for row in rows)))
            await self._step(Delete(OUTBOX, batch, expect=ANY))
        async for rows in self._batches(EVENTS, "seq", in_conversation + where(seq=at_most(tombstone["seq"] - 1))):
            numbers = one_of(*(row["seq"] for row in rows))
            await self._step(
                Update(EVENTS, ERASED_COLUMNS, where(seq=numbers), expect=ANY),
                Delete(JOBS, where(event_seq=numbers), expect=ANY),
            )
        await self._delete_seen_messages(conversation_id, tombstone["created_at"])
        async for rows in self._batches(RUNS, "run_id", in_conversation + before_deletion, limit=BATCH_RUNS):
            batch = where(run_id=one_of(*(row["run_id"] for row in rows)))
            await self._step(*(Delete(table, batch, expect=ANY) for table in TABLES_BY_RUN))
        reset_counter = Update(
            CONVERSATIONS, {"transcript_seq": 0}, in_conversation + where(transcript_seq=until), expect=ANY
        )
        await self._step(reset_counter, Delete(META, name))

    async def _delete_seen_messages(self, conversation_id: ConversationId, until: int) -> None:
        """Deletes the directory's messages of the conversation's chat and thread."""
        query = Select(CONVERSATIONS, where(conversation_id=conversation_id), ("bot_id", "chat", "thread_id"), limit=1)
        [conversation] = await self._journal.read(query)
        if not conversation["bot_id"]:
            return
        messages = where(**conversation) + where(seen_at=at_most(until))
        async for rows in self._batches(DIRECTORY_MESSAGES, "message_id", messages):
            batch = messages + where(message_id=one_of(*(row["message_id"] for row in rows)))
            await self._step(Delete(DIRECTORY_MESSAGES, batch, expect=ANY))

    async def _batches(
        self,
        table: Table,
        key: str,
        conditions: tuple[Condition, ...],
        columns: tuple[str, ...] = (),
        limit: int = BATCH_ROWS,
    ) -> AsyncIterator[list[Row]]:
        """Yields matching rows in batches, in the order of a key by which a conversation's rows are found."""
        position: tuple[Condition, ...] = ()
        while True:
            query = Select(table, conditions + position, (key, *columns), order=(key,), limit=limit)
            rows = await self._journal.read(query)
            if not rows:
                return
            yield rows
            position = where(**{key: above(rows[-1][key])})

    async def _step(self, *statements: Statement) -> None:
        await self._journal.commit(Unit("conversation.empty", statements))

    def _tombstone(self, actor: Participant) -> EventEnvelope:
        identity = EventId(self._ids.new())
        return EventEnvelope(
            event_id=identity,
            event_type="conversation.deleted",
            source="system",
            chat="",
            context=EventContext(identity),
            surface="",
            actor=actor,
        )
