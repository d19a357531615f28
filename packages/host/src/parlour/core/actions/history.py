"""Actions by which a run reads its conversation: the transcript and the events.

Data of other conversations is answered as if it did not exist. A rerun sees nothing newer than its event.
"""

from parlour.core.errors import Refused
from parlour.core.journal import Condition
from parlour.core.pagination import InvalidCursor
from parlour.core.runs.caller import Caller
from parlour.core.store.history import EventRecords, History
from parlour_sdk.protocol.event_log import EventGet, EventPage, EventPageGet, EventRecord
from parlour_sdk.protocol.history import HistoryPage, HistoryPageGet, HistorySearch, HistorySearchResult


class HistoryActions:
    def __init__(self, history: History) -> None:
        self._history = history

    async def page(self, caller: Caller, request: HistoryPageGet) -> HistoryPage:
        conversation_id, thread_id = _where(caller, request.conversation_id)
        try:
            return await self._history.page(conversation_id, thread_id, request, _said(caller, conversation_id))
        except InvalidCursor as error:
            raise Refused("invalid_argument", str(error)) from error

    async def search(self, caller: Caller, request: HistorySearch) -> HistorySearchResult:
        named = request.filters.conversation_id if request.filters else None
        conversation_id, thread_id = _where(caller, named)
        return await self._history.search(conversation_id, thread_id, request, _said(caller, conversation_id))


class EventActions:
    def __init__(self, events: EventRecords) -> None:
        self._events = events

    async def get(self, caller: Caller, request: EventGet) -> EventRecord:
        grant = caller.grant
        found = await self._events.get(grant.conversation_id, grant.thread_id, request.event_id, _happened(caller))
        if found is None:
            raise Refused("not_found", "no event of this conversation has this id")
        return found

    async def page(self, caller: Caller, request: EventPageGet) -> EventPage:
        grant = caller.grant
        try:
            return await self._events.page(grant.conversation_id, grant.thread_id, request, _happened(caller))
        except InvalidCursor as error:
            raise Refused("invalid_argument", str(error)) from error


def _where(caller: Caller, named: str | None) -> tuple[str, str | None]:
    """Returns the conversation and thread to read: the run's own, or all threads of another one.

    The gate has checked that the grant allows another conversation.
    """
    if named is None or named == caller.grant.conversation_id:
        return caller.grant.conversation_id, caller.grant.thread_id
    return named, None


def _said(caller: Caller, conversation_id: str) -> tuple[Condition, ...]:
    rehearsal = caller.run.rehearsal
    return () if rehearsal is None else rehearsal.transcript_until(conversation_id == caller.grant.conversation_id)


def _happened(caller: Caller) -> tuple[Condition, ...]:
    rehearsal = caller.run.rehearsal
    return () if rehearsal is None else rehearsal.events_until()
