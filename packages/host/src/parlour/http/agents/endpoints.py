"""Endpoints to create, read, change and delete agents."""

from dataclasses import asdict
from operator import attrgetter
from typing import Annotated, Any

from fastapi import APIRouter, Response

from parlour.core.config import form_validation, secret_fields
from parlour.core.config.agents import AgentRepository
from parlour.core.model.agent import Agent, StatePolicy
from parlour.core.model.ports import Clock, Ids
from parlour.core.model.resource_policy import ResourcePolicy
from parlour.core.pagination import Cursors
from parlour.core.runs.runner_registry import RunnerRegistry
from parlour.core.secrets import SecretBox

from ..auth import Admin, Viewer
from ..crud import ConfigResource, check_same_id
from ..errors import Problem
from ..etags import IfMatch
from ..pagination import Cursor, Limit
from ..responses import Json, PageResponse, ResponseSchema
from . import responses
from .schemas import AgentBody, AgentChange


def router(
    agents: AgentRepository, registry: RunnerRegistry, secrets: SecretBox, cursors: Cursors, ids: Ids, clock: Clock
) -> APIRouter:
    routes = APIRouter(tags=["agents"])

    def checked(agent_id: str, body: AgentBody, before: Agent | None = None) -> Agent:
        """Builds an agent after checking that its runner exists and accepts its configuration, prefilled from the
        form's defaults.

        Secrets of the configuration are sealed; a secret that is sent as its mask keeps its stored value.
        """
        descriptor = registry.get(body.runner_id)
        if descriptor is None:
            message = f"no runner '{body.runner_id}' is installed; GET /api/v1/runners lists them"
            fields = [{"field": "runner_id", "message": message}]
            raise Problem(422, "unknown_runner", f"runner_id: {message}", {"fields": fields})
        form = descriptor.manifest.config_schema
        config = secret_fields.merge_masked(
            form, body.runner_config, before.runner_config if before is not None else {}
        )
        known = {name for name, value in config.items() if value is not body.runner_config[name]}
        given = {name: "" if name in known else value for name, value in config.items()}
        wrong = form_validation.validate(form, given)
        if wrong:
            fields = [{"field": f"runner_config.{name}", "message": message} for name, message in wrong]
            first = fields[0]
            raise Problem(422, "invalid_argument", f"{first['field']}: {first['message']}", {"fields": fields})
        fields_of_body = body.model_dump(exclude={"resource_policy", "state_policy", "event_types", "runner_config"})
        fields_of_body["delivery_policy"] = body.delivery_policy.non_default_fields()
        return Agent(
            agent_id=agent_id,
            **fields_of_body,
            runner_config=secret_fields.seal_secrets(form, form_validation.with_defaults(form, config), secrets),
            resource_policy=ResourcePolicy.decode(body.resource_policy.model_dump()),
            state_policy=StatePolicy(body.state_policy.enabled, tuple(body.state_policy.scopes)),
            event_types=tuple(body.event_types),
        )

    def shown(agent: Agent) -> dict[str, Any]:
        """Returns the agent without its secrets, for responses and the audit."""
        descriptor = registry.get(agent.runner_id)
        form = descriptor.manifest.config_schema if descriptor is not None else None
        return {**asdict(agent), "runner_config": secret_fields.mask_secrets(form, agent.runner_config)}

    shelf = ConfigResource("agent", "/agents", agents.get, attrgetter("agent_id"), shown, cursors, clock)

    @routes.post("/agents", status_code=201)
    async def create_agent(
        body: AgentBody, principal: Admin, response: Response
    ) -> Annotated[Json, ResponseSchema(responses.AgentResponse)]:
        agent = checked(ids.new(), body)
        await agents.add(agent, shelf.audit_entry(principal, None, agent))
        return shown(shelf.with_etag(agent, response))

    @routes.get("/agents")
    async def list_agents(
        principal: Viewer, limit: Limit = 50, cursor: Cursor = None
    ) -> Annotated[Json, ResponseSchema(PageResponse[responses.AgentResponse])]:
        return shelf.list_page(agents.all(), shown, limit, cursor)

    @routes.get("/agents/{agent_id}")
    async def read_agent(
        agent_id: str, principal: Viewer, response: Response
    ) -> Annotated[Json, ResponseSchema(responses.AgentResponse)]:
        return shown(shelf.with_etag(shelf.get_or_404(agent_id), response))

    @routes.put("/agents/{agent_id}")
    async def replace_agent(
        agent_id: str, body: AgentChange, principal: Admin, response: Response, if_match: IfMatch = None
    ) -> Annotated[Json, ResponseSchema(responses.AgentResponse)]:
        async with shelf.edit(agent_id, if_match) as before:
            check_same_id("agent_id", agent_id, body.agent_id)
            agent = checked(agent_id, body, before)
            await agents.replace(agent, shelf.audit_entry(principal, before, agent))
        return shown(shelf.with_etag(agent, response))

    @routes.delete("/agents/{agent_id}", status_code=204)
    async def delete_agent(agent_id: str, principal: Admin, if_match: IfMatch = None) -> Response:
        async with shelf.edit(agent_id, if_match) as before:
            await agents.remove(agent_id, shelf.audit_entry(principal, before, None))
        return Response(status_code=204)

    return routes
