"""When a run's time is over, and how it ends then. It is counted from what its runner was told, not from when that was
written down."""

import asyncio

from parlour.core.model.ports import Clock

from .session import Ending, RunSession

CLOCKS_APART = 100
"""Milliseconds between this clock and the one by which a runner bounds its calls."""
SAID = ("deadline_exceeded", "runner.timeout")


def set_timer(session: RunSession, clock: Clock) -> asyncio.TimerHandle | None:
    if not session.deadline_at:
        return None
    left = max(0, session.deadline_at - clock.now()) / 1000
    return asyncio.get_running_loop().call_later(left, session.stop, _time_over(session))


def judged(session: RunSession, ending: Ending, now: int) -> Ending:
    """A runner may notice first that its time is over: then it is the Host's time-out all the same."""
    noticed = ending.status == "failed" and ending.code in SAID and session.deadline_at
    return _time_over(session) if noticed and now >= session.deadline_at - CLOCKS_APART else ending


def _time_over(session: RunSession) -> Ending:
    seconds = session.binding.agent.timeout_seconds
    return Ending("timeout", "runner.timeout", f"the run took longer than {seconds:g} s")
