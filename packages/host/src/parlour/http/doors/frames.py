"""Turns the frames of a conversation's feed into the updates of one turn."""

import asyncio
from typing import Any

from parlour.core.delivery.feed import ActiveRunFrames, Frame
from parlour.core.journal import Journal
from parlour.core.model.ids import NO_RUN, ConversationId, RunId
from parlour.core.model.outbox_row import OutboxRow
from parlour.core.store import transcript
from parlour.core.store.inbox import Inbox, InboxOutcome
from parlour.core.store.ledger import Ledger
from parlour.core.store.outbox_rows import OutboxStore
from parlour_sdk.values import dataclass

from .updates import (
    ApprovalRequested,
    MessageEnd,
    ReasoningDelta,
    RunStarted,
    TextDelta,
    ToolUpdate,
    TurnEnd,
    TurnUpdate,
)

ANSWERED = ("answered", "silent", "handled", "control")
"""Outcomes of events that were handled as they should be."""
OWNER_CHECK_SECONDS = 0.2
"""Seconds between two checks of whether deltas of a run that is not the turn's own have become its own."""


@dataclass(frozen=True, slots=True)
class TurnRecords:
    """Where the records of turns are read."""

    journal: Journal
    inbox: Inbox
    ledger: Ledger
    outbox: OutboxStore


def message_text(message: Any) -> str:
    """Returns the text of a message."""
    content = message.get("content")
    if isinstance(content, list):
        return "".join(part.get("text", "") for part in content if isinstance(part, dict))
    return str(content or "")


class FrameReader:
    """Reads the frames of one turn. Runs of other turns in the same conversation are left out."""

    def __init__(self, event_seq: int, records: TurnRecords) -> None:
        self._event_seq = event_seq
        self._records = records
        self._run_id = NO_RUN
        self._seq = 0
        """Number of the last frame that was read."""
        self._index = 0
        self._text = ""
        """The text of the current message that was already passed on."""
        self._shown: set[int] = set()
        """Numbers of the messages that were passed on."""
        self._checked = 0.0

    async def catch_up(self, active: ActiveRunFrames | None) -> list[TurnUpdate]:
        """Returns what the turn's run did so far, if it has begun."""
        run_id = await self._records.inbox.active_run_id(self._event_seq)
        self._checked = asyncio.get_running_loop().time()
        if not run_id or run_id == self._run_id:
            return []
        self._run_id = run_id
        updates: list[TurnUpdate] = [RunStarted(run_id)]
        for row in await self._records.outbox.shown_by_run(run_id):
            updates += self._row(row)
        if active is not None and active.run_frame["run_id"] == run_id:
            for frame in active.frames_after(max(self._seq, active.started)):
                updates += self._frame(frame)
        return updates

    async def read(self, frame: Frame, active: ActiveRunFrames | None) -> list[TurnUpdate]:
        """Returns the updates of one frame."""
        run_id = frame.get("run_id") or (self._run_id if frame["type"] == "approval" else NO_RUN)
        if not run_id or frame["seq"] <= self._seq:
            return []
        if run_id != self._run_id:
            due = asyncio.get_running_loop().time() - self._checked >= OWNER_CHECK_SECONDS
            if frame["type"] in ("delta", "thinking") and not due:
                return []
            caught_up = await self.catch_up(active)
            own = self._run_id == run_id and frame["seq"] > self._seq
            return [*caught_up, *(self._frame(frame) if own else ())]
        return self._frame(frame)

    async def finish(self, outcome: InboxOutcome, conversation_id: ConversationId) -> list[TurnUpdate]:
        """Returns the updates that were not seen yet, and the end."""
        run = await self._records.ledger.get_run(outcome.run_id) if outcome.run_id else None
        updates: list[TurnUpdate] = []
        messages: list[Any] = []
        notice_code, notice_text = "", ""
        if run is not None:
            if outcome.run_id != self._run_id:
                self._run_id = RunId(outcome.run_id)
                updates.append(RunStarted(self._run_id))
            for row in await self._records.outbox.shown_by_run(self._run_id):
                if row.kind == "notice":
                    notice_code, notice_text = row.code, message_text(row.message)
                elif row.kind == "message":
                    messages.append(row.message)
                    updates += self._row(row)
        else:
            for item in await transcript.replies(self._records.journal, conversation_id, self._event_seq):
                notice_code, notice_text = notice_code or outcome.outcome, item["content"]
        code = "" if outcome.outcome in ANSWERED else notice_code or outcome.reason or outcome.outcome
        return [*updates, TurnEnd(outcome.outcome, code, notice_text if code else "", run, tuple(messages))]

    def _row(self, row: OutboxRow) -> list[TurnUpdate]:
        if row.kind != "message":
            return []
        self._seq = max(self._seq, row.feed_seq)
        return self._message(row.feed_seq, row.message)

    def _frame(self, frame: Frame) -> list[TurnUpdate]:
        self._seq = max(self._seq, frame["seq"])
        match frame["type"]:
            case "delta":
                return self._delta(frame["content"], bool(frame.get("replace")))
            case "message":
                return self._message(frame["seq"], frame["message"])
            case "thinking":
                return [ReasoningDelta(frame["content"])]
            case "tool":
                return [ToolUpdate(str(frame["tool_call_id"]), str(frame["tool_name"]), str(frame["status"]))]
            case "approval":
                return [ApprovalRequested({name: value for name, value in frame.items() if name != "type"})]
        return []

    def _delta(self, text: str, replaces: bool) -> list[TurnUpdate]:
        if replaces:
            text = text[len(self._text) :]
        self._text += text
        return [TextDelta(self._index, text)] if text else []

    def _message(self, seq: int, message: Any) -> list[TurnUpdate]:
        """Returns the rest of a message's text and its end. A text that continues otherwise than it was streamed is
        another message."""
        if seq in self._shown:
            return []
        self._shown.add(seq)
        text, streamed = message_text(message), self._text
        if streamed and not text.startswith(streamed):
            self._index, streamed = self._index + 1, ""
        rest, index = text[len(streamed) :], self._index
        self._index, self._text = self._index + 1, ""
        return [*([TextDelta(index, rest)] if rest else []), MessageEnd(index, message)]
