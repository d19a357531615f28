"""Defines the error that ends a call."""

from collections.abc import Mapping
from typing import Any


class CallRejected(Exception):
    """Raised when a call is rejected; the caller receives code, message and details as the error."""

    def __init__(
        self, code: str, message: str, retryable: bool = False, details: Mapping[str, Any] | None = None
    ) -> None:
        super().__init__(message)
        self.code = code
        self.message = message
        self.retryable = retryable
        self.details = dict(details or {})
