"""Budgets: made, read with what is used and left, changed, deleted."""

from typing import Any

from fastapi import APIRouter, Response

from parlour.core.access import audit
from parlour.core.budgets.book import BudgetBook
from parlour.core.budgets.budget import Budget
from parlour.core.budgets.uses import BudgetUses
from parlour.core.cursors import Cursors
from parlour.core.journal import Insert
from parlour.core.ports import Clock, Ids

from ..auth import Admin, Principal, Viewer
from ..errors import not_found
from ..paging import Cursor, Limit
from .schemas import BudgetBody
from .views import shown, with_uses


def router(book: BudgetBook, uses: BudgetUses, cursors: Cursors, ids: Ids, clock: Clock) -> APIRouter:
    routes = APIRouter(tags=["budgets"])

    def existing(budget_id: str) -> Budget:
        budget = book.get(budget_id)
        if budget is None:
            raise not_found(f"budget '{budget_id}'", "GET /api/v1/budgets lists them")
        return budget

    def written(budget_id: str, body: BudgetBody) -> Budget:
        fields = body.model_dump(exclude={"tokens", "cost_micros"})
        return Budget(budget_id, **fields, tokens=body.tokens or 0, cost_micros=body.cost_micros or 0)

    def change(principal: Principal, action: str, before: Budget | None, after: Budget | None) -> Insert:
        budget = after or before
        assert budget is not None
        was, becomes = before and shown(before), after and shown(after)
        return audit.admin(principal.owner, action, budget.budget_id, was, becomes, clock.now())

    async def view(budget: Budget) -> dict[str, Any]:
        return with_uses(budget, *await uses.of(budget))

    @routes.post("/budgets", status_code=201)
    async def create_budget(body: BudgetBody, principal: Admin) -> dict[str, Any]:
        budget = written(ids.new(), body)
        await book.add(budget, change(principal, "budget.create", None, budget))
        return await view(budget)

    @routes.get("/budgets")
    async def list_budgets(principal: Viewer, limit: Limit = 50, cursor: Cursor = None) -> dict[str, Any]:
        after = "" if cursor is None else str(cursors.decode("budgets", cursor))
        rest = [each for each in book.all() if each.budget_id > after]
        page = rest[:limit]
        more = cursors.encode("budgets", page[-1].budget_id) if len(rest) > limit else None
        return {"items": [await view(each) for each in page], "next_cursor": more}

    @routes.get("/budgets/{budget_id}")
    async def read_budget(budget_id: str, principal: Viewer) -> dict[str, Any]:
        return await view(existing(budget_id))

    @routes.put("/budgets/{budget_id}")
    async def replace_budget(budget_id: str, body: BudgetBody, principal: Admin) -> dict[str, Any]:
        before, budget = existing(budget_id), written(budget_id, body)
        await book.replace(budget, change(principal, "budget.replace", before, budget))
        return await view(budget)

    @routes.delete("/budgets/{budget_id}", status_code=204)
    async def delete_budget(budget_id: str, principal: Admin) -> Response:
        before = existing(budget_id)
        await book.remove(budget_id, change(principal, "budget.delete", before, None))
        return Response(status_code=204)

    return routes
