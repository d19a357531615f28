"""Why a server can't be used, in words."""

import asyncio

LOST = "lost"
"""The code that tells of it between processes."""


class ServerLost(Exception):
    """The connection is gone, with a sentence that says why. `unsent`: what was asked never got there."""

    def __init__(self, words: str, unsent: bool = False) -> None:
        super().__init__(words)
        self.unsent = unsent


class Trouble:
    """What a transport noticed and its client library does not pass on."""

    def __init__(self) -> None:
        self.words = ""
        self.unsent = False
        self.gone = asyncio.Event()
        """Nothing more comes from this connection."""

    def note(self, words: str, unsent: bool = False) -> None:
        self.words, self.unsent = words, unsent

    def clear(self) -> None:
        self.note("")


def in_words(error: BaseException, trouble: Trouble) -> str:
    """The transport's own words first: it was closest."""
    cause = _cause(error)
    if trouble.words:
        return trouble.words
    if isinstance(cause, TimeoutError):
        return "it did not answer in time"
    if isinstance(cause, OSError) and cause.strerror:
        return cause.strerror
    return " ".join(str(cause).split())[:500] or type(cause).__name__


def _cause(error: BaseException) -> BaseException:
    while isinstance(error, BaseExceptionGroup):
        error = error.exceptions[0]
    return error
