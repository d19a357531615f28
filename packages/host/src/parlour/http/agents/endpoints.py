"""Agents: made, read, changed, deleted."""

from dataclasses import asdict
from typing import Any

from fastapi import APIRouter, Response

from parlour.core.access import audit
from parlour.core.agents import forms, sealing
from parlour.core.agents.agent import Agent, StatePolicy
from parlour.core.agents.book import AgentBook
from parlour.core.agents.policy import ResourcePolicy
from parlour.core.agents.registry import Registry
from parlour.core.cursors import Cursors
from parlour.core.journal import Insert
from parlour.core.ports import Clock, Ids
from parlour.core.secrets import SecretBox

from ..auth import Admin, Principal, Viewer
from ..errors import Problem, not_found
from ..paging import Cursor, Limit
from .schemas import AgentBody


def router(
    agents: AgentBook, registry: Registry, secrets: SecretBox, cursors: Cursors, ids: Ids, clock: Clock
) -> APIRouter:
    routes = APIRouter(tags=["agents"])

    def existing(agent_id: str) -> Agent:
        agent = agents.get(agent_id)
        if agent is None:
            raise not_found(f"agent '{agent_id}'", "GET /api/v1/agents lists them")
        return agent

    def checked(agent_id: str, body: AgentBody, before: Agent | None = None) -> Agent:
        """An agent whose runner exists and takes its configuration, prefilled from the form's defaults.

        Secrets of the configuration are sealed; one that comes back masked is the one that there was.
        """
        descriptor = registry.get(body.runner_id)
        if descriptor is None:
            message = f"runner_id: no runner '{body.runner_id}' is installed; GET /api/v1/runners lists them"
            raise Problem(422, "unknown_runner", message, {"fields": [{"field": "runner_id", "message": message}]})
        form = descriptor.manifest.config_schema
        config = sealing.restored(form, body.runner_config, before.runner_config if before is not None else {})
        known = {name for name, value in config.items() if value is not body.runner_config[name]}
        given = {name: "" if name in known else value for name, value in config.items()}
        wrong = forms.problems(form, given)
        if wrong:
            fields = [{"field": f"runner_config.{name}", "message": message} for name, message in wrong]
            first = fields[0]
            raise Problem(422, "invalid_argument", f"{first['field']}: {first['message']}", {"fields": fields})
        fields_of_body = body.model_dump(exclude={"resource_policy", "state_policy", "event_types", "runner_config"})
        fields_of_body["delivery_policy"] = body.delivery_policy.told()
        return Agent(
            agent_id=agent_id,
            **fields_of_body,
            runner_config=sealing.sealed(form, forms.prefilled(form, config), secrets),
            resource_policy=ResourcePolicy.decode(body.resource_policy.model_dump()),
            state_policy=StatePolicy(body.state_policy.enabled, tuple(body.state_policy.scopes)),
            event_types=tuple(body.event_types),
        )

    def shown(agent: Agent) -> dict[str, Any]:
        """Without its secrets, as people and the audit see it."""
        descriptor = registry.get(agent.runner_id)
        form = descriptor.manifest.config_schema if descriptor is not None else None
        return {**asdict(agent), "runner_config": sealing.hidden(form, agent.runner_config)}

    def change(principal: Principal, action: str, before: Agent | None, after: Agent | None) -> Insert:
        agent = after or before
        assert agent is not None
        was, is_now = (shown(each) if each is not None else None for each in (before, after))
        return audit.admin(principal.owner, action, agent.agent_id, was, is_now, clock.now())

    @routes.post("/agents", status_code=201)
    async def create_agent(body: AgentBody, principal: Admin) -> dict[str, Any]:
        agent = checked(ids.new(), body)
        await agents.add(agent, change(principal, "agent.create", None, agent))
        return shown(agent)

    @routes.get("/agents")
    async def list_agents(principal: Viewer, limit: Limit = 50, cursor: Cursor = None) -> dict[str, Any]:
        after = "" if cursor is None else str(cursors.decode("agents", cursor))
        rest = [agent for agent in agents.all() if agent.agent_id > after]
        page = rest[:limit]
        more = cursors.encode("agents", page[-1].agent_id) if len(rest) > limit else None
        return {"items": [shown(agent) for agent in page], "next_cursor": more}

    @routes.get("/agents/{agent_id}")
    async def read_agent(agent_id: str, principal: Viewer) -> dict[str, Any]:
        return shown(existing(agent_id))

    @routes.put("/agents/{agent_id}")
    async def replace_agent(agent_id: str, body: AgentBody, principal: Admin) -> dict[str, Any]:
        before = existing(agent_id)
        agent = checked(agent_id, body, before)
        await agents.replace(agent, change(principal, "agent.replace", before, agent))
        return shown(agent)

    @routes.delete("/agents/{agent_id}", status_code=204)
    async def delete_agent(agent_id: str, principal: Admin) -> Response:
        before = existing(agent_id)
        await agents.remove(agent_id, change(principal, "agent.delete", before, None))
        return Response(status_code=204)

    return routes
