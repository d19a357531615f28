"""What every request of a plugin carries, and the answer that has nothing to tell."""

from .base import Request, Tolerant


class Call(Request):
    """Made inside a run or, by components that have none, outside one."""

    call_id: str
    """Names the call itself, so that a retried run can be given the recorded answer."""
    run_id: str | None = None
    """The run that makes the call; null outside one."""
    lease: str | None = None
    """Of the claim, for a run that a remote runtime executes; with a stale one a call is refused."""


class RunCall(Call):
    """Made inside a run only."""

    run_id: str
    """The run that makes the call."""


class Done(Tolerant):
    """Nothing to tell."""
