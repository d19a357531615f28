"""Reads the stored events of the run's conversation."""

from parlour_sdk.protocol.event_log import EventGet, EventPage, EventPageGet, EventRecord

from .calls import Namespace


class EventsAPI(Namespace):
    async def get(self, event_id: str) -> EventRecord:
        return await self._calls.call("event_get", EventGet, EventRecord, event_id=event_id)

    async def page(self, before_cursor: str | None = None, limit: int = 50) -> EventPage:
        return await self._calls.call("event_page", EventPageGet, EventPage, before_cursor=before_cursor, limit=limit)
