"""Injecting events and reading the log."""

from typing import Annotated, Any

from fastapi import APIRouter, Query, Response

from parlour.core.facts.tables import EVENTS
from parlour.core.journal import where

from .. import views
from ..auth import Chatter, Reader
from ..paging import Cursor, Limit, Pages
from .door import EventDoor
from .schemas import EventBody, EventQuery


def router(door: EventDoor, pages: Pages) -> APIRouter:
    routes = APIRouter(tags=["events"])

    @routes.post("/events", status_code=202)
    async def inject_event(body: EventBody, principal: Chatter, query: Annotated[EventQuery, Query()]) -> Response:
        """Accepted when it is durable. The same event_id of the same key is the same event."""
        return await door.answer(body, principal, query)

    @routes.get("/events")
    async def list_events(
        principal: Reader,
        type: str | None = None,
        bot_id: str | None = None,
        conversation_id: str | None = None,
        limit: Limit = 50,
        cursor: Cursor = None,
    ) -> dict[str, Any]:
        """Newest first."""
        filters = {"event_type": type, "bot_id": bot_id, "conversation_id": conversation_id}
        if not principal.may("viewer"):
            filters["principal"] = principal.owner
        conditions = where(**{name: value for name, value in filters.items() if value is not None})
        return await pages.page(EVENTS, conditions, "seq", views.event, limit, cursor)

    return routes
