"""Actions by which a run reads its conversation: the transcript and the events.

Data of other conversations is answered as if it did not exist. A rerun sees nothing newer than its event.
"""

from parlour.core.errors import CallRejected
from parlour.core.journal import Condition
from parlour.core.model.ids import ConversationId, EventId
from parlour.core.pagination import InvalidCursor
from parlour.core.runs.caller import ActionCaller
from parlour.core.store.history import EventRecordReader, HistoryReader
from parlour_sdk.protocol.event_log import EventGet, EventPage, EventPageGet, EventRecord
from parlour_sdk.protocol.history import HistoryPage, HistoryPageGet, HistorySearch, HistorySearchResult

from .handlers import Handler


class HistoryActions:
    def __init__(self, history: HistoryReader) -> None:
        self._history = history

    def handlers(self) -> dict[str, Handler]:
        return {
            "history_page": self.page,
            "history_search": self.search,
        }

    async def page(self, caller: ActionCaller, request: HistoryPageGet) -> HistoryPage:
        conversation_id, thread_id = _conversation_and_thread(caller, request.conversation_id)
        try:
            return await self._history.page(
                conversation_id, thread_id, request, _transcript_conditions(caller, conversation_id)
            )
        except InvalidCursor as error:
            raise CallRejected("invalid_argument", str(error)) from error

    async def search(self, caller: ActionCaller, request: HistorySearch) -> HistorySearchResult:
        requested_id = request.filters.conversation_id if request.filters else None
        conversation_id, thread_id = _conversation_and_thread(caller, requested_id)
        return await self._history.search(
            conversation_id, thread_id, request, _transcript_conditions(caller, conversation_id)
        )


class EventActions:
    def __init__(self, events: EventRecordReader) -> None:
        self._events = events

    def handlers(self) -> dict[str, Handler]:
        return {
            "event_get": self.get,
            "event_page": self.page,
        }

    async def get(self, caller: ActionCaller, request: EventGet) -> EventRecord:
        grant = caller.grant
        record = await self._events.get(
            grant.conversation_id, grant.thread_id, EventId(request.event_id), _event_conditions(caller)
        )
        if record is None:
            raise CallRejected("not_found", "no event of this conversation has this id")
        return record

    async def page(self, caller: ActionCaller, request: EventPageGet) -> EventPage:
        grant = caller.grant
        try:
            return await self._events.page(grant.conversation_id, grant.thread_id, request, _event_conditions(caller))
        except InvalidCursor as error:
            raise CallRejected("invalid_argument", str(error)) from error


def _conversation_and_thread(caller: ActionCaller, requested_id: str | None) -> tuple[ConversationId, str | None]:
    """Returns the conversation and thread to read: the run's own, or all threads of another one.

    The gate has checked that the grant allows another conversation.
    """
    if requested_id is None or requested_id == caller.grant.conversation_id:
        return caller.grant.conversation_id, caller.grant.thread_id
    return ConversationId(requested_id), None


def _transcript_conditions(caller: ActionCaller, conversation_id: ConversationId) -> tuple[Condition, ...]:
    dry_run = caller.run_session.dry_run
    return () if dry_run is None else dry_run.transcript_until(conversation_id == caller.grant.conversation_id)


def _event_conditions(caller: ActionCaller) -> tuple[Condition, ...]:
    dry_run = caller.run_session.dry_run
    return () if dry_run is None else dry_run.events_until()
