"""Endpoints to create, read, change, delete and test models."""

from operator import attrgetter
from typing import Annotated

from fastapi import APIRouter, Response

from parlour.core.access import audit
from parlour.core.config.agents import AgentRepository
from parlour.core.config.default_model import DefaultModelAssigner
from parlour.core.config.model_usage import ModelReferences
from parlour.core.config.models import ModelRepository
from parlour.core.model.model_config import Model
from parlour.core.model.ports import Clock, Ids
from parlour.core.pagination import Cursors

from ..auth import Admin, Operator, Viewer
from ..crud import ConfigResource
from ..errors import Problem
from ..etags import IfMatch
from ..pagination import Cursor, Limit
from ..principals import Principal
from ..responses import Json, PageResponse, ResponseSchema
from . import responses
from .connection_test import ModelTest
from .mapping import ModelMapper, model_response
from .schemas import ModelBody

MAX_NAMED_AGENTS = 5


def router(
    book: ModelRepository,
    forms: ModelMapper,
    test: ModelTest,
    agents: AgentRepository,
    default_agent: DefaultModelAssigner,
    needed: ModelReferences,
    cursors: Cursors,
    ids: Ids,
    clock: Clock,
) -> APIRouter:
    routes = APIRouter(tags=["models"])
    shelf = ConfigResource("model", "/models", book.model, attrgetter("model_id"), model_response, cursors, clock)

    async def offer_to_default_agent(principal: Principal, model: Model) -> None:
        offered = await default_agent.assignment_for(model)
        if offered is None:
            return
        before, after = ({"runner_config": {"model": each.runner_config.get("model")}} for each in offered)
        agent = offered[1]
        entry = audit.change_entry(principal.owner, "agent.replace", agent.agent_id, before, after, clock.now())
        await agents.replace(agent, entry)

    @routes.post("/models", status_code=201)
    async def create_model(
        body: ModelBody, principal: Admin, response: Response
    ) -> Annotated[Json, ResponseSchema(responses.ModelResponse)]:
        model = forms.to_model(ids.new(), body)
        await book.put_model(model, shelf.audit_entry(principal, None, model))
        await offer_to_default_agent(principal, model)
        return model_response(shelf.with_etag(model, response))

    @routes.get("/models")
    async def list_models(
        principal: Viewer, provider_id: str | None = None, limit: Limit = 50, cursor: Cursor = None
    ) -> Annotated[Json, ResponseSchema(PageResponse[responses.ModelResponse])]:
        return shelf.list_page(book.models(provider_id), model_response, limit, cursor)

    @routes.get("/models/{model_id}")
    async def read_model(
        model_id: str, principal: Viewer, response: Response
    ) -> Annotated[Json, ResponseSchema(responses.ModelResponse)]:
        return model_response(shelf.with_etag(shelf.get_or_404(model_id), response))

    @routes.put("/models/{model_id}")
    async def replace_model(
        model_id: str, body: ModelBody, principal: Admin, response: Response, if_match: IfMatch = None
    ) -> Annotated[Json, ResponseSchema(responses.ModelResponse)]:
        async with shelf.edit(model_id, if_match) as before:
            model = forms.to_model(model_id, body)
            await book.put_model(model, shelf.audit_entry(principal, before, model))
        return model_response(shelf.with_etag(model, response))

    @routes.delete("/models/{model_id}", status_code=204)
    async def delete_model(model_id: str, principal: Admin, if_match: IfMatch = None) -> Response:
        async with shelf.edit(model_id, if_match) as before:
            users = needed.agents_using(model_id)
            if users:
                message = f"model '{before.name}' is used by {_named(users)}; let them use another one first"
                raise Problem(409, "in_use", message, {"agents": users})
            await book.remove_model(model_id, shelf.audit_entry(principal, before, None))
        return Response(status_code=204)

    @routes.post("/models/{model_id}/test")
    async def test_model(
        model_id: str, principal: Operator
    ) -> Annotated[Json, ResponseSchema(responses.ModelTestResponse)]:
        return await test.run(shelf.get_or_404(model_id))

    return routes


def _named(agents: list[str]) -> str:
    shown = ", ".join(f"the agent '{name}'" for name in agents[:MAX_NAMED_AGENTS])
    return shown if len(agents) <= MAX_NAMED_AGENTS else f"{shown} and {len(agents) - MAX_NAMED_AGENTS} more"
