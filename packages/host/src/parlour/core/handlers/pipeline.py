"""The handler `pipeline`: resolves a pipeline to its agent, with the message policy and the extensions of the pipeline.

From there on the event is handled like any other of the agent.
"""

from typing import ClassVar

from parlour.core.config.pipelines import PipelineRepository
from parlour.core.config.routes import Route
from parlour.core.model.event import EventEnvelope
from parlour.core.model.ids import LimitPolicyId, PipelineId
from parlour.core.model.pipeline import Pipeline
from parlour.core.routing.agent_binder import AgentBinder, BindingOverride
from parlour.core.routing.decisions import Misconfigured, RouteDecision, ToAgent
from parlour.core.runs.lane_result import LaneResult
from parlour.core.runs.session import QueuedEvent

from .agent import AgentHandler


class PipelineHandler:
    """Answers events by the agents of pipelines."""

    type: ClassVar[str] = "pipeline"
    answers_by_agent: ClassVar[bool] = True

    def __init__(self, pipelines: PipelineRepository, binder: AgentBinder, agents: AgentHandler) -> None:
        self._pipelines = pipelines
        self._binder = binder
        self._agents = agents

    def resolve(self, event: EventEnvelope, route: Route, skipped_routes: str) -> RouteDecision:
        pipeline_id = PipelineId(str(route.handler_config.get("pipeline_id", "")))
        pipeline, reason = self._pipelines.get(pipeline_id), f"{route.label}{skipped_routes}"
        if pipeline is None:
            return Misconfigured(f"{reason}, and pipeline '{pipeline_id}' does not exist")
        return self.bind(event, pipeline, f"{reason} to {pipeline.label}")

    def bind(self, event: EventEnvelope, pipeline: Pipeline, reason: str) -> RouteDecision:
        """Binds the agent of a pipeline to an event."""
        if not pipeline.enabled:
            return Misconfigured(f"{reason}, and {pipeline.label} is disabled")
        override = BindingOverride(
            pipeline.message_policy,
            LimitPolicyId(f"pipeline:{pipeline.pipeline_id}"),
            pipeline,
        )
        return self._binder.bind(event, pipeline.agent_id, reason, "bot", override)

    async def handle(self, entry: QueuedEvent, decision: ToAgent) -> LaneResult:
        return await self._agents.handle(entry, decision)
