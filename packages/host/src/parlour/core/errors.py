"""A call that is answered with an error."""

from collections.abc import Mapping
from typing import Any


class Refused(Exception):
    """The call is answered with an error."""

    def __init__(
        self, code: str, message: str, retryable: bool = False, details: Mapping[str, Any] | None = None
    ) -> None:
        super().__init__(message)
        self.code = code
        self.message = message
        self.retryable = retryable
        self.details = dict(details or {})
