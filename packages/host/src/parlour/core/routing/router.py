"""Routes events to handlers. It does not depend on platforms, plugins or SQL."""

from collections.abc import Sequence
from dataclasses import replace

from parlour.core.config.agents import AgentBook
from parlour.core.config.routes import Route, RouteBook, in_order
from parlour.core.model.agent import Agent, Binding, StatePolicy
from parlour.core.model.event import EventEnvelope
from parlour.core.model.ports import Clock
from parlour.core.model.reasons import Reason, reason
from parlour.core.model.regex_budget import Regexes
from parlour.core.model.resource_policy import ResourcePolicy
from parlour.core.model.run_request import Commission
from parlour.core.store import feedback
from parlour_sdk.values import dataclass

from . import filters
from .default_resolver import Considered, DefaultResolver, by_bot

TOLD = 10
"""Number of routes that are listed with the reason why they did not match an event."""


@dataclass(frozen=True, slots=True)
class Bound:
    """Decision that an agent answers the event."""

    binding: Binding


@dataclass(frozen=True, slots=True)
class Hooked:
    """Decision that the event is sent to the webhook of a route."""

    route: Route
    reason: str


@dataclass(frozen=True, slots=True)
class Listened:
    """Decision that the event goes to the listeners of the named plugins, or of all plugins if none are named.

    `reason` says why, or why it goes to no other handler.
    """

    plugins: tuple[str, ...]
    reason: str
    routed: bool = False
    """True if a route decided this."""

    @property
    def unheard(self) -> str:
        """Explanation for an event that has no listeners."""
        if not self.routed:
            return self.reason
        who = f"of {', '.join(self.plugins)} none" if self.plugins else "no plugin"
        return f"{self.reason}, and {who} listens to it"


@dataclass(frozen=True, slots=True)
class Dropped:
    """Decision of a route that the event is not handled."""

    reason: str


@dataclass(frozen=True, slots=True)
class Misconfigured:
    """Decision that a configuration error prevents an answer. It is reported, never dropped silently."""

    reason: str


Decision = Bound | Hooked | Listened | Dropped | Misconfigured


@dataclass(frozen=True, slots=True)
class Tried:
    """Result of matching one route; `reason` says why it did not match, None for the route that did."""

    route: Route
    reason: Reason | None


