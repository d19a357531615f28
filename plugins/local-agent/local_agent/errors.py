"""Errors that end a turn."""

import time

from parlour_sdk.api import AgentAPIException
from parlour_sdk.protocol.context import AgentRunContext

RUN_ENDING_CODES = ("cancelled", "budget_exceeded")
CLOCK_TOLERANCE_MILLISECONDS = 100
"""Tolerance in milliseconds between the monotonic clock that bounds calls and the system clock."""


class TurnError(Exception):
    """Raised when the run can't continue; the message is for users."""

    def __init__(self, code: str, message: str, retryable: bool = False) -> None:
        super().__init__(message)
        self.code = code
        self.message = message
        self.retryable = retryable


def ends_run(error: AgentAPIException, ctx: AgentRunContext) -> bool:
    """Returns whether the error ends the run: it is over, or its budget is used up. A model's own timeout does not."""
    if error.kind == "deadline_exceeded":
        deadline = ctx.runtime.deadline_at
        return deadline is not None and time.time() * 1000 >= deadline - CLOCK_TOLERANCE_MILLISECONDS
    return error.kind in RUN_ENDING_CODES
