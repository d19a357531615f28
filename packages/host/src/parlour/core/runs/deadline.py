"""Ends a run at its deadline. That is the time which its runner received, not one counted from the commit of the
run.
"""

import asyncio

from parlour.core.model.ports import Clock

from .session import RunSession, RunTermination

CLOCK_TOLERANCE_MILLISECONDS = 100
"""Milliseconds by which this clock may differ from the one by which a runner limits its calls."""
RUNNER_TIMEOUT_CODES = ("deadline_exceeded", "runner.timeout")
"""Error codes with which a runner reports that its time is over."""


def set_timer(session: RunSession, clock: Clock) -> asyncio.TimerHandle | None:
    """Starts a timer that stops the run at its deadline; returns None if it has none."""
    if not session.deadline_at:
        return None
    remaining_seconds = max(0, session.deadline_at - clock.now()) / 1000
    return asyncio.get_running_loop().call_later(remaining_seconds, session.stop, _timeout(session))


def apply_deadline(session: RunSession, termination: RunTermination, now: int) -> RunTermination:
    """Turns a runner's own report that its time is over into the Host's timeout, because the runner may notice
    first.
    """
    reported_by_runner = (
        termination.status == "failed" and termination.code in RUNNER_TIMEOUT_CODES and session.deadline_at
    )
    return (
        _timeout(session)
        if reported_by_runner and now >= session.deadline_at - CLOCK_TOLERANCE_MILLISECONDS
        else termination
    )


def _timeout(session: RunSession) -> RunTermination:
    seconds = session.binding.agent.timeout_seconds
    return RunTermination("timeout", "runner.timeout", f"the run took longer than {seconds:g} s")
