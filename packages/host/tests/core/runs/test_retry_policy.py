"""The decision after a run that did not complete, for every policy, ending and progress."""

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
def test_policy_decides_between_retry_notice_and_quarantine(policy: RestartPolicy) -> None:
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
def test_missing_agent_is_not_retried(ending: RunTermination) -> None:
    assert decide(ending, None, AttemptCounts(1), has_output=False, has_effects=False) == "tell"


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
def test_shared_crashes_count_only_after_an_isolated_trial(tries: AttemptCounts, fault: str) -> None:
    assert quarantine_cause(tries) == fault


@pytest.mark.parametrize(("crashes", "isolated"), [(0, False), (2, False), (3, True), (4, True)])
def test_event_is_tried_alone_after_three_crashes(crashes: int, isolated: bool) -> None:
    assert needs_isolated_trial(AttemptCounts(crashes=crashes)) == isolated
