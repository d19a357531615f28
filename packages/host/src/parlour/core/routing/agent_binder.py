"""Binds agents to events, or finds the reason why an agent can't answer an event."""

from dataclasses import replace

from parlour.core.config.agents import AgentRepository
from parlour.core.model.agent import Agent, Binding, StatePolicy
from parlour.core.model.event import EventEnvelope
from parlour.core.model.ids import NO_AGENT, AgentId, RunnerId
from parlour.core.model.resource_policy import ResourcePolicy
from parlour.core.model.run_request import RunRequest

from .decisions import Misconfigured, RouteDecision, ToAgent


class AgentBinder:
    """Binds the agents that routes, defaults, callers and plugins name."""

    def __init__(self, agents: AgentRepository) -> None:
        self._agents = agents

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

    def bind(self, event: EventEnvelope, agent_id: AgentId, reason: str, scope: str) -> RouteDecision:
        """Binds the agent with this id, if it accepts the event."""
        agent = self._agents.get(agent_id)
        if agent is None:
            return Misconfigured(f"{reason}, and agent '{agent_id}' does not exist")
        if not agent.enabled:
            return Misconfigured(f"{reason}, and agent '{agent.name}' is disabled")
        if not agent.accepts(event.event_type):
            accepted_types = ", ".join(agent.event_types)
            return Misconfigured(f"{reason}, and agent '{agent.name}' takes {accepted_types}, not {event.event_type}")
        return ToAgent(Binding(agent, event.bot_id, reason, scope))


def agent_for_runner(runner_id: RunnerId) -> Agent:
    """Builds an agent for a runner that is used without one: its state belongs to conversation and actor only."""
    scopes = StatePolicy(scopes=("conversation", "actor"))
    return Agent(
        NO_AGENT, runner_id, runner_id, resource_policy=ResourcePolicy(storage=("plugin",)), state_policy=scopes
    )
