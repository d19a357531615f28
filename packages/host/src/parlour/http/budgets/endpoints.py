"""Endpoints to create, change and delete budgets, and to read them with their used and remaining amounts."""

from operator import attrgetter

from fastapi import APIRouter

from parlour.core.config.budgets import BudgetRepository
from parlour.core.model.budget import Budget
from parlour.core.model.ids import BudgetId
from parlour.core.model.ports import Clock, Ids
from parlour.core.models.reservations import BudgetUses
from parlour.core.pagination import Cursors

from ..api_router import ApiRouter
from ..crud import ConfigResource, CrudOperations, CrudSchemas, add_crud_routes
from ..principals import Principal
from .schemas import BudgetBody, BudgetResponse
from .views import audit_view, to_response


def router(repository: BudgetRepository, uses: BudgetUses, cursors: Cursors, ids: Ids, clock: Clock) -> APIRouter:
    routes = ApiRouter(tags=["budgets"])

    def build(budget_id: BudgetId, body: BudgetBody, before: Budget | None, principal: Principal) -> Budget:
        fields = body.model_dump(exclude={"tokens", "cost_micros"})
        return Budget(budget_id, **fields, tokens=body.tokens or 0, cost_micros=body.cost_micros or 0)

    async def view(budget: Budget) -> BudgetResponse:
        return to_response(budget, *await uses.current_uses(budget))

    add_crud_routes(
        routes,
        ConfigResource("budget", "/budgets", repository.get, attrgetter("budget_id"), audit_view, cursors, clock),
        CrudSchemas("budget", "budget_id", BudgetBody, BudgetResponse),
        CrudOperations(repository.all, build, repository.add, repository.replace, repository.remove, view),
        lambda: BudgetId(ids.new()),
    )
    return routes
