"""Endpoints to create, read, change, copy and delete pipelines, and to try one on a sample message."""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import asdict, replace
from operator import attrgetter
from typing import Any

from fastapi import APIRouter, Response

from parlour.core.config.agents import AgentRepository
from parlour.core.config.pipelines import PipelineRepository
from parlour.core.journal import Insert
from parlour.core.message_policy.dry_run import PolicyStep, try_message, try_reply
from parlour.core.message_policy.effective import decode_policy, override_policy
from parlour.core.message_policy.filters import TextFilters
from parlour.core.message_policy.references import PolicyReferences
from parlour.core.model.ids import PipelineId
from parlour.core.model.pipeline import Pipeline
from parlour.core.model.ports import Clock, Ids
from parlour.core.model.resource_policy import Names
from parlour.core.pagination import Cursors
from parlour_sdk.values import dataclass

from ..api_router import ApiRouter
from ..auth import Admin, Viewer
from ..crud import ConfigResource, CrudOperations, CrudSchemas, add_crud_routes, check_same_id, without_wait
from ..errors import Problem, invalid_field
from ..message_policies.endpoints import check_policy
from ..principals import Principal
from ..responses import Json
from .sample import sample_event
from .schemas import (
    PipelineBody,
    PipelineChange,
    PipelineDryRun,
    PipelineDryRunBody,
    PipelineResponse,
    PipelineStep,
)

AskedPlugins = Callable[[str, Names], Sequence[str]]
"""Returns which of these plugins are asked on an event of the path of a message."""
PipelineUsers = Callable[[PipelineId], Iterator[str]]
"""Returns the names of bots whose routes use a pipeline."""


@dataclass(frozen=True, slots=True)
class PipelineMapper:
    """Builds pipelines from request bodies and serializes them."""

    agents: AgentRepository
    references: PolicyReferences
    asked_plugins: AskedPlugins

    def to_pipeline(self, pipeline_id: PipelineId, body: PipelineBody, field: str = "") -> Pipeline:
        if isinstance(body, PipelineChange):
            check_same_id("pipeline_id", pipeline_id, body.pipeline_id)
        if self.agents.get(body.agent_id) is None:
            message = f"there is no agent '{body.agent_id}'; GET /api/v1/agents lists them"
            raise invalid_field(f"{field}agent_id", message)
        check_policy(body.message_policy, self.references, f"{field}message_policy")
        return Pipeline(
            pipeline_id=pipeline_id,
            name=body.name,
            agent_id=body.agent_id,
            description=body.description,
            message_policy=body.message_policy.given_fields() if body.message_policy is not None else {},
            conversation_ttl=body.conversation_ttl,
            plugins=_names(body.plugins),
            mcp_servers=_names(body.mcp_servers),
            skills=_names(body.skills),
            enabled=body.enabled,
        )

    def to_response(self, pipeline: Pipeline) -> PipelineResponse:
        return {
            "pipeline_id": pipeline.pipeline_id,
            "name": pipeline.name,
            "agent_id": pipeline.agent_id,
            "description": pipeline.description,
            "message_policy": pipeline.message_policy,
            "conversation_ttl": pipeline.conversation_ttl,
            "plugins": _listed(pipeline.plugins),
            "mcp_servers": _listed(pipeline.mcp_servers),
            "skills": _listed(pipeline.skills),
            "enabled": pipeline.enabled,
            "problem": self.problem(pipeline),
        }

    def problem(self, pipeline: Pipeline) -> str | None:
        agent = self.agents.get(pipeline.agent_id)
        if not pipeline.enabled:
            return "the pipeline is disabled"
        if agent is None:
            return "its agent was deleted; choose another one"
        return None if agent.enabled else f"its agent '{agent.name}' is disabled"


