"""Decides what follows when a run did not end well: a new run, quarantine, or a notice to the sender.

A death of the Host is held against an event only if nothing else was in flight at every such death. Otherwise the event
is tried again; after three deaths it is tried alone at the next start, so that a fourth one tells who caused it.
"""

from typing import Literal

from parlour.core.model.agent import Agent
from parlour.core.store.inbox import Tries

from .session import Ending

ATTEMPTS = 2
"""An event whose own doing ended its run this often is quarantined."""
DEATHS_BEFORE_ALONE = 3
"""An event that was in flight at so many deaths of the Host is tried alone at the next start."""

Next = Literal["retry", "quarantine", "tell"]
Fault = Literal["", "agent", "host"]


def after(ending: Ending, agent: Agent | None, tries: Tries, shown: bool, effects: bool) -> Next:
    """`tries` count this ending too."""
    if agent is None or not _may_repeat(ending, agent, shown, effects):
        return "tell"
    return "quarantine" if exhausted(tries) else "retry"


def exhausted(tries: Tries) -> Fault:
    """Names what stopped each time, if the event must not be tried again."""
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
