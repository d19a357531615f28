"""Endpoints to inject events and to read the event log."""

from dataclasses import asdict
from typing import Annotated

from fastapi import APIRouter, Path, Query, Response

from parlour.core.journal import where
from parlour.core.observability.explain.explanations import Trails
from parlour.core.store.tables import EVENTS

from .. import views
from ..auth import Chatter, Reader
from ..errors import not_found
from ..pagination import Cursor, Limit, Pages
from ..responses import Answer, Json, Page
from .injection import Event
from .responses import AcceptedEvent, EventResult, Trail
from .schemas import EventBody, EventQuery
from .service import EventDoor


def router(door: EventDoor, pages: Pages, trails: Trails) -> APIRouter:
    routes = APIRouter(tags=["events"])

    @routes.post("/events", status_code=202, response_model=None)
    async def inject_event(
        body: EventBody, principal: Chatter, query: Annotated[EventQuery, Query()]
    ) -> Annotated[Response, Answer({202: AcceptedEvent, 200: EventResult})]:
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
    ) -> Annotated[Json, Answer(Page[Event])]:
        """Newest first."""
        filters = {"event_type": type, "bot_id": bot_id, "conversation_id": conversation_id}
        if not principal.may("viewer"):
            filters["principal"] = principal.owner
        conditions = where(**{name: value for name, value in filters.items() if value is not None})
        return await pages.page(EVENTS, conditions, "seq", views.event, limit, cursor)

    @routes.get("/events/{name}/why")
    async def explain_event(
        name: Annotated[str, Path(max_length=256)], principal: Reader
    ) -> Annotated[Json, Answer(Trail)]:
        """The decision trail, in words. The name is an event's id, a run's id or a platform's message id."""
        events = [
            event
            for event in await trails.find(name)
            if principal.may("viewer") or event["principal"] == principal.owner
        ]
        if not events:
            raise not_found(f"event, run or message '{name}'", "GET /api/v1/events lists events")
        found = await trails.of(events[0], reruns=principal.may("viewer"))
        return {"event": views.event(found.event), "steps": [asdict(step) for step in found.steps]}

    return routes