class Router:
    """Decides which handler receives an event."""

    def __init__(self, routes: RouteBook, agents: AgentBook, defaults: DefaultResolver, clock: Clock) -> None:
        self._routes = routes
        self._agents = agents
        self._defaults = defaults
        self._clock = clock
        self._regexes = Regexes()

    def decide(self, event: EventEnvelope, tried: Sequence[Tried] | None = None) -> Decision:
        """Decides by the bot's routes, or by the given results of other routes."""
        decision = self._decide(event, tried)
        if isinstance(decision, Misconfigured) and event.event_type == feedback.EVENT_TYPE:
            return Dropped(f"it is kept as feedback; {decision.reason}")  # feedback needs no answer
        return decision

    def tried(self, event: EventEnvelope, routes: Sequence[Route] | None = None) -> list[Tried]:
        """Matches the bot's routes, or the given ones instead, in order, up to the first that matches the event."""
        now, seen = self._clock.now(), []
        regexes = self._regexes if routes is None else Regexes()  # a sample event may be tested again with other routes
        for place, route in enumerate(self._routes.of(event.bot_id) if routes is None else in_order(routes)):
            seen.append(Tried(route, _refusal(route, place, event, now, regexes)))
            if not seen[-1].reason:
                break
        return seen

    def considered(self, event: EventEnvelope, tried: Sequence[Tried]) -> Considered | None:
        """Returns the default agent that is considered after these routes were matched; None if there is none."""
        route = taken(tried)
        if route is None:
            return self._defaults.unrouted(event)
        return self._defaults.routed(event) if route.handler_type == "agent" else None

    def _decide(self, event: EventEnvelope, tried: Sequence[Tried] | None) -> Decision:
        if event.commission is not None:
            return self._commissioned(event, event.commission)
        if event.agent_id:
            return self._bind(event, event.agent_id, "the caller named the agent", "")
        tried = self.tried(event) if tried is None else tried
        route, passed = taken(tried), _passed_over(tried, event)
        considered = self.considered(event, tried)
        if considered is not None and not considered.reason:
            beside = f"which goes before {route.label}" if route is not None else f"since {_untaken(event)}"
            return self._by_default(event, considered, f"{beside}{passed}")
        if route is None:
            declined = f"; {considered.label} leaves it: {considered.reason}" if considered is not None else ""
            return Listened((), f"{_untaken(event)}{passed}{declined}")
        return self._handled(event, route, passed)

    def _by_default(self, event: EventEnvelope, considered: Considered, beside: str) -> Decision:
        if len(considered.claims) > 1:
            rivals = self._defaults.rivals(considered.claims)
            return Misconfigured(f"{rivals} both claim to be {considered.label}; remove all but one of them")
        reason = f"{considered.label}, {beside}"
        return self._bind(event, considered.claims[0].agent_id, reason, considered.place.scope)

    def _handled(self, event: EventEnvelope, route: Route, passed: str) -> Decision:
        reason = f"{route.label}{passed}"
        match route.handler_type:
            case "agent":
                return self._bind(event, str(route.handler_config.get("agent_id", "")), reason, "bot")
            case "webhook":
                return Hooked(route, reason)
            case "plugin":
                return Listened(tuple(route.handler_config.get("plugins", ())), reason, routed=True)
            case "drop":
                return Dropped(f"{route.label} drops it{passed}")

    def _commissioned(self, event: EventEnvelope, commission: Commission) -> Decision:
        """Binds the agent or runner that the plugin named for its run; accepted event types are not checked."""
        reason = f"plugin {commission.plugin_id} created the run"
        agent = self._agents.get(event.agent_id) if event.agent_id else bare(commission.runner_id)
        if agent is None:
            return Misconfigured(f"{reason}, and agent '{event.agent_id}' does not exist")
        if not agent.enabled:
            return Misconfigured(f"{reason}, and agent '{agent.name}' is disabled")
        if commission.config is not None:
            agent = replace(agent, runner_config=dict(commission.config))
        return Bound(Binding(agent, event.bot_id, reason))

    def _bind(self, event: EventEnvelope, agent_id: str, reason: str, scope: str) -> Decision:
        agent = self._agents.get(agent_id)
        if agent is None:
            return Misconfigured(f"{reason}, and agent '{agent_id}' does not exist")
        if not agent.enabled:
            return Misconfigured(f"{reason}, and agent '{agent.name}' is disabled")
        if not agent.takes(event.event_type):
            accepted = ", ".join(agent.event_types)
            return Misconfigured(f"{reason}, and agent '{agent.name}' takes {accepted}, not {event.event_type}")
        return Bound(Binding(agent, event.bot_id, reason, scope))


def taken(tried: Sequence[Tried]) -> Route | None:
    """Returns the route that matched, which is always the last one; None if no route did."""
    return tried[-1].route if tried and not tried[-1].reason else None


def _refusal(route: Route, place: int, event: EventEnvelope, now: int, regexes: Regexes) -> Reason | None:
    if not route.enabled:
        return reason("disabled")
    if not route.matches(event.event_type):
        return reason("other_type", event_type=event.event_type)
    if by_bot(event) and event.actor.id not in route.filters.get("users", ()):
        return reason("unnamed_bot")
    return filters.unmet(route.filters, event, now, regexes, place)


def _passed_over(tried: Sequence[Tried], event: EventEnvelope) -> str:
    """Lists the routes for this event type that did not match, with reasons. The text is stored with every event."""
    passed = [each for each in tried if each.reason and _concerned(each.route, event)]
    told = [f"{each.route.label}: {each.reason}" for each in passed[:TOLD]]
    more = [f"{len(passed) - TOLD} more that did not take it; a dry run tells why"] if len(passed) > TOLD else []
    return f", after {'; '.join([*told, *more])}" if told else ""


def _concerned(route: Route, event: EventEnvelope) -> bool:
    return route.enabled and route.matches(event.event_type)


def _untaken(event: EventEnvelope) -> str:
    return f"no route takes {event.event_type}" + (" by a bot" if by_bot(event) else "")


def bare(runner_id: str) -> Agent:
    """Builds an agent for a runner that is used without one: its state belongs to conversation and actor only."""
    scopes = StatePolicy(scopes=("conversation", "actor"))
    return Agent("", runner_id, runner_id, resource_policy=ResourcePolicy(storage=("plugin",)), state_policy=scopes)
