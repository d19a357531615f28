"""Endpoints to create, change and delete budgets, and to read them with their used and remaining amounts."""

from operator import attrgetter
from typing import Annotated, Any

from fastapi import APIRouter, Response

from parlour.core.config.budgets import BudgetRepository
from parlour.core.model.budget import Budget
from parlour.core.model.ports import Clock, Ids
from parlour.core.models.reservations import BudgetUses
from parlour.core.pagination import Cursors

from ..auth import Admin, Viewer
from ..crud import ConfigResource
from ..etags import IfMatch
from ..pagination import Cursor, Limit, paginate
from ..responses import Json, PageResponse, ResponseSchema
from . import responses
from .schemas import BudgetBody
from .views import to_response, with_uses


def router(book: BudgetRepository, uses: BudgetUses, cursors: Cursors, ids: Ids, clock: Clock) -> APIRouter:
    routes = APIRouter(tags=["budgets"])

    def written(budget_id: str, body: BudgetBody) -> Budget:
        fields = body.model_dump(exclude={"tokens", "cost_micros"})
        return Budget(budget_id, **fields, tokens=body.tokens or 0, cost_micros=body.cost_micros or 0)

    async def view(budget: Budget) -> dict[str, Any]:
        return with_uses(budget, *await uses.current_uses(budget))

    shelf = ConfigResource("budget", "/budgets", book.get, attrgetter("budget_id"), to_response, cursors, clock)

    @routes.post("/budgets", status_code=201)
    async def create_budget(
        body: BudgetBody, principal: Admin, response: Response
    ) -> Annotated[Json, ResponseSchema(responses.BudgetResponse)]:
        budget = written(ids.new(), body)
        await book.add(budget, shelf.audit_entry(principal, None, budget))
        return await view(shelf.with_etag(budget, response))

    @routes.get("/budgets")
    async def list_budgets(
        principal: Viewer, limit: Limit = 50, cursor: Cursor = None
    ) -> Annotated[Json, ResponseSchema(PageResponse[responses.BudgetResponse])]:
        page, more = paginate(cursors, "budgets", book.all(), attrgetter("budget_id"), limit, cursor)
        return {"items": [await view(each) for each in page], "next_cursor": more}

    @routes.get("/budgets/{budget_id}")
    async def read_budget(
        budget_id: str, principal: Viewer, response: Response
    ) -> Annotated[Json, ResponseSchema(responses.BudgetResponse)]:
        return await view(shelf.with_etag(shelf.get_or_404(budget_id), response))

    @routes.put("/budgets/{budget_id}")
    async def replace_budget(
        budget_id: str, body: BudgetBody, principal: Admin, response: Response, if_match: IfMatch = None
    ) -> Annotated[Json, ResponseSchema(responses.BudgetResponse)]:
        async with shelf.edit(budget_id, if_match) as before:
            budget = written(budget_id, body)
            await book.replace(budget, shelf.audit_entry(principal, before, budget))
        return await view(shelf.with_etag(budget, response))

    @routes.delete("/budgets/{budget_id}", status_code=204)
    async def delete_budget(budget_id: str, principal: Admin, if_match: IfMatch = None) -> Response:
        async with shelf.edit(budget_id, if_match) as before:
            await book.remove(budget_id, shelf.audit_entry(principal, before, None))
        return Response(status_code=204)

    return routes
