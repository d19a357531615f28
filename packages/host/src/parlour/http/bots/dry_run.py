"""Describes each step of a dry run: the English text, and the code and values for translating it."""

from collections.abc import Mapping
from typing import Any, Literal

from parlour.core.model import reasons
from parlour.core.model.reasons import Reason
from parlour.core.routing.default_resolver import DefaultCandidate
from parlour.core.routing.router import (
    Drop,
    Misconfigured,
    RouteAttempt,
    RouteDecision,
    ToAgent,
    ToListeners,
    ToWebhook,
)

from .responses import DryRunStep

ENGLISH = {
    **reasons.ENGLISH,
    "takes": "it takes the event",
    "takes_filtered": "it takes the event; it passes {filters}",
    "outcome_answers": "agent '{agent}' answers",
    "outcome_hooked": "it is sent to {url}",
    "outcome_plugins": "it goes to the listeners of {plugins}",
    "outcome_all_plugins": "it goes to the listeners of all plugins",
    "outcome_unheard": "no plugin listens to it, so nobody answers",
    "outcome_dropped": "nobody answers, on purpose",
    "outcome_misconfigured": "it can't be answered: {reason}",
}


def route_step(tried: RouteAttempt) -> DryRunStep:
    route = tried.route
    filtered = ("takes_filtered", {"filters": ", ".join(route.filters)}) if route.filters else ("takes", {})
    return _step("route", route.description or route.event_type, route.label, *_refusal(tried.reason, filtered))


def default_agent_step(considered: DefaultCandidate) -> DryRunStep:
    return _step("default", considered.place.scope, considered.label, *_refusal(considered.reason, ("takes", {})))


def outcome_step(decision: RouteDecision, heard: bool) -> DryRunStep:
    """Describes the outcome. `heard` says whether any plugin listener would receive an event for listeners."""
    match decision:
        case ToAgent(binding):
            return _step("outcome", "", "", "outcome_answers", {"agent": binding.agent.name})
        case ToWebhook(route):
            return _step("outcome", "", "", "outcome_hooked", {"url": route.handler_config["url"]})
        case ToListeners() if not heard:
            return _step("outcome", "", "", "outcome_unheard", {})
        case ToListeners(plugins) if plugins:
            return _step("outcome", "", "", "outcome_plugins", {"plugins": ", ".join(plugins)})
        case ToListeners():
            return _step("outcome", "", "", "outcome_all_plugins", {})
        case Drop():
            return _step("outcome", "", "", "outcome_dropped", {})
        case Misconfigured(reason):
            return _step("outcome", "", "", "outcome_misconfigured", {"reason": reason})


def _refusal(reason: Reason | None, otherwise: tuple[str, dict[str, Any]]) -> tuple[str, dict[str, Any]]:
    return (reason.code, reason.values) if reason is not None else otherwise


def _step(
    kind: Literal["route", "default", "outcome"], name: str, label: str, code: str, values: Mapping[str, Any]
) -> DryRunStep:
    said = ENGLISH[code].format_map(values)
    return DryRunStep(kind=kind, name=name, code=code, values=dict(values), text=f"{label}: {said}" if label else said)
