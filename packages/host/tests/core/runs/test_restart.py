"""What follows a run that did not end well: every policy, ending, and thing that may have happened."""

from itertools import product

import pytest

from parlour.core.agents.agent import RestartPolicy
from parlour.core.runs.restart import ATTEMPTS, after
from parlour.core.runs.session import Ending

from ..support import make_agent

CUT_OFF = {
    "interrupted by a restart": Ending("failed", "interrupted"),
    "plugin crashed": Ending("failed", "runner.crashed"),
    "runner says retryable": Ending("failed", "puppet.busy", retryable=True),
}
FINAL = {
    "runner failed": Ending("failed", "puppet.sad"),
    "runner's code failed": Ending("failed", "runner.error"),
    "no output": Ending("failed", "runner.no_output"),
    "not available": Ending("failed", "runner.unavailable"),
    "timeout": Ending("timeout", "runner.timeout"),
}
POLICIES: tuple[RestartPolicy, ...] = ("auto", "never", "always")


@pytest.mark.parametrize("policy", POLICIES)
def test_the_policy_decides(policy: RestartPolicy) -> None:
    agent = make_agent(restart_policy=policy)
    for ending, shown, effects, attempts in product(
        (*CUT_OFF.values(), *FINAL.values()), (False, True), (False, True), range(1, ATTEMPTS + 2)
    ):
        untouched = not shown and not effects
        repeatable = ending in CUT_OFF.values() and (policy == "always" or (policy == "auto" and untouched))
        expected = "tell" if not repeatable else "retry" if attempts < ATTEMPTS else "quarantine"
        decided = after(ending, agent, attempts, shown, effects)
        assert decided == expected, (ending, shown, effects, attempts)


@pytest.mark.parametrize("ending", CUT_OFF.values(), ids=CUT_OFF)
def test_an_agent_that_is_gone_is_not_tried_again(ending: Ending) -> None:
    assert after(ending, None, 1, shown=False, effects=False) == "tell"
