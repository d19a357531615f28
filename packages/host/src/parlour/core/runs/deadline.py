"""Ends a run at its deadline. That is the time which its runner received, not one counted from the commit of the
run.
"""

import asyncio

from parlour.core.model.ports import Clock

from .session import Ending, RunSession

CLOCKS_APART = 100
"""Milliseconds by which this clock may differ from the one by which a runner limits its calls."""
SAID = ("deadline_exceeded", "runner.timeout")
"""Error codes with which a runner reports that its time is over."""


def set_timer(session: RunSession, clock: Clock) -> asyncio.TimerHandle | None:
    """Starts a timer that stops the run at its deadline; returns None if it has none."""
    if not session.deadline_at:
        return None
    left = max(0, session.deadline_at - clock.now()) / 1000
    return asyncio.get_running_loop().call_later(left, session.stop, _time_over(session))


def judged(session: RunSession, ending: Ending, now: int) -> Ending:
    """Turns a runner's own report that its time is over into the Host's timeout, because the runner may notice
    first.
    """
    noticed = ending.status == "failed" and ending.code in SAID and session.deadline_at
    return _time_over(session) if noticed and now >= session.deadline_at - CLOCKS_APART else ending


def _time_over(session: RunSession) -> Ending:
    seconds = session.binding.agent.timeout_seconds
    return Ending("timeout", "runner.timeout", f"the run took longer than {seconds:g} s")
