"""Models: made, read, changed, deleted, and tried out."""

from typing import Any

from fastapi import APIRouter, Response

from parlour.core.access import audit
from parlour.core.agents.book import AgentBook
from parlour.core.cursors import Cursors
from parlour.core.journal import Insert
from parlour.core.models.book import ModelBook
from parlour.core.models.default_agent import DefaultAgent
from parlour.core.models.model import Model
from parlour.core.ports import Clock, Ids

from ..auth import Admin, Operator, Principal, Viewer
from ..errors import not_found
from ..paging import Cursor, Limit
from .checking import ModelForms, shown_model
from .schemas import ModelBody
from .testing import ModelTest


def router(
    book: ModelBook,
    forms: ModelForms,
    test: ModelTest,
    agents: AgentBook,
    default_agent: DefaultAgent,
    cursors: Cursors,
    ids: Ids,
    clock: Clock,
) -> APIRouter:
    routes = APIRouter(tags=["models"])

    def existing(model_id: str) -> Model:
        model = book.model(model_id)
        if model is None:
            raise not_found(f"model '{model_id}'", "GET /api/v1/models lists them")
        return model

    def change(principal: Principal, action: str, before: Model | None, after: Model | None) -> Insert:
        model = after or before
        assert model is not None
        was, becomes = before and shown_model(before), after and shown_model(after)
        return audit.admin(principal.owner, action, model.model_id, was, becomes, clock.now())

    async def offer_to_default_agent(principal: Principal, model: Model) -> None:
        offered = await default_agent.waiting_for(model)
        if offered is None:
            return
        before, after = ({"runner_config": {"model": each.runner_config.get("model")}} for each in offered)
        agent = offered[1]
        entry = audit.admin(principal.owner, "agent.replace", agent.agent_id, before, after, clock.now())
        await agents.replace(agent, entry)

    @routes.post("/models", status_code=201)
    async def create_model(body: ModelBody, principal: Admin) -> dict[str, Any]:
        model = forms.model(ids.new(), body)
        await book.put_model(model, change(principal, "model.create", None, model))
        await offer_to_default_agent(principal, model)
        return shown_model(model)

    @routes.get("/models")
    async def list_models(
        principal: Viewer, provider_id: str | None = None, limit: Limit = 50, cursor: Cursor = None
    ) -> dict[str, Any]:
        after = "" if cursor is None else str(cursors.decode("models", cursor))
        rest = [each for each in book.models(provider_id) if each.model_id > after]
        page = rest[:limit]
        more = cursors.encode("models", page[-1].model_id) if len(rest) > limit else None
        return {"items": [shown_model(each) for each in page], "next_cursor": more}

    @routes.get("/models/{model_id}")
    async def read_model(model_id: str, principal: Viewer) -> dict[str, Any]:
        return shown_model(existing(model_id))

    @routes.put("/models/{model_id}")
    async def replace_model(model_id: str, body: ModelBody, principal: Admin) -> dict[str, Any]:
        before = existing(model_id)
        model = forms.model(model_id, body)
        await book.put_model(model, change(principal, "model.replace", before, model))
        return shown_model(model)

    @routes.delete("/models/{model_id}", status_code=204)
    async def delete_model(model_id: str, principal: Admin) -> Response:
        before = existing(model_id)
        await book.remove_model(model_id, change(principal, "model.delete", before, None))
        return Response(status_code=204)

    @routes.post("/models/{model_id}/test")
    async def test_model(model_id: str, principal: Operator) -> dict[str, Any]:
        return await test.of(existing(model_id))

    return routes
