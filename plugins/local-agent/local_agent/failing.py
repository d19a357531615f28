"""How a turn ends badly."""

import time

from parlour_sdk.api import AgentAPIException
from parlour_sdk.protocol.context import AgentRunContext

ENDING = ("cancelled", "budget_exceeded")
CLOCKS_APART = 100
"""Milliseconds between the clock by which calls are bounded and the one on the wall."""


class Failed(Exception):
    """The run can't go on; the message is a sentence for people."""

    def __init__(self, code: str, message: str, retryable: bool = False) -> None:
        super().__init__(message)
        self.code = code
        self.message = message
        self.retryable = retryable


def ends_the_run(error: AgentAPIException, ctx: AgentRunContext) -> bool:
    """Whether nothing else can help: the run is over, or may spend no more. A model's own time-out is not the run's."""
    if error.kind == "deadline_exceeded":
        deadline = ctx.runtime.deadline_at
        return deadline is not None and time.time() * 1000 >= deadline - CLOCKS_APART
    return error.kind in ENDING
