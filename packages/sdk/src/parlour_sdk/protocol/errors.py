"""Errors of the run API. The set of codes is open: an unknown one counts as runtime_error."""

from typing import Any

from .base import Strict

CODES = {
    "unauthorized": "the resource, operation, scope or identity is not granted",
    "not_found": "absent, or invisible to whoever asks",
    "deadline_exceeded": "past the run's `deadline_at`",
    "payload_too_large": "the request or the response is over its limit",
    "rate_limited": "over the run's or the plugin's rate",
    "budget_exceeded": "a limit in tokens or money would be passed",
    "approval_pending": "the action waits for a person",
    "denied": "the action was refused",
    "not_supported": "the platform or backend has no such thing",
    "cancelled": "the run was cancelled",
    "invalid_argument": "the request is malformed",
    "runtime_error": "the Host or something behind it failed",
}
"""Error codes and the cases in which they are used."""


class AgentAPIError(Strict):
    """Why a call was refused or failed."""

    code: str
    message: str
    """A sentence for people."""
    retryable: bool = False
    """Whether the same call may succeed later."""
    details: dict[str, Any] = {}


class AgentAPIException(Exception):
    """Raised when a call of the run API was refused or failed."""

    def __init__(self, error: AgentAPIError) -> None:
        super().__init__(f"{error.code}: {error.message}")
        self.error = error

    @property
    def code(self) -> str:
        """The code from the other side; the set is open."""
        return self.error.code

    @property
    def kind(self) -> str:
        """The code to act on: one of CODES, `runtime_error` for any other."""
        return self.error.code if self.error.code in CODES else "runtime_error"

    @property
    def message(self) -> str:
        return self.error.message

    @property
    def retryable(self) -> bool:
        return self.error.retryable

    @property
    def details(self) -> dict[str, Any]:
        return self.error.details
