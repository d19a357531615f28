"""What follows when a run did not end well: a new run, or an honest word. Pure."""

from typing import Literal

from parlour.core.agents.agent import Agent

from .session import Ending

ATTEMPTS = 2
"""An event that failed its run this often is quarantined."""

Next = Literal["retry", "quarantine", "tell"]


def after(ending: Ending, agent: Agent | None, attempts: int, shown: bool, effects: bool) -> Next:
    if agent is None or not _may_repeat(ending, agent, shown, effects):
        return "tell"
    return "retry" if attempts < ATTEMPTS else "quarantine"


def _may_repeat(ending: Ending, agent: Agent, shown: bool, effects: bool) -> bool:
    cut_off = ending.code in ("interrupted", "runner.crashed") or ending.retryable
    if not cut_off or agent.restart_policy == "never":
        return False
    return agent.restart_policy == "always" or not (shown or effects)
