"""Errors that end a run, and the codes that the Host shows for them."""

import time

from parlour_sdk import results
from parlour_sdk.protocol.context import AgentRunContext
from parlour_sdk.protocol.errors import AgentAPIException
from parlour_sdk.results import Result

RUN_ENDING_CODES = ("cancelled", "budget_exceeded")
CLOCK_TOLERANCE_MILLISECONDS = 100
"""Tolerance in milliseconds between the monotonic clock that bounds calls and the system clock."""


class TurnError(Exception):
    """Raised when the run can't continue; the message is for users. A code without a dot belongs to the agent."""

    def __init__(self, code: str, message: str, retryable: bool = False) -> None:
        super().__init__(message)
        self.code = code
        self.message = message
        self.retryable = retryable

    def to_result(self, agent: str) -> Result:
        """Builds the result that ends the run; a code of the agent gets its name, such as `my-agent.no_model`."""
        code = self.code if "." in self.code else f"{agent}.{self.code}"
        return results.failed(code, self.message, self.retryable)


def ends_run(error: AgentAPIException, ctx: AgentRunContext) -> bool:
    """Returns whether the error ends the run: it is over, or its budget is used up. A model's own timeout does not."""
    if error.kind == "deadline_exceeded":
        remaining = seconds_left(ctx)
        return remaining is not None and remaining <= 0
    return error.kind in RUN_ENDING_CODES


def seconds_left(ctx: AgentRunContext) -> float | None:
    """Returns the seconds until the run's deadline; None if it has none."""
    deadline = ctx.runtime.deadline_at
    return None if deadline is None else (deadline - CLOCK_TOLERANCE_MILLISECONDS) / 1000 - time.time()
