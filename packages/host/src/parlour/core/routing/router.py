"""Routes events to handlers. It does not depend on platforms, plugins or SQL."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import ClassVar, Protocol

from parlour.core.config.routes import Route, RouteRepository, sort_for_matching
from parlour.core.model.event import EventEnvelope
from parlour.core.model.ports import Clock
from parlour.core.model.preview import as_judged, pipeline_of
from parlour.core.model.reasons import Reason, make_reason
from parlour.core.model.regex_budget import RegexMatcher
from parlour.core.store import feedback
from parlour_sdk.values import dataclass

from . import filters
from .agent_binder import AgentBinder
from .decisions import Drop, Misconfigured, RouteDecision, ToAgent, ToHandler, ToListeners
from .default_resolver import DefaultCandidate, DefaultResolver, sent_by_bot

MAX_REPORTED_ROUTES = 10
"""Number of routes that are listed with the reason why they did not match an event."""


class RouteHandler(Protocol):
    """Resolves the routes of one handler type. `core.handlers` implements it."""

    answers_by_agent: ClassVar[bool]
    """Whether the answer comes from an agent. A default agent of the chat or sender may go before such a route."""

    def resolve(self, event: EventEnvelope, route: Route, skipped_routes: str) -> RouteDecision:
        """Returns the decision of a route that matched the event. `skipped_routes` describes the routes before it."""
        ...


@dataclass(frozen=True, slots=True)
class RouteAttempt:
    """Result of matching one route; `reason` says why it did not match, None for the route that did."""

    route: Route
    reason: Reason | None


class Router:
    """Decides which handler receives an event."""

    def __init__(
        self,
        routes: RouteRepository,
        handlers: Mapping[str, RouteHandler],
        binder: AgentBinder,
        defaults: DefaultResolver,
        clock: Clock,
    ) -> None:
        self._routes = routes
        self._handlers = handlers
        self._binder = binder
        self._defaults = defaults
        self._clock = clock
        self._regexes = binder.regexes

    def decide(self, event: EventEnvelope, attempts: Sequence[RouteAttempt] | None = None) -> RouteDecision:
        """Decides by the bot's routes, or by the given results of other routes."""
        if event.is_preview and event.run_request is None:
            return self._decide_preview(event)
        decision = self._decide(event, attempts)
        if isinstance(decision, Misconfigured) and event.event_type == feedback.EVENT_TYPE:
            return Drop(f"it is kept as feedback; {decision.reason}")  # feedback needs no answer
        return decision

    def evaluate(self, event: EventEnvelope, routes: Sequence[Route] | None = None) -> list[RouteAttempt]:
        """Matches the bot's routes, or the given ones instead, in order, up to the first that matches the event."""
        now, attempts = self._clock.now(), []
        regexes = (
            self._regexes if routes is None else RegexMatcher()
        )  # a sample event may be tested again with other routes
        for position, route in enumerate(
            self._routes.in_match_order(event.bot_id) if routes is None else sort_for_matching(routes)
        ):
            reason = _mismatch(route, position, event, now, regexes)
            if reason is None and route.handler_type not in self._handlers:  # a newer version stored it
                reason = make_reason("unknown_handler", handler_type=route.handler_type)
            attempts.append(RouteAttempt(route, reason))
            if not attempts[-1].reason:
                break
        return attempts

    def default_candidate(self, event: EventEnvelope, attempts: Sequence[RouteAttempt]) -> DefaultCandidate | None:
        """Returns the default agent that is considered after these routes were matched; None if there is none."""
        route = matched_route(attempts)
        if route is None:
            return self._defaults.for_unrouted_event(event)
        return self._defaults.for_routed_event(event) if self._handlers[route.handler_type].answers_by_agent else None

    def _decide_preview(self, event: EventEnvelope) -> RouteDecision:
        """Decides for the message that a preview pretends to be. Only agents answer: everything else is left out."""
        judged, pipeline_id = as_judged(event), pipeline_of(event)
        if pipeline_id is None:
            decision = self._decide(judged, None)
        else:
            route = Route(event.event_type, "pipeline", {"pipeline_id": pipeline_id}, description="preview")
            decision = self._handlers[route.handler_type].resolve(judged, route, "")
        if isinstance(decision, ToAgent):
            return ToAgent(replace(decision.binding, bot_id=event.bot_id))
        if isinstance(decision, ToHandler | ToListeners):
            return Drop(f"{decision.reason}; a preview calls no handler of the type '{decision.handler_type}'")
        return decision

    def _decide(self, event: EventEnvelope, attempts: Sequence[RouteAttempt] | None) -> RouteDecision:
        if event.run_request is not None:
            return self._binder.bind_run_request(event, event.run_request)
        if event.agent_id:
            return self._binder.bind(event, event.agent_id, "the caller named the agent", "")
        attempts = self.evaluate(event) if attempts is None else attempts
        route, skipped_text = matched_route(attempts), _skipped_text(attempts, event)
        candidate = self.default_candidate(event, attempts)
        if candidate is not None and not candidate.reason:
            precedence = f"which goes before {route.label}" if route is not None else f"since {_no_route_text(event)}"
            return self._bind_default(event, candidate, f"{precedence}{skipped_text}")
        if route is None:
            decline_text = f"; {candidate.label} leaves it: {candidate.reason}" if candidate is not None else ""
            return ToListeners((), f"{_no_route_text(event)}{skipped_text}{decline_text}")
        return self._handlers[route.handler_type].resolve(event, route, skipped_text)

    def _bind_default(self, event: EventEnvelope, candidate: DefaultCandidate, precedence: str) -> RouteDecision:
        if len(candidate.defaults) > 1:
            agent_names = self._defaults.conflict_text(candidate.defaults)
            return Misconfigured(f"{agent_names} both claim to be {candidate.label}; remove all but one of them")
        reason = f"{candidate.label}, {precedence}"
        return self._binder.bind(event, candidate.defaults[0].agent_id, reason, candidate.place.scope)


def matched_route(attempts: Sequence[RouteAttempt]) -> Route | None:
    """Returns the route that matched, which is always the last one; None if no route did."""
    return attempts[-1].route if attempts and not attempts[-1].reason else None


def _mismatch(route: Route, position: int, event: EventEnvelope, now: int, regexes: RegexMatcher) -> Reason | None:
    if not route.enabled:
        return make_reason("disabled")
    if not route.matches(event.event_type):
        return make_reason("other_type", event_type=event.event_type)
    if sent_by_bot(event) and event.actor.id not in route.filters.get("users", ()):
        return make_reason("unnamed_bot")
    return filters.first_mismatch(route.filters, event, now, regexes, position)


def _skipped_text(attempts: Sequence[RouteAttempt], event: EventEnvelope) -> str:
    """Lists the routes for this event type that did not match, with reasons. The text is stored with every event."""
    mismatches = [each for each in attempts if each.reason and _applies_to(each.route, event)]
    descriptions = [f"{each.route.label}: {each.reason}" for each in mismatches[:MAX_REPORTED_ROUTES]]
    remainder = (
        [f"{len(mismatches) - MAX_REPORTED_ROUTES} more that did not take it; a dry run tells why"]
        if len(mismatches) > MAX_REPORTED_ROUTES
        else []
    )
    return f", after {'; '.join([*descriptions, *remainder])}" if descriptions else ""


def _applies_to(route: Route, event: EventEnvelope) -> bool:
    return route.enabled and route.matches(event.event_type)


def _no_route_text(event: EventEnvelope) -> str:
    return f"no route takes {event.event_type}" + (" by a bot" if sent_by_bot(event) else "")
