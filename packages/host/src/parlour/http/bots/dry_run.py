"""Describes each step of a dry run: the English text, and the code and values for translating it."""

from collections.abc import Mapping
from typing import Any, Literal

from parlour.core.model import reasons
from parlour.core.model.reasons import Reason
from parlour.core.routing.decisions import Drop, Misconfigured, RouteDecision
from parlour.core.routing.default_resolver import DefaultCandidate
from parlour.core.routing.router import RouteAttempt

from .handler_types import HANDLER_FORMS, HandlerForm
from .responses import DryRunStep

ENGLISH = {
    **reasons.ENGLISH,
    "takes": "it takes the event",
    "takes_filtered": "it takes the event; it passes {filters}",
    "outcome_misconfigured": "it can't be answered: {reason}",
    **HandlerForm.outcomes,
    **{code: text for form in HANDLER_FORMS.values() for code, text in form.outcomes.items()},
}


def route_step(attempt: RouteAttempt) -> DryRunStep:
    route = attempt.route
    filtered = ("takes_filtered", {"filters": ", ".join(route.filters)}) if route.filters else ("takes", {})
    return _step("route", route.description or route.event_type, route.label, *_refusal(attempt.reason, filtered))


def default_agent_step(considered: DefaultCandidate) -> DryRunStep:
    return _step("default", considered.place.scope, considered.label, *_refusal(considered.reason, ("takes", {})))


def outcome_step(decision: RouteDecision, has_listeners: bool) -> DryRunStep:
    """Describes the outcome. `has_listeners` says whether any plugin listener would receive an event for listeners."""
    if isinstance(decision, Misconfigured):
        return _step("outcome", "", "", "outcome_misconfigured", {"reason": decision.reason})
    if isinstance(decision, Drop) and decision.silence is not None:
        return _step("outcome", "", "", decision.silence.code, decision.silence.values)
    return _step("outcome", "", "", *HANDLER_FORMS[decision.handler_type].outcome(decision, has_listeners))


def _refusal(reason: Reason | None, otherwise: tuple[str, dict[str, Any]]) -> tuple[str, dict[str, Any]]:
    return (reason.code, reason.values) if reason is not None else otherwise


def _step(
    kind: Literal["route", "default", "outcome"], name: str, label: str, code: str, values: Mapping[str, Any]
) -> DryRunStep:
    text = ENGLISH[code].format_map(values)
    return DryRunStep(kind=kind, name=name, code=code, values=dict(values), text=f"{label}: {text}" if label else text)
