"""Endpoints to inject events and to read the event log."""

from typing import Annotated

from fastapi import APIRouter, Path, Query, Response

from parlour.core.journal import where
from parlour.core.model.ids import BotId, ConversationId
from parlour.core.observability.explain.explanations import Explanations
from parlour.core.observability.explain.steps import ExplanationStep
from parlour.core.store.tables import EVENTS

from .. import views
from ..api_router import ApiRouter
from ..auth import ChatUser, Reader
from ..errors import not_found
from ..pagination import Cursor, Limit, Pages
from ..responses import PageResponse, ResponseSchema
from .event_schema import EventResponse
from .responses import AcceptedEvent, EventResult, Trail, TrailStepResponse
from .schemas import EventBody, EventQuery
from .service import EventService


def router(service: EventService, pages: Pages, trails: Explanations) -> APIRouter:
    routes = ApiRouter(tags=["events"])

    @routes.post("/events", status_code=202, response_model=None)
    async def inject_event(
        body: EventBody, principal: ChatUser, query: Annotated[EventQuery, Query()]
    ) -> Annotated[Response, ResponseSchema({202: AcceptedEvent, 200: EventResult})]:
        """Accepted when it is durable. The same event_id of the same key is the same event."""
        return await service.handle(body, principal, query)

    @routes.get("/events")
    async def list_events(
        principal: Reader,
        type: str | None = None,
        bot_id: BotId | None = None,
        conversation_id: ConversationId | None = None,
        limit: Limit = 50,
        cursor: Cursor = None,
    ) -> PageResponse[EventResponse]:
        """Newest first."""
        filters = {"event_type": type, "bot_id": bot_id, "conversation_id": conversation_id}
        if not principal.may("viewer"):
            filters["principal"] = principal.owner
        conditions = where(**{name: value for name, value in filters.items() if value is not None})
        return await pages.page(EVENTS, conditions, "seq", views.event, limit, cursor)

    @routes.get("/events/{name}/why")
    async def explain_event(name: Annotated[str, Path(max_length=256)], principal: Reader) -> Trail:
        """The decision trail, in words. The name is an event's id, a run's id or a platform's message id."""
        events = [
            event
            for event in await trails.find_events(name)
            if principal.may("viewer") or event["principal"] == principal.owner
        ]
        if not events:
            raise not_found(f"event, run or message '{name}'", "GET /api/v1/events lists events")
        trail = await trails.explain(events[0], reruns=principal.may("viewer"))
        return {"event": views.event(trail.event), "steps": [_step_response(step) for step in trail.steps]}

    return routes


def _step_response(step: ExplanationStep) -> TrailStepResponse:
    return {
        "at": step.at,
        "step": step.step,
        "text": step.text,
        "data": step.data,
        "sentences": [{"code": each.code, "values": each.values} for each in step.sentences],
    }
