"""The transcript and the event log, in memory."""

import time
from collections.abc import Callable, Sequence
from typing import Any, TypeVar

from parlour_sdk.protocol.content import ArtifactRef, plain_text
from parlour_sdk.protocol.event_log import EventGet, EventPage, EventPageGet, EventRecord
from parlour_sdk.protocol.events import Actor
from parlour_sdk.protocol.history import (
    HEARD,
    HistoryPage,
    HistoryPageGet,
    HistorySearch,
    HistorySearchResult,
    SearchFilters,
    TranscriptItem,
)
from parlour_sdk.protocol.messages import Message

from ..gate import Handler
from ..script import Failure, word_overlap
from ..sessions import Caller

Record = TypeVar("Record", TranscriptItem, EventRecord)


class Transcript:
    """The transcript; `items` has those of all conversations, in the order of their creation."""

    def __init__(self, new_id: Callable[[str], str]) -> None:
        self._new_id = new_id
        self.items: list[TranscriptItem] = []

    def handlers(self) -> dict[str, Handler]:
        return {"history_page": self._page, "history_search": self._search}

    def add(
        self,
        conversation_id: str,
        message: Message,
        event_id: str,
        event_type: str = "",
        actor: Actor | None = None,
        item_type: str = "message",
    ) -> TranscriptItem:
        seq = len(self.for_conversation(conversation_id)) + 1
        refs: list[ArtifactRef] = message.artifact_refs or []
        item = TranscriptItem(
            transcript_id=self._new_id("transcript"),
            event_id=event_id,
            conversation_id=conversation_id,
            role=message.role,
            item_type=item_type,
            content=plain_text(message.content),
            content_json=message.model_dump(mode="json", exclude_none=True),
            artifact_refs=refs,
            seq=seq,
            cursor=f"transcript:{conversation_id}:{seq}",
            created_at=int(time.time() * 1000),
            metadata={**({"event_type": event_type} if event_type else {}), **_sender(actor)},
        )
        self.items.append(item)
        return item

    def for_conversation(self, conversation_id: str) -> list[TranscriptItem]:
        return [item for item in self.items if item.conversation_id == conversation_id]

    async def _page(self, caller: Caller, request: HistoryPageGet) -> HistoryPage:
        items = self.for_conversation(request.conversation_id or caller.run.conversation_id)
        items = [each for each in items if request.include_heard or each.item_type != HEARD]
        before, after = _position(items, request.before_cursor), _position(items, request.after_cursor)
        items = [each for each in items if (before is None or _seq(each) < before)]
        items = [each for each in items if (after is None or _seq(each) > after)]
        is_backward = request.direction == "backward"
        selected = items[-request.limit :] if is_backward else items[: request.limit]
        has_more = len(items) > len(selected)
        oldest_cursor, newest_cursor = (selected[0].cursor, selected[-1].cursor) if selected else (None, None)
        next_cursor, previous_cursor = (oldest_cursor, newest_cursor) if is_backward else (newest_cursor, oldest_cursor)
        visible = selected if request.include_artifacts else [_bare(each) for each in selected]
        return HistoryPage(
            items=visible, next_cursor=next_cursor if has_more else None, prev_cursor=previous_cursor, has_more=has_more
        )

    async def _search(self, caller: Caller, request: HistorySearch) -> HistorySearchResult:
        filters = request.filters or SearchFilters()
        items = self.for_conversation(filters.conversation_id or caller.run.conversation_id)
        matches = [each for each in items if _fits(each, filters) and word_overlap(request.query, each.content or "")]
        matches.sort(key=lambda each: -word_overlap(request.query, each.content or ""))
        return HistorySearchResult(items=matches[: request.top_k], query=request.query)


class Events:
    """The records of all events, in order."""

    def __init__(self) -> None:
        self.records: list[EventRecord] = []

    def handlers(self) -> dict[str, Handler]:
        return {"event_get": self._get, "event_page": self._page}

    def add(self, **facts: Any) -> EventRecord:
        seq = len(self.records) + 1
        record = EventRecord(**facts, seq=seq, cursor=f"event:{seq}", created_at=int(time.time() * 1000))
        self.records.append(record)
        return record

    async def _get(self, caller: Caller, request: EventGet) -> EventRecord:
        for record in self._own(caller):
            if record.event_id == request.event_id:
                return record
        raise Failure("not_found", "no event of this conversation has this id").exception()

    async def _page(self, caller: Caller, request: EventPageGet) -> EventPage:
        records = self._own(caller)
        before = _position(records, request.before_cursor)
        records = [each for each in records if before is None or _seq(each) < before]
        selected = records[-request.limit :]
        has_more = len(records) > len(selected)
        return EventPage(items=selected, next_cursor=selected[0].cursor if has_more else None, has_more=has_more)

    def _own(self, caller: Caller) -> list[EventRecord]:
        return [each for each in self.records if each.conversation_id == caller.run.conversation_id]


def _sender(actor: Actor | None) -> dict[str, Any]:
    if actor is None:
        return {}
    role = {"role": actor.metadata["role"]} if "role" in actor.metadata else {}
    return {"actor_id": actor.actor_id, "actor_name": actor.actor_name, **role}


def _position(items: Sequence[Record], cursor: str | None) -> int | None:
    if cursor is None:
        return None
    for item in items:
        if item.cursor == cursor:
            return _seq(item)
    raise Failure("invalid_argument", "this cursor does not belong to this listing").exception()


def _seq(item: TranscriptItem | EventRecord) -> int:
    return item.seq or 0


def _bare(item: TranscriptItem) -> TranscriptItem:
    return item.model_copy(update={"artifact_refs": []})


def _fits(item: TranscriptItem, filters: SearchFilters) -> bool:
    said_at = item.created_at or 0
    return (
        (not filters.roles or item.role in filters.roles)
        and (not filters.item_types or item.item_type in filters.item_types)
        and (not filters.event_types or item.metadata.get("event_type") in filters.event_types)
        and (filters.before is None or said_at < filters.before)
        and (filters.after is None or said_at > filters.after)
    )