def router(
    repository: PipelineRepository,
    mapper: PipelineMapper,
    users: PipelineUsers,
    filters: TextFilters,
    cursors: Cursors,
    ids: Ids,
    clock: Clock,
) -> APIRouter:
    routes = ApiRouter(tags=["pipelines"])
    resource = ConfigResource(
        "pipeline", "/pipelines", repository.get, attrgetter("pipeline_id"), _audit_view, cursors, clock, _audit_view
    )

    def build(pipeline_id: PipelineId, body: PipelineBody, before: Pipeline | None, principal: Principal) -> Pipeline:
        return mapper.to_pipeline(pipeline_id, body)

    async def remove(pipeline_id: PipelineId, entry: Insert) -> None:
        names = ", ".join(f"'{name}'" for name in users(pipeline_id))
        if names:
            message = f"routes of {names} use this pipeline; give them another handler first"
            raise Problem(409, "in_use", message)
        await repository.remove(pipeline_id, entry)

    add_crud_routes(
        routes,
        resource,
        CrudSchemas("pipeline", "pipeline_id", PipelineBody, PipelineResponse, replace_body=PipelineChange),
        CrudOperations(
            repository.all, build, repository.add, repository.replace, remove, without_wait(mapper.to_response)
        ),
        lambda: PipelineId(ids.new()),
    )

    @routes.post("/pipelines/{pipeline_id}/copy", status_code=201)
    async def copy_pipeline(pipeline_id: PipelineId, principal: Admin, response: Response) -> PipelineResponse:
        """The copy has a name of its own and is used by no route."""
        original = resource.get_or_404(pipeline_id)
        names = {pipeline.name for pipeline in repository.all()}
        numbers = (number for number in range(2, len(names) + 3) if f"{original.name[:190]} {number}" not in names)
        copy = replace(original, pipeline_id=PipelineId(ids.new()), name=f"{original.name[:190]} {next(numbers)}")
        await repository.add(copy, resource.audit_entry(principal, None, copy))
        return mapper.to_response(resource.with_etag(copy, response))

    @routes.post("/pipelines/{pipeline_id}/dry-run")
    async def try_pipeline(pipeline_id: PipelineId, body: PipelineDryRunBody, principal: Viewer) -> PipelineDryRun:
        """Nothing is stored, counted or sent."""
        pipeline = resource.get_or_404(pipeline_id)
        if body.pipeline is not None:
            pipeline = mapper.to_pipeline(pipeline_id, body.pipeline, "pipeline.")
        return _try(pipeline, body, mapper, filters)

    return routes


def _try(pipeline: Pipeline, body: PipelineDryRunBody, mapper: PipelineMapper, filters: TextFilters) -> PipelineDryRun:
    event, agent = sample_event(body.event), mapper.agents.get(pipeline.agent_id)
    problem = mapper.problem(pipeline)
    if problem is not None or agent is None:
        stop = _step("answer", "agent_id", "stop", "unavailable", problem or "")
        return {"steps": [stop], "answered_by": None, "input": None}
    policy = decode_policy(override_policy(agent.message_policy, pipeline.message_policy))
    decided, read = try_message(policy, event, agent.agent_id, filters) if policy is not None else ([], event)
    steps = [_shown(step) for step in decided]
    is_woken = not steps or steps[0]["verdict"] != "stop"
    if is_woken and (names := ", ".join(mapper.asked_plugins("message.arriving", pipeline.plugins))):
        asks = _step("admit", "plugins", "pass", "asks_plugins", f"it is shown to plugins first: {names}")
        steps.insert(1 if steps else 0, asks)
    if any(step["verdict"] == "stop" for step in steps):
        return {"steps": steps, "answered_by": None, "input": None}
    steps.append(_step("answer", "agent_id", "pass", "answers", f"agent '{agent.name}' answers"))
    if body.reply and (names := ", ".join(mapper.asked_plugins("reply.preparing", pipeline.plugins))):
        steps.append(_step("finish", "plugins", "pass", "asks_plugins", f"it is shown to plugins first: {names}"))
    if body.reply and policy is not None:
        steps += [_shown(step) for step in try_reply(policy, body.reply, filters)]
    return {"steps": steps, "answered_by": agent.agent_id, "input": read.text}


def _shown(step: PolicyStep) -> PipelineStep:
    shown = _step(step.checkpoint, step.rule, step.verdict, step.code, step.reason)
    return {**shown, "before": step.before, "after": step.after}


def _step(checkpoint: Any, rule: str, verdict: Any, code: str, reason: str) -> PipelineStep:
    return {
        "checkpoint": checkpoint,
        "rule": rule,
        "verdict": verdict,
        "code": code,
        "reason": reason,
        "before": None,
        "after": None,
    }


def _names(names: Any) -> Any:
    return names if names == "*" else tuple(dict.fromkeys(names))


def _listed(names: Any) -> Any:
    return names if names == "*" else list(names)


def _audit_view(pipeline: Pipeline) -> Json:
    return {**asdict(pipeline), **{n: _listed(getattr(pipeline, n)) for n in ("plugins", "mcp_servers", "skills")}}
