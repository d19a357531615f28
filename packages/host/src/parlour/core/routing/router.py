"""Routes events to handlers. Knows nothing of platforms, plugins or SQL."""

from dataclasses import dataclass, replace

from parlour.core.agents.agent import Agent, Binding, StatePolicy
from parlour.core.agents.book import AgentBook
from parlour.core.agents.policy import ResourcePolicy
from parlour.core.events.commission import Commission
from parlour.core.events.envelope import EventEnvelope
from parlour.core.facts import feedback

from .routes import RouteBook


@dataclass(frozen=True, slots=True)
class Bound:
    """An agent serves the event."""

    binding: Binding


@dataclass(frozen=True, slots=True)
class Dropped:
    """Nobody is to answer: a route says so, or none matches."""

    reason: str


@dataclass(frozen=True, slots=True)
class Misconfigured:
    """Somebody should answer and can't. Visible, never a silent drop."""

    reason: str


Decision = Bound | Dropped | Misconfigured


class Router:
    def __init__(self, routes: RouteBook, agents: AgentBook) -> None:
        self._routes = routes
        self._agents = agents

    def decide(self, event: EventEnvelope) -> Decision:
        decision = self._decide(event)
        if isinstance(decision, Misconfigured) and event.event_type == feedback.EVENT_TYPE:
            return Dropped(f"it is kept as feedback; {decision.reason}")  # nobody waits for an answer to it
        return decision

    def _decide(self, event: EventEnvelope) -> Decision:
        if event.commission is not None:
            return self._commissioned(event, event.commission)
        if event.agent_id:
            return self._bind(event, event.agent_id, "the caller named the agent")
        for route in self._routes.of(event.bot_id):
            if not (route.enabled and route.matches(event.event_type)):
                continue
            if route.handler_type == "drop":
                return Dropped(f"route '{route.event_type}' drops it")
            return self._bind(event, str(route.handler_config.get("agent_id", "")), f"route '{route.event_type}'")
        return Dropped(f"no route takes {event.event_type}")

    def _commissioned(self, event: EventEnvelope, commission: Commission) -> Decision:
        """Whoever creates a run names who takes it; which types of events an agent takes is not asked."""
        reason = f"plugin {commission.plugin_id} created the run"
        agent = self._agents.get(event.agent_id) if event.agent_id else bare(commission.runner_id)
        if agent is None:
            return Misconfigured(f"{reason}, and agent '{event.agent_id}' does not exist")
        if not agent.enabled:
            return Misconfigured(f"{reason}, and agent '{agent.name}' is disabled")
        if commission.config is not None:
            agent = replace(agent, runner_config=dict(commission.config))
        return Bound(Binding(agent, event.bot_id, reason))

    def _bind(self, event: EventEnvelope, agent_id: str, reason: str) -> Decision:
        agent = self._agents.get(agent_id)
        if agent is None:
            return Misconfigured(f"{reason}, and agent '{agent_id}' does not exist")
        if not agent.enabled:
            return Misconfigured(f"{reason}, and agent '{agent.name}' is disabled")
        if event.event_type not in agent.event_types and "*" not in agent.event_types:
            accepted = ", ".join(agent.event_types)
            return Misconfigured(f"agent '{agent.name}' takes {accepted}, not {event.event_type}")
        return Bound(Binding(agent, event.bot_id, reason))


def bare(runner_id: str) -> Agent:
    """A runner that serves without an agent: what it keeps is its conversation's, not that of a configuration."""
    scopes = StatePolicy(scopes=("conversation", "actor"))
    return Agent("", runner_id, runner_id, resource_policy=ResourcePolicy(storage=("plugin",)), state_policy=scopes)
