"""Errors of a connection. Each has a code; codes are strings, and the set is open."""

from typing import Any, Final

INVALID_ARGUMENT: Final = "invalid_argument"
PAYLOAD_TOO_LARGE: Final = "payload_too_large"
RATE_LIMITED: Final = "rate_limited"
NOT_SUPPORTED: Final = "not_supported"
CANCELLED: Final = "cancelled"
DEADLINE_EXCEEDED: Final = "deadline_exceeded"
RUNTIME_ERROR: Final = "runtime_error"
MALFORMED_FRAME: Final = "malformed_frame"
CREDIT_EXCEEDED: Final = "credit_exceeded"
CONNECTION_CLOSED: Final = "connection_closed"


class WireError(Exception):
    """Raised when a call or stream ends with an error, answered by the other side or detected by this one."""

    def __init__(self, code: str, message: str, data: Any = None) -> None:
        super().__init__(f"{code}: {message}")
        self.code = code
        self.message = message
        self.data = data


class ConnectionClosed(WireError):
    """Raised when the connection is closed, so that no more requests or answers can be sent."""

    def __init__(self, reason: str) -> None:
        super().__init__(CONNECTION_CLOSED, f"the connection is closed: {reason}")
        self.reason = reason


class MalformedFrame(WireError):
    """Raised for bytes that are not a valid frame.

    `seq_id` is set if the request that the frame belongs to can be determined. `is_request` is true for a request of
    the sender (it has an action and can be answered) and false for an answer to one of ours.
    """

    def __init__(self, message: str, seq_id: int | None = None, is_request: bool = False) -> None:
        super().__init__(MALFORMED_FRAME, message)
        self.seq_id = seq_id
        self.is_request = is_request


class FrameTooLarge(MalformedFrame):
    """Raised for a frame over the size limit. Its content is never examined, so its request is unknown."""

    def __init__(self, limit: int) -> None:
        super().__init__(f"a frame may have at most {limit} bytes")
