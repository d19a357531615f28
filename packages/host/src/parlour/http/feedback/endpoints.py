"""Endpoint that lists feedback."""

from typing import Annotated

from fastapi import APIRouter, Query

from parlour.core.journal import other_than, where
from parlour.core.model.ids import AgentId
from parlour.core.store.feedback import WITHDRAWN
from parlour.core.store.tables import FEEDBACK

from .. import views
from ..api_router import ApiRouter
from ..auth import Viewer
from ..pagination import Cursor, Limit, Pages
from ..responses import PageResponse
from .responses import FeedbackResponse

AgentQuery = Annotated[AgentId | None, Query(max_length=255)]


def router(pages: Pages) -> APIRouter:
    routes = ApiRouter(tags=["feedback"])

    @routes.get("/feedback")
    async def list_feedback(
        principal: Viewer, agent_id: AgentQuery = None, limit: Limit = 50, cursor: Cursor = None
    ) -> PageResponse[FeedbackResponse]:
        """What was not withdrawn, in a lasting order that is not that of time."""
        conditions = where(feedback_type=other_than(WITHDRAWN))
        conditions += where(agent_id=agent_id) if agent_id is not None else ()
        return await pages.page(FEEDBACK, conditions, "feedback_key", views.feedback, limit, cursor)

    return routes
