"""What every request of a plugin carries, and the answer that has nothing to tell."""

from .base import Request, Tolerant


class Call(Request):
    """Base of calls inside a run or, by components without a run, outside one."""

    call_id: str
    """Names the call itself, so that a retried run can be given the recorded answer."""
    run_id: str | None = None
    """The run that makes the call; null outside one."""
    lease: str | None = None
    """Of the claim, for a run that a remote runtime executes; with a stale one a call is refused."""


class RunCall(Call):
    """Base of calls that are possible only inside a run."""

    run_id: str
    """The run that makes the call."""


class Done(Tolerant):
    """Nothing to tell."""
