"""Endpoints to create, read, change and delete agents."""

from collections.abc import Awaitable, Callable
from operator import attrgetter

from fastapi import APIRouter

from parlour.core.config.agents import AgentRepository
from parlour.core.model.agent import Agent
from parlour.core.model.ids import AgentId
from parlour.core.model.ports import Clock, Ids
from parlour.core.pagination import Cursors

from ..api_router import ApiRouter
from ..crud import ConfigResource, CrudOperations, CrudSchemas, add_crud_routes, without_wait
from ..principals import Principal
from .mapping import AgentMapper
from .schemas import AgentBody, AgentChange, AgentResponse

Prepare = Callable[[Agent], Awaitable[None]]
"""Prepares what a saved agent needs, such as the Box; called before the response."""


def router(
    agents: AgentRepository, form: AgentMapper, prepare: Prepare, cursors: Cursors, ids: Ids, clock: Clock
) -> APIRouter:
    routes = ApiRouter(tags=["agents"])

    async def after_change(principal: Principal, before: Agent | None, after: Agent | None) -> None:
        if after is not None:
            await prepare(after)

    def build(agent_id: AgentId, body: AgentBody, before: Agent | None, principal: Principal) -> Agent:
        return form.to_agent(agent_id, body, before)

    add_crud_routes(
        routes,
        ConfigResource("agent", "/agents", agents.get, attrgetter("agent_id"), form.to_response, cursors, clock),
        CrudSchemas("agent", "agent_id", AgentBody, AgentResponse, replace_body=AgentChange),
        CrudOperations(
            agents.all, build, agents.add, agents.replace, agents.remove, without_wait(form.to_response), after_change
        ),
        lambda: AgentId(ids.new()),
    )
    return routes
