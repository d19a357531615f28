"""Decides what follows when a run did not end well: a new run, quarantine, or a notice to the sender.

A crash of the Host counts against an event only if nothing else was in flight at every such crash. Otherwise the event
is tried again; after three crashes it is tried alone at the next start, so that a fourth crash identifies its cause.
"""

from typing import Literal

from parlour.core.model.agent import Agent
from parlour.core.store.inbox import AttemptCounts

from .session import RunTermination

MAX_FAILURES = 2
"""Failures caused by an event itself after which it is quarantined."""
CRASHES_BEFORE_TRIAL = 3
"""Crashes of the Host with the event in flight, after which it is tried alone at the next start."""

RetryDecision = Literal["retry", "quarantine", "tell"]
Fault = Literal["", "agent", "host"]


def decide(
    termination: RunTermination, agent: Agent | None, tries: AttemptCounts, has_output: bool, has_effects: bool
) -> RetryDecision:
    """Decides what follows a run that did not complete. `tries` include this end."""
    if agent is None or not _may_repeat(termination, agent, has_output, has_effects):
        return "tell"
    return "quarantine" if quarantine_cause(tries) else "retry"


def quarantine_cause(tries: AttemptCounts) -> Fault:
    """Returns what failed each time if the event must not be tried again; empty otherwise."""
    own_crashes = tries.lone_crashes if tries.lone_crashes == tries.crashes else 0
    if tries.failures + own_crashes < MAX_FAILURES and tries.crashes <= CRASHES_BEFORE_TRIAL:
        return ""
    return "agent" if tries.failures and tries.crashes <= CRASHES_BEFORE_TRIAL else "host"


def needs_isolated_trial(tries: AttemptCounts) -> bool:
    return tries.crashes >= CRASHES_BEFORE_TRIAL


def _may_repeat(termination: RunTermination, agent: Agent, has_output: bool, has_effects: bool) -> bool:
    is_repeatable = termination.code in ("interrupted", "runner.crashed") or termination.retryable
    if not is_repeatable or agent.restart_policy == "never":
        return False
    return agent.restart_policy == "always" or not (has_output or has_effects)
