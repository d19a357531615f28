"""Searches conversations by their messages and by their senders."""

from parlour.core.journal import Condition, Journal, Row, Select, Table, below, contains, where
from parlour.core.model.ids import ConversationId
from parlour.core.pagination import Cursors
from parlour.core.store.history import HistoryReader
from parlour.core.store.tables import CONVERSATIONS, EVENTS, TRANSCRIPT

from .. import views
from ..responses import PageResponse
from .responses import ConversationResponse

MAX_SEARCHED_CONVERSATIONS = 500
"""Maximum number of conversations that one request searches; its cursor continues after them."""
SEARCHED_COLUMNS: tuple[tuple[Table, str], ...] = (
    (TRANSCRIPT, "content"),
    (EVENTS, "actor_name"),
    (EVENTS, "actor_id"),
)


class ConversationSearch:
    def __init__(self, journal: Journal, cursors: Cursors) -> None:
        self._journal = journal
        self._cursors = cursors
        self._history = HistoryReader(journal, cursors)

    async def transcript_rows(self, text: str, conversation_id: ConversationId, limit: int) -> list[Row]:
        """Returns the transcript items that match the text, the best first."""
        conditions = where(conversation_id=conversation_id)
        return await self._history.search_rows(text, conversation_id, conditions, limit)

    async def page(
        self, text: str, conditions: tuple[Condition, ...], limit: int, cursor: str | None
    ) -> PageResponse[ConversationResponse]:
        """Returns a page, newest first. It may hold fewer items than `limit`, or none, while there is more to
        search."""
        listing = f"conversations:{conditions}:{text}"
        if cursor is not None:
            conditions += where(conversation_id=below(str(self._cursors.decode(listing, cursor))))
        rows = await self._journal.read(
            Select(CONVERSATIONS, conditions, (), ("conversation_id",), "descending", MAX_SEARCHED_CONVERSATIONS)
        )
        matches: list[ConversationResponse] = []
        for row in rows:
            if await self._contains(row["conversation_id"], text):
                matches.append(views.conversation(row))
            if len(matches) == limit:
                return {"items": matches, "next_cursor": self._cursors.encode(listing, row["conversation_id"])}
        last_id = rows[-1]["conversation_id"] if len(rows) == MAX_SEARCHED_CONVERSATIONS else None
        return {"items": matches, "next_cursor": last_id and self._cursors.encode(listing, last_id)}

    async def _contains(self, conversation_id: ConversationId, text: str) -> bool:
        for table, column in SEARCHED_COLUMNS:
            conditions = where(conversation_id=conversation_id, **{column: contains(text)})
            if await self._journal.read(Select(table, conditions, ("conversation_id",), limit=1)):
                return True
        return False
