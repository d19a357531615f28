"""What follows a run that did not end well: every policy, ending, and thing that may have happened."""

from itertools import product

import pytest

from parlour.core.model.agent import RestartPolicy
from parlour.core.runs.retry_policy import MAX_FAILURES, decide, needs_isolated_trial, quarantine_cause
from parlour.core.runs.session import RunTermination
from parlour.core.store.inbox import AttemptCounts

from ..support import make_agent

CUT_OFF = {
    "interrupted by a restart": RunTermination("failed", "interrupted"),
    "plugin crashed": RunTermination("failed", "runner.crashed"),
    "runner says retryable": RunTermination("failed", "puppet.busy", retryable=True),
}
FINAL = {
    "runner failed": RunTermination("failed", "puppet.sad"),
    "runner's code failed": RunTermination("failed", "runner.error"),
    "no output": RunTermination("failed", "runner.no_output"),
    "not available": RunTermination("failed", "runner.unavailable"),
    "timeout": RunTermination("timeout", "runner.timeout"),
}
POLICIES: tuple[RestartPolicy, ...] = ("auto", "never", "always")


@pytest.mark.parametrize("policy", POLICIES)
def test_the_policy_decides(policy: RestartPolicy) -> None:
    agent = make_agent(restart_policy=policy)
    for ending, shown, effects, failures in product(
        (*CUT_OFF.values(), *FINAL.values()), (False, True), (False, True), range(1, MAX_FAILURES + 2)
    ):
        untouched = not shown and not effects
        repeatable = ending in CUT_OFF.values() and (policy == "always" or (policy == "auto" and untouched))
        expected = "tell" if not repeatable else "retry" if failures < MAX_FAILURES else "quarantine"
        decided = decide(ending, agent, AttemptCounts(failures), shown, effects)
        assert decided == expected, (ending, shown, effects, failures)


@pytest.mark.parametrize("ending", CUT_OFF.values(), ids=CUT_OFF)
def test_an_agent_that_is_gone_is_not_tried_again(ending: RunTermination) -> None:
    assert decide(ending, None, AttemptCounts(1), shown=False, effects=False) == "tell"


@pytest.mark.parametrize(
    ("tries", "fault"),
    [
        (AttemptCounts(failures=1), ""),
        (AttemptCounts(failures=2), "agent"),
        (AttemptCounts(crashes=1, lone_crashes=1), ""),
        (AttemptCounts(crashes=2, lone_crashes=2), "host"),
        (AttemptCounts(failures=1, crashes=1, lone_crashes=1), "agent"),
        (AttemptCounts(crashes=2, lone_crashes=1), ""),
        (AttemptCounts(crashes=3), ""),
        (AttemptCounts(failures=1, crashes=3), ""),
        (AttemptCounts(crashes=4), "host"),
        (AttemptCounts(crashes=4, lone_crashes=1), "host"),
        (AttemptCounts(failures=1, crashes=4), "host"),
    ],
)
def test_only_what_can_be_the_events_own_doing_counts_until_it_was_tried_alone(
    tries: AttemptCounts, fault: str
) -> None:
    assert quarantine_cause(tries) == fault


@pytest.mark.parametrize(("deaths", "alone"), [(0, False), (2, False), (3, True), (4, True)])
def test_an_event_is_tried_alone_after_three_deaths_of_the_host(deaths: int, alone: bool) -> None:
    assert needs_isolated_trial(AttemptCounts(crashes=deaths)) == alone
