"""The error of the Box, with one stable code per class of failures."""

from parlour_sdk.wire import WireError


class BoxError(WireError):
    """Raised when a request can't be served. The code and the message reach the Host."""

    def __init__(self, code: str, message: str, retryable: bool = False) -> None:
        super().__init__(code, message, {"retryable": retryable})


class SandboxGone(BoxError):
    """Raised when a sandbox had ended before a request was sent, so that the request can be made in another one."""

    def __init__(self) -> None:
        super().__init__("session_lost", "the sandbox has ended", retryable=True)
