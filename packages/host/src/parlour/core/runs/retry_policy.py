"""Decides what follows when a run did not end well: a new run, quarantine, or a notice to the sender.

A crash of the Host counts against an event only if nothing else was in flight at every such crash. Otherwise the event
is tried again; after three crashes it is tried alone at the next start, so that a fourth crash identifies its cause.
"""

from typing import Literal

from parlour.core.model.agent import Agent
from parlour.core.store.inbox import Tries

from .session import Ending

ATTEMPTS = 2
"""Failures caused by an event itself after which it is quarantined."""
DEATHS_BEFORE_ALONE = 3
"""Crashes of the Host with the event in flight, after which it is tried alone at the next start."""

Next = Literal["retry", "quarantine", "tell"]
Fault = Literal["", "agent", "host"]


def after(ending: Ending, agent: Agent | None, tries: Tries, shown: bool, effects: bool) -> Next:
    """Decides what follows a run that did not complete. `tries` include this end."""
    if agent is None or not _may_repeat(ending, agent, shown, effects):
        return "tell"
    return "quarantine" if exhausted(tries) else "retry"


def exhausted(tries: Tries) -> Fault:
    """Returns what failed each time if the event must not be tried again; empty otherwise."""
    own_deaths = tries.lone_deaths if tries.lone_deaths == tries.deaths else 0
    if tries.failures + own_deaths < ATTEMPTS and tries.deaths <= DEATHS_BEFORE_ALONE:
        return ""
    return "agent" if tries.failures and tries.deaths <= DEATHS_BEFORE_ALONE else "host"


def needs_trial_alone(tries: Tries) -> bool:
    return tries.deaths >= DEATHS_BEFORE_ALONE


def _may_repeat(ending: Ending, agent: Agent, shown: bool, effects: bool) -> bool:
    cut_off = ending.code in ("interrupted", "runner.crashed") or ending.retryable
    if not cut_off or agent.restart_policy == "never":
        return False
    return agent.restart_policy == "always" or not (shown or effects)
