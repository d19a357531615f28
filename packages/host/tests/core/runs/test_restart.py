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
HAPPENED = list(product((False, True), repeat=2))


@pytest.mark.parametrize("policy", POLICIES)
@pytest.mark.parametrize("ending", [*CUT_OFF.values(), *FINAL.values()], ids=[*CUT_OFF, *FINAL])
@pytest.mark.parametrize(("shown", "effects"), HAPPENED, ids=["nothing", "effects", "shown", "both"])
@pytest.mark.parametrize("attempts", range(1, ATTEMPTS + 2))
def test_the_policy_decides(policy: RestartPolicy, ending: Ending, shown: bool, effects: bool, attempts: int) -> None:
    repeatable = ending in CUT_OFF.values() and (policy == "always" or (policy == "auto" and not shown and not effects))
    expected = "tell" if not repeatable else "retry" if attempts < ATTEMPTS else "quarantine"
    assert after(ending, make_agent(restart_policy=policy), attempts, shown, effects) == expected


@pytest.mark.parametrize("ending", CUT_OFF.values(), ids=CUT_OFF)
def test_an_agent_that_is_gone_is_not_tried_again(ending: Ending) -> None:
    assert after(ending, None, 1, shown=False, effects=False) == "tell"
