"""Endpoints to create, read, change, delete and test agents."""

from collections.abc import Awaitable, Callable
from operator import attrgetter

from fastapi import APIRouter, Request

from parlour.core.config.agents import AgentRepository
from parlour.core.model.agent import Agent
from parlour.core.model.ids import AgentId
from parlour.core.model.ports import Clock, Ids
from parlour.core.pagination import Cursors

from ..api_router import ApiRouter
from ..auth import Admin
from ..crud import ConfigResource, CrudOperations, CrudSchemas, add_crud_routes, without_wait
from ..localization import accepted_language
from ..principals import Principal
from .connection_test import RunnerConnectionTest
from .mapping import AgentMapper
from .schemas import AgentBody, AgentChange, AgentResponse, AgentTestBody, AgentTestResponse

Prepare = Callable[[Agent], Awaitable[None]]
"""Prepares what a saved agent needs, such as the Box; called before the response."""


def router(
    agents: AgentRepository,
    form: AgentMapper,
    connection_test: RunnerConnectionTest,
    prepare: Prepare,
    cursors: Cursors,
    ids: Ids,
    clock: Clock,
) -> APIRouter:
    routes = ApiRouter(tags=["agents"])

    @routes.post("/agents/test")
    async def test_agent(body: AgentTestBody, principal: Admin, request: Request) -> AgentTestResponse:
        """Lets the runner check a configuration against its service; nothing is stored."""
        stored = agents.get(body.agent_id) if body.agent_id else None
        before = stored if stored is not None and stored.runner_id == body.runner_id else None
        given = AgentBody(name="test", runner_id=body.runner_id, runner_config=body.runner_config)
        agent = form.to_agent(AgentId(ids.new()), given, before)
        return await connection_test.run(agent, accepted_language(request.headers.raw))

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
