"""The failure that ends a run, with a code and a sentence for users."""


class HarnessFailed(Exception):
    """Raised when a harness can't be started, speaks another protocol, or fails."""

    def __init__(self, code: str, message: str, retryable: bool = False) -> None:
        super().__init__(message)
        self.code = code
        self.message = message
        self.retryable = retryable
