"""Reads the transcript and the event log for a run, by page and by search, within its conversation and thread."""

from typing import Any

from parlour.core.encoding import loads
from parlour.core.journal import Condition, Journal, Row, Search, Select, above, below, one_of, other_than, where
from parlour.core.model.ids import ConversationId, EventId
from parlour.core.pagination import Cursors
from parlour_sdk.protocol.event_log import EventPage, EventPageGet, EventRecord
from parlour_sdk.protocol.history import HEARD, HistoryPage, HistoryPageGet, HistorySearch, HistorySearchResult

from . import text_search
from .tables import EVENTS, ITEM_COLUMNS, TRANSCRIPT


class HistoryReader:
    """Pages and searches the transcript."""

    def __init__(self, journal: Journal, cursors: Cursors) -> None:
        self._journal = journal
        self._cursors = cursors

    def cursor(self, conversation_id: ConversationId, seq: int) -> str:
        return self._cursors.encode(f"history:{conversation_id}", seq)

    async def page(
        self,
        conversation_id: ConversationId,
        thread_id: str | None,
        request: HistoryPageGet,
        extra_conditions: tuple[Condition, ...] = (),
    ) -> HistoryPage:
        """Returns a page of items, always in the order of the conversation, in either direction of paging."""
        listing = f"history:{conversation_id}"
        conditions = _in_thread(conversation_id, thread_id) + extra_conditions
        conditions += () if request.include_heard else where(item_type=other_than(HEARD))
        if request.before_cursor is not None:
            conditions += where(seq=below(self._cursors.decode(listing, request.before_cursor)))
        if request.after_cursor is not None:
            conditions += where(seq=above(self._cursors.decode(listing, request.after_cursor)))
        is_backward = request.direction == "backward"
        rows = await self._journal.read(
            Select(
                TRANSCRIPT,
                conditions,
                ITEM_COLUMNS,
                order=("seq",),
                direction="descending" if is_backward else "ascending",
                limit=request.limit + 1,
            )
        )
        has_more, rows = len(rows) > request.limit, rows[: request.limit]
        items = [self._item(row, request.include_artifacts) for row in (reversed(rows) if is_backward else rows)]
        older, newer = (items[0]["cursor"], items[-1]["cursor"]) if items else (None, None)
        following_cursor, previous_cursor = (older, newer) if is_backward else (newer, older)
        page = {
            "items": items,
            "next_cursor": following_cursor if has_more else None,
            "prev_cursor": previous_cursor,
            "has_more": has_more,
        }
        return HistoryPage.model_validate(page)

    async def search(
        self,
        conversation_id: ConversationId,
        thread_id: str | None,
        request: HistorySearch,
        extra_conditions: tuple[Condition, ...] = (),
    ) -> HistorySearchResult:
        filters = request.filters
        conditions = _in_thread(conversation_id, thread_id) + extra_conditions
        if filters is not None:
            for column, selected in (("role", filters.roles), ("item_type", filters.item_types)):
                conditions += where(**{column: one_of(*selected)}) if selected else ()
            conditions += where(event_type=one_of(*filters.event_types)) if filters.event_types else ()
            conditions += where(created_at=below(filters.before)) if filters.before else ()
            conditions += where(created_at=above(filters.after)) if filters.after else ()
        rows = await self.search_rows(request.query, conversation_id, conditions, request.top_k)
        items = [self._item(row, artifacts=True) for row in rows]
        return HistorySearchResult.model_validate({"items": items, "query": request.query})

    async def search_rows(
        self, query: str, conversation_id: ConversationId, conditions: tuple[Condition, ...], limit: int
    ) -> list[Row]:
        """Returns matching rows of the transcript, the best match first. `conditions` must include the conversation."""
        terms = tuple(text_search.conversation_terms(conversation_id, text_search.query_terms(query)))
        if not terms:
            return []
        return await self._journal.search(Search(TRANSCRIPT, "words", terms, conditions, limit))

    def _item(self, row: Row, artifacts: bool) -> dict[str, Any]:
        """Returns the fields of a TranscriptItem; validating a whole page in one call costs half as much."""
        return {
            "transcript_id": row["transcript_id"],
            "event_id": row["event_id"],
            "conversation_id": row["conversation_id"],
            "thread_id": row["thread_id"] or None,
            "role": row["role"],
            "item_type": row["item_type"],
            "content": row["content"],
            "content_json": loads(row["content_json"]) or None,
            "artifact_refs": loads(row["artifact_refs"]) if artifacts else [],
            "seq": row["seq"],
            "cursor": self.cursor(row["conversation_id"], row["seq"]),
            "created_at": row["created_at"],
            "metadata": loads(row["metadata"]),
        }


class EventRecordReader:
    """Reads the events of a conversation as protocol records."""

    def __init__(self, journal: Journal, cursors: Cursors) -> None:
        self._journal = journal
        self._cursors = cursors

    async def get(
        self,
        conversation_id: ConversationId,
        thread_id: str,
        event_id: EventId,
        extra_conditions: tuple[Condition, ...] = (),
    ) -> EventRecord | None:
        conditions = where(event_id=event_id, conversation_id=conversation_id, thread_id=thread_id) + extra_conditions
        rows = await self._journal.read(Select(EVENTS, conditions, limit=1, point_read=True))
        return self._record(rows[0]) if rows else None

    async def page(
        self,
        conversation_id: ConversationId,
        thread_id: str,
        request: EventPageGet,
        extra_conditions: tuple[Condition, ...] = (),
    ) -> EventPage:
        conditions = where(conversation_id=conversation_id, thread_id=thread_id) + extra_conditions
        if request.before_cursor is not None:
            conditions += where(seq=below(self._cursors.decode(_listing(conversation_id), request.before_cursor)))
        query = Select(EVENTS, conditions, order=("seq",), direction="descending", limit=request.limit + 1)
        rows = await self._journal.read(query)
        has_more, rows = len(rows) > request.limit, rows[: request.limit]
        items = [self._record(row) for row in reversed(rows)]
        return EventPage(items=items, next_cursor=items[0].cursor if has_more else None, has_more=has_more)

    def _record(self, row: Row) -> EventRecord:
        optional_fields: dict[str, Any] = {name: row[name] or None for name in _OPTIONAL}
        return EventRecord.model_validate(
            {
                **optional_fields,
                "event_id": row["event_id"],
                "event_type": row["event_type"],
                "source": row["source"],
                "seq": row["seq"],
                "cursor": self._cursors.encode(_listing(row["conversation_id"]), row["seq"]),
                "created_at": row["created_at"],
            }
        )


_OPTIONAL = (
    "event_time",
    "bot_id",
    "workspace_id",
    "conversation_id",
    "thread_id",
    "actor_type",
    "actor_id",
    "actor_name",
    "subject_type",
    "subject_id",
    "input_summary",
)


def _listing(conversation_id: ConversationId) -> str:
    return f"events:{conversation_id}"


def _in_thread(conversation_id: ConversationId, thread_id: str | None) -> tuple[Condition, ...]:
    conditions = where(conversation_id=conversation_id)
    return conditions if thread_id is None else conditions + where(thread_id=thread_id)
