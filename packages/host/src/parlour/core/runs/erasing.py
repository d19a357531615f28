"""Deletes what was said in a conversation: transcript, its words, state, files, messages, what runs did step by step.

That something happened, when and by whom stays: events and runs keep their rows, without content, and the event log
gets a tombstone. The conversation itself stays, empty: whoever writes to it next begins anew.
"""

import asyncio
from typing import Final

from parlour.core.access.refusal import Refused
from parlour.core.encoding import dumps
from parlour.core.events.envelope import EventContext, EventEnvelope, Party
from parlour.core.facts import artifacts, event_log
from parlour.core.facts.ledger import ACTIVE
from parlour.core.facts.tables import (
    CALLS,
    CONVERSATIONS,
    EVENTS,
    FEEDBACK,
    INBOX,
    OUTBOX,
    RUN_EVENTS,
    RUNS,
    STATE,
    TRANSCRIPT,
    TRANSCRIPT_SEARCH,
)
from parlour.core.journal import (
    ANY,
    Delete,
    Draft,
    GuardFailed,
    Journal,
    Select,
    Statement,
    Update,
    one_of,
    where,
)
from parlour.core.ports import Clock, Ids

from .control import RunControl
from .session import Ending

ROUNDS = 40
ROUND_SECONDS = 0.05
UNSENT: Final = ("pending", "streaming", "sending")
RUNS_AT_ONCE = 500
ENDING = Ending("cancelled", "cancelled", "the conversation is being deleted")
NOTHING = dumps(
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
"""The body of an event that says nothing any more."""


class Erasing:
    def __init__(self, journal: Journal, control: RunControl, ids: Ids, clock: Clock) -> None:
        self._journal = journal
        self._control = control
        self._ids = ids
        self._clock = clock

    async def erase(self, conversation_id: str, by: Party, *also: Statement) -> None:
        """Ends what goes on in it first. Raises Refused when that can't be done now; then nothing was deleted."""
        for _ in range(ROUNDS):
            await self._end_runs(conversation_id)
            try:
                await self._journal.commit((await self._draft(conversation_id, by, also)).unit())
            except GuardFailed:
                await asyncio.sleep(ROUND_SECONDS)  # something is still owed in it
            else:
                return
        told = "a message of this conversation is still being handled or waits to be sent; ask again in a moment"
        raise Refused("conflict", told, retryable=True)

    async def _end_runs(self, conversation_id: str) -> None:
        active = where(conversation_id=conversation_id, status=one_of(*ACTIVE))
        for run in await self._journal.read(Select(RUNS, active, ("run_id",))):
            try:
                await self._control.cancel(run["run_id"], ENDING)
            except Refused as refusal:
                if not refusal.retryable:
                    raise

    async def _draft(self, conversation_id: str, by: Party, also: tuple[Statement, ...]) -> Draft:
        here = where(conversation_id=conversation_id)
        draft = Draft("conversation.erase")
        # nothing may be owed: neither an answer nor its delivery
        draft.add(Update(INBOX, {"attempts": 0}, where(lane=conversation_id), expect=0))
        draft.add(Update(OUTBOX, {"attempts": 0}, here + where(state=one_of(*UNSENT)), expect=0))
        draft.add(Update(CONVERSATIONS, {"transcript_seq": 0}, here))
        for table in (TRANSCRIPT, TRANSCRIPT_SEARCH, STATE, OUTBOX, FEEDBACK):
            draft.add(Delete(table, here, expect=ANY))
        draft.add(artifacts.remove_of(conversation_id))
        blank = {"body": NOTHING, "input_summary": "", "actor_name": ""}
        draft.add(Update(EVENTS, blank, here, expect=ANY))
        runs = [row["run_id"] for row in await self._journal.read(Select(RUNS, here, ("run_id",)))]
        for start in range(0, len(runs), RUNS_AT_ONCE):
            these = where(run_id=one_of(*runs[start : start + RUNS_AT_ONCE]))
            draft.add(Delete(RUN_EVENTS, these, expect=ANY), Delete(CALLS, these, expect=ANY))
        draft.add(event_log.append(self._tombstone(by), conversation_id, self._clock.now()), *also)
        return draft

    def _tombstone(self, by: Party) -> EventEnvelope:
        identity = self._ids.new()
        return EventEnvelope(
            event_id=identity,
            event_type="conversation.deleted",
            source="system",
            chat="",
            context=EventContext(identity),
            surface="",
            actor=by,
        )
