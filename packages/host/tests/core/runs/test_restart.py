"""What follows a run that did not end well: every policy, ending, and thing that may have happened."""

from itertools import product

import pytest

from parlour.core.model.agent import RestartPolicy
from parlour.core.runs.retry_policy import ATTEMPTS, after, exhausted, needs_trial_alone
from parlour.core.runs.session import Ending
from parlour.core.store.inbox import Tries

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
    for ending, shown, effects, failures in product(
        (*CUT_OFF.values(), *FINAL.values()), (False, True), (False, True), range(1, ATTEMPTS + 2)
    ):
        untouched = not shown and not effects
        repeatable = ending in CUT_OFF.values() and (policy == "always" or (policy == "auto" and untouched))
        expected = "tell" if not repeatable else "retry" if failures < ATTEMPTS else "quarantine"
        decided = after(ending, agent, Tries(failures), shown, effects)
        assert decided == expected, (ending, shown, effects, failures)


@pytest.mark.parametrize("ending", CUT_OFF.values(), ids=CUT_OFF)
def test_an_agent_that_is_gone_is_not_tried_again(ending: Ending) -> None:
    assert after(ending, None, Tries(1), shown=False, effects=False) == "tell"


@pytest.mark.parametrize(
    ("tries", "fault"),
    [
        (Tries(failures=1), ""),
        (Tries(failures=2), "agent"),
        (Tries(deaths=1, lone_deaths=1), ""),
        (Tries(deaths=2, lone_deaths=2), "host"),
        (Tries(failures=1, deaths=1, lone_deaths=1), "agent"),
        (Tries(deaths=2, lone_deaths=1), ""),
        (Tries(deaths=3), ""),
        (Tries(failures=1, deaths=3), ""),
        (Tries(deaths=4), "host"),
        (Tries(deaths=4, lone_deaths=1), "host"),
        (Tries(failures=1, deaths=4), "host"),
    ],
)
def test_only_what_can_be_the_events_own_doing_counts_until_it_was_tried_alone(tries: Tries, fault: str) -> None:
    assert exhausted(tries) == fault


@pytest.mark.parametrize(("deaths", "alone"), [(0, False), (2, False), (3, True), (4, True)])
def test_an_event_is_tried_alone_after_three_deaths_of_the_host(deaths: int, alone: bool) -> None:
    assert needs_trial_alone(Tries(deaths=deaths)) == alone
