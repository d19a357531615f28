"""Errors of the run API. The set of codes is open: an unknown one counts as runtime_error."""

from typing import Any

from .base import Strict

CODES = (
    "unauthorized",
    "not_found",
    "deadline_exceeded",
    "payload_too_large",
    "rate_limited",
    "budget_exceeded",
    "approval_pending",
    "denied",
    "not_supported",
    "cancelled",
    "invalid_argument",
    "runtime_error",
)


class AgentAPIError(Strict):
    code: str
    message: str
    retryable: bool = False
    details: dict[str, Any] = {}


class AgentAPIException(Exception):
    """A call of the run API was refused or failed."""

    def __init__(self, error: AgentAPIError) -> None:
        super().__init__(f"{error.code}: {error.message}")
        self.error = error

    @property
    def code(self) -> str:
        return self.error.code
