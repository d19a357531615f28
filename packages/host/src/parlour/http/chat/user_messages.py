"""Reads users' messages that a tab missed while it was disconnected, as frames. The caller removes duplicates."""

from collections.abc import Mapping
from typing import Any

from parlour.core.delivery.feed import Frame
from parlour.core.journal import Journal, Select, at_least, where
from parlour.core.model.event import EventEnvelope
from parlour.core.model.ids import ConversationId, EventId
from parlour.core.store.event_log import from_row
from parlour.core.store.tables import EVENTS

MAX_MISSED_MESSAGES = 100
"""Maximum number of missed messages that are sent; older ones are in the history."""
ANNOUNCE_MARGIN_MILLISECONDS = 5000
"""Time before the last frame from which events are read: an event is stored slightly before it is announced to other
tabs."""
MICROSECONDS_PER_MILLISECOND = 1000
"""Microseconds per millisecond. Frames are numbered in microseconds."""


def user_message_frame(event_id: EventId, message: Mapping[str, Any], client_id: str | None) -> Frame:
    contents = message.get("contents", [])
    return {"type": "said", "id": client_id, "text": message.get("text"), "contents": contents, "event_id": event_id}


class UserMessageHistory:
    def __init__(self, journal: Journal) -> None:
        self._journal = journal

    async def read_since(self, conversation_id: ConversationId, feed_seq: int) -> list[tuple[int, int]]:
        """Returns pairs of position and event number; the position places the event among the frames, since events have
        no frame number.

        The caller loads each with `load_frame` right before sending it, so that a client that does not read holds only
        one in memory.
        """
        earliest = feed_seq // MICROSECONDS_PER_MILLISECOND - ANNOUNCE_MARGIN_MILLISECONDS
        conditions = where(
            conversation_id=conversation_id, event_type="message.received", created_at=at_least(earliest)
        )
        columns = ("seq", "created_at")
        rows = await self._journal.read(
            Select(EVENTS, conditions, columns, ("seq",), direction="descending", limit=MAX_MISSED_MESSAGES)
        )
        return [(int(row["created_at"]) * MICROSECONDS_PER_MILLISECOND, int(row["seq"])) for row in reversed(rows)]

    async def load_frame(self, event_seq: int, prefix: str) -> Frame | None:
        """Loads the frame of an event; None if the event was erased.

        `prefix` is the part of the event id that precedes the client's message id.
        """
        rows = await self._journal.read(Select(EVENTS, where(seq=event_seq), point_read=True))
        events = [from_row(row) for row in rows]
        return next((_frame(each.envelope, prefix) for each in events if not each.is_erased), None)


def _frame(event: EventEnvelope, prefix: str) -> Frame:
    is_own = event.event_id.startswith(prefix)
    return user_message_frame(event.event_id, event.input, event.event_id.removeprefix(prefix) if is_own else None)
