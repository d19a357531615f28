"""Reads what the people of a chat said while one of their tabs was away, as frames. The caller drops repetitions."""

from collections.abc import Mapping
from typing import Any

from parlour.core.delivery.feed import Frame
from parlour.core.journal import Journal, Select, at_least, where
from parlour.core.model.event import EventEnvelope
from parlour.core.store.event_log import restore
from parlour.core.store.tables import EVENTS

MOST = 100
"""Whoever missed more finds it in the history."""
MARGIN_MILLISECONDS = 5000
"""An event is kept a little before the others are told of it."""
MICROSECONDS = 1000
"""Of a millisecond: frames are numbered in these."""


def said_frame(event_id: str, said: Mapping[str, Any], client_id: str | None) -> Frame:
    contents = said.get("contents", [])
    return {"type": "said", "id": client_id, "text": said.get("text"), "contents": contents, "event_id": event_id}


class Said:
    def __init__(self, journal: Journal) -> None:
        self._journal = journal

    async def since(self, conversation_id: str, feed_seq: int) -> list[tuple[int, int]]:
        """Returns events with their place among the numbers of frames; they have none of their own.

        Each is read by `frame` when its turn comes, so that a client that does not read holds one of them in memory.
        """
        begun = feed_seq // MICROSECONDS - MARGIN_MILLISECONDS
        own = where(conversation_id=conversation_id, event_type="message.received", created_at=at_least(begun))
        wanted = ("seq", "created_at")
        rows = await self._journal.read(Select(EVENTS, own, wanted, ("seq",), direction="descending", limit=MOST))
        return [(int(row["created_at"]) * MICROSECONDS, int(row["seq"])) for row in reversed(rows)]

    async def frame(self, event_seq: int, prefix: str) -> Frame | None:
        """Returns None for an event that was erased.

        `prefix` is what a client's own name of a message has before it in the event's.
        """
        rows = await self._journal.read(Select(EVENTS, where(seq=event_seq), few=True))
        events = [restore(row) for row in rows]
        return next((_frame(each.envelope, prefix) for each in events if not each.erased), None)


def _frame(event: EventEnvelope, prefix: str) -> Frame:
    own = event.event_id.startswith(prefix)
    return said_frame(event.event_id, event.input, event.event_id.removeprefix(prefix) if own else None)
