"""Defines the error of a reader: a code that the page can explain, and a sentence."""


class Unreadable(Exception):
    """Raised when a file can't be read."""

    def __init__(self, code: str, message: str) -> None:
        super().__init__(message)
        self.code = code
        self.message = message
