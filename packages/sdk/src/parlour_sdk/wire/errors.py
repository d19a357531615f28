"""What can go wrong on a connection, each with a code. The codes are strings and the set is open."""

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
    """A call or stream that ended with an error: what the other side answered, or what this side found."""

    def __init__(self, code: str, message: str, data: Any = None) -> None:
        super().__init__(f"{code}: {message}")
        self.code = code
        self.message = message
        self.data = data


class ConnectionClosed(WireError):
    """The connection is closed, so nothing more can be asked or answered."""

    def __init__(self, reason: str) -> None:
        super().__init__(CONNECTION_CLOSED, f"the connection is closed: {reason}")
        self.reason = reason


class MalformedFrame(WireError):
    """Bytes that are no frame.

    `seq_id` is set when the frame still says which request it belongs to; `is_request` tells whose request that is:
    the sender's own (it has an action, so it can be answered) or one of ours that the frame meant to answer.
    """

    def __init__(self, message: str, seq_id: int | None = None, is_request: bool = False) -> None:
        super().__init__(MALFORMED_FRAME, message)
        self.seq_id = seq_id
        self.is_request = is_request


class FrameTooLarge(MalformedFrame):
    """A frame over the size limit. It is never looked into, so nobody can say whose it was."""

    def __init__(self, limit: int) -> None:
        super().__init__(f"a frame may have at most {limit} bytes")
