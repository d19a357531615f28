"""Reads the frames that a chat client missed while it was disconnected, in their order."""

from collections.abc import AsyncGenerator
from operator import itemgetter

from parlour.core.delivery.feed import Frame, outgoing_frame, run_frame
from parlour.core.journal import Journal
from parlour.core.model.ids import ConversationId
from parlour.core.store.ledger import Ledger
from parlour.core.store.outbox_rows import OutboxStore

from .user_messages import UserMessageHistory

MISSED_MESSAGES_PER_READ = 1
"""Missed messages that are read at a time. It bounds the memory that a client which does not read can occupy, besides
the frame being sent."""


class MissedFrames:
    def __init__(self, journal: Journal) -> None:
        self._rows = OutboxStore(journal)
        self._user_messages = UserMessageHistory(journal)
        self._ledger = Ledger(journal)

    async def last_seq(self, conversation_id: ConversationId) -> int:
        return await self._rows.last_feed_seq(conversation_id)

    async def read_after(
        self, conversation_id: ConversationId, seq: int, event_prefix: str | None
    ) -> AsyncGenerator[Frame, None]:
        """Yields replies and ends of runs since `seq`, each read right before it is needed.

        Users' messages are among them unless `event_prefix` is None. It is the part of an event id that precedes the
        client's message id.
        """
        missed: list[tuple[int, Frame | int]] = [
            (int(run["feed_seq"]), run_frame(run["run_id"], run["status"], run["feed_seq"]))
            for run in await self._ledger.ended_after(conversation_id, seq)
        ]
        if event_prefix is not None:
            missed += await self._user_messages.read_since(conversation_id, seq)
        missed.sort(key=itemgetter(0))
        while rows := await self._rows.shown_after(conversation_id, seq, MISSED_MESSAGES_PER_READ):
            for row in rows:
                while missed and missed[0][0] < row.feed_seq:
                    if frame := await self._load(missed.pop(0)[1], event_prefix):
                        yield frame
                yield outgoing_frame(row)
            seq = rows[-1].feed_seq
        for _, entry in missed:
            if frame := await self._load(entry, event_prefix):
                yield frame

    async def _load(self, entry: Frame | int, event_prefix: str | None) -> Frame | None:
        """Returns a frame, or loads the user message of the event with this number."""
        if not isinstance(entry, int):
            return entry
        assert event_prefix is not None
        return await self._user_messages.load_frame(entry, event_prefix)
