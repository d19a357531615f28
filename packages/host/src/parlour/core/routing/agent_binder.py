"""Binds agents to events, or finds the reason why an agent can't answer an event."""

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from parlour.core.config.agents import AgentRepository
from parlour.core.message_policy.effective import decode_policy, override_policy
from parlour.core.message_policy.wake import find_silence
from parlour.core.model.agent import Agent, Binding, StatePolicy
from parlour.core.model.event import EventEnvelope
from parlour.core.model.ids import NO_AGENT, AgentId, LimitPolicyId, RunnerId
from parlour.core.model.pipeline import Pipeline
from parlour.core.model.regex_budget import RegexMatcher
from parlour.core.model.resource_policy import ResourcePolicy
from parlour.core.model.run_request import RunRequest
from parlour_sdk.values import dataclass

from .decisions import Drop, Misconfigured, RouteDecision, ToAgent


@dataclass(frozen=True, slots=True)
class BindingOverride:
    """What a route or a pipeline sets in place of the agent's own."""

    fields: Mapping[str, Any]
    """Fields of the message policy."""
    owner: LimitPolicyId
    """Owner of the counters, if the fields have limits."""
    pipeline: Pipeline | None = None


class AgentBinder:
    """Binds the agents that routes, defaults, callers and plugins name."""

    def __init__(self, agents: AgentRepository) -> None:
        self._agents = agents
        self.regexes = RegexMatcher()
        """Expressions of routes and policies, which share the time budget of an event."""

    def bind_run_request(self, event: EventEnvelope, request: RunRequest) -> RouteDecision:
        """Binds the agent or runner that the plugin named for its run; accepted event types are not checked."""
        reason = f"plugin {request.plugin_id} created the run"
        agent = self._agents.get(event.agent_id) if event.agent_id else agent_for_runner(request.runner_id)
        if agent is None:
            return Misconfigured(f"{reason}, and agent '{event.agent_id}' does not exist")
        if not agent.enabled:
            return Misconfigured(f"{reason}, and agent '{agent.name}' is disabled")
        if request.config is not None:
            agent = replace(agent, runner_config=dict(request.config))
        return ToAgent(Binding(agent, event.bot_id, reason))

    def bind(
        self,
        event: EventEnvelope,
        agent_id: AgentId,
        reason: str,
        scope: str,
        override: BindingOverride | None = None,
    ) -> RouteDecision:
        """Binds the agent with this id, if it accepts the event and its message policy does not leave it unanswered."""
        agent = self._agents.get(agent_id)
        if agent is None:
            return Misconfigured(f"{reason}, and agent '{agent_id}' does not exist")
        if not agent.enabled:
            return Misconfigured(f"{reason}, and agent '{agent.name}' is disabled")
        if not agent.accepts(event.event_type):
            accepted_types = ", ".join(agent.event_types)
            return Misconfigured(f"{reason}, and agent '{agent.name}' takes {accepted_types}, not {event.event_type}")
        if not agent.message_policy and override is None:
            return ToAgent(Binding(agent, event.bot_id, reason, scope))
        return self._bind_with_policy(event, agent, reason, scope, override)

    def _bind_with_policy(
        self, event: EventEnvelope, agent: Agent, reason: str, scope: str, override: BindingOverride | None
    ) -> RouteDecision:
        owner = LimitPolicyId(f"agent:{agent.agent_id}")
        if override is not None:
            agent = replace(agent, message_policy=override_policy(agent.message_policy, override.fields))
            owner = override.owner if "limits" in override.fields else owner
            if override.pipeline is not None and override.pipeline.conversation_ttl is not None:
                agent = replace(agent, conversation_ttl=override.pipeline.conversation_ttl)
        policy = decode_policy(agent.message_policy)
        silence = find_silence(policy, event, agent.agent_id, self.regexes) if policy is not None else None
        if silence is not None:
            return Drop(f"{reason}; {silence}", silence)
        pipeline = override.pipeline if override is not None else None
        return ToAgent(Binding(agent, event.bot_id, reason, scope, owner, pipeline))


def agent_for_runner(runner_id: RunnerId) -> Agent:
    """Builds an agent for a runner that is used without one: its state belongs to conversation and actor only."""
    scopes = StatePolicy(scopes=("conversation", "actor"))
    return Agent(
        NO_AGENT, runner_id, runner_id, resource_policy=ResourcePolicy(storage=("plugin",)), state_policy=scopes
    )
