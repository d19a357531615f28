"""Endpoints to create, read, change, delete and test models."""

from operator import attrgetter
from typing import Annotated

from fastapi import APIRouter, Response

from parlour.core.access import audit
from parlour.core.config.agents import AgentBook
from parlour.core.config.default_model import DefaultAgent
from parlour.core.config.model_usage import Needed
from parlour.core.config.models import ModelBook
from parlour.core.model.model_config import Model
from parlour.core.model.ports import Clock, Ids
from parlour.core.pagination import Cursors

from ..auth import Admin, Operator, Viewer
from ..crud import Shelf
from ..errors import Problem
from ..etags import IfMatch
from ..pagination import Cursor, Limit
from ..principals import Principal
from ..responses import Answer, Json, Page
from . import responses
from .connection_test import ModelTest
from .mapping import ModelForms, shown_model
from .schemas import ModelBody

SHOWN = 5


def router(
    book: ModelBook,
    forms: ModelForms,
    test: ModelTest,
    agents: AgentBook,
    default_agent: DefaultAgent,
    needed: Needed,
    cursors: Cursors,
    ids: Ids,
    clock: Clock,
) -> APIRouter:
    routes = APIRouter(tags=["models"])
    shelf = Shelf("model", "/models", book.model, attrgetter("model_id"), shown_model, cursors, clock)

    async def offer_to_default_agent(principal: Principal, model: Model) -> None:
        offered = await default_agent.waiting_for(model)
        if offered is None:
            return
        before, after = ({"runner_config": {"model": each.runner_config.get("model")}} for each in offered)
        agent = offered[1]
        entry = audit.admin(principal.owner, "agent.replace", agent.agent_id, before, after, clock.now())
        await agents.replace(agent, entry)

    @routes.post("/models", status_code=201)
    async def create_model(
        body: ModelBody, principal: Admin, response: Response
    ) -> Annotated[Json, Answer(responses.Model)]:
        model = forms.model(ids.new(), body)
        await book.put_model(model, shelf.change(principal, None, model))
        await offer_to_default_agent(principal, model)
        return shown_model(shelf.told(model, response))

    @routes.get("/models")
    async def list_models(
        principal: Viewer, provider_id: str | None = None, limit: Limit = 50, cursor: Cursor = None
    ) -> Annotated[Json, Answer(Page[responses.Model])]:
        return shelf.page(book.models(provider_id), shown_model, limit, cursor)

    @routes.get("/models/{model_id}")
    async def read_model(
        model_id: str, principal: Viewer, response: Response
    ) -> Annotated[Json, Answer(responses.Model)]:
        return shown_model(shelf.told(shelf.existing(model_id), response))

    @routes.put("/models/{model_id}")
    async def replace_model(
        model_id: str, body: ModelBody, principal: Admin, response: Response, if_match: IfMatch = None
    ) -> Annotated[Json, Answer(responses.Model)]:
        async with shelf.changing(model_id, if_match) as before:
            model = forms.model(model_id, body)
            await book.put_model(model, shelf.change(principal, before, model))
        return shown_model(shelf.told(model, response))

    @routes.delete("/models/{model_id}", status_code=204)
    async def delete_model(model_id: str, principal: Admin, if_match: IfMatch = None) -> Response:
        async with shelf.changing(model_id, if_match) as before:
            users = needed.by(model_id)
            if users:
                message = f"model '{before.name}' is used by {_named(users)}; let them use another one first"
                raise Problem(409, "in_use", message, {"agents": users})
            await book.remove_model(model_id, shelf.change(principal, before, None))
        return Response(status_code=204)

    @routes.post("/models/{model_id}/test")
    async def test_model(model_id: str, principal: Operator) -> Annotated[Json, Answer(responses.ModelTested)]:
        return await test.of(shelf.existing(model_id))

    return routes


def _named(agents: list[str]) -> str:
    shown = ", ".join(f"the agent '{name}'" for name in agents[:SHOWN])
    return shown if len(agents) <= SHOWN else f"{shown} and {len(agents) - SHOWN} more"
