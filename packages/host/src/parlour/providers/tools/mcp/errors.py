"""Why a server can't be used, in words."""

import asyncio
from contextvars import ContextVar

LOST = "lost"
"""The code that tells of it between processes."""


class ServerLost(Exception):
    """The connection is gone, with a sentence that says why. `unsent`: what was asked never got there."""

    def __init__(self, words: str, unsent: bool = False) -> None:
        super().__init__(words)
        self.unsent = unsent


class Attempt:
    """How far one call got over the network, as its transport saw it."""

    def __init__(self) -> None:
        self.refused = False
        """Nobody was there to take it."""
        self.reached = False
        self.status = 0
        """Of the first answer."""

    def answered(self, status: int) -> None:
        self.reached, self.status = True, self.status or status

    @property
    def unsent(self) -> bool:
        """Nobody took it, or it was turned away at the door."""
        return 400 <= self.status < 500 if self.reached else self.refused


ATTEMPT: ContextVar[Attempt] = ContextVar("ATTEMPT")
"""Of the call that is being made; the client library carries it along to where the call is sent."""


class Trouble:
    """What a transport noticed and its client library does not pass on."""

    def __init__(self) -> None:
        self.words = ""
        self.gone = asyncio.Event()
        """Nothing more comes from this connection."""

    def note(self, words: str) -> None:
        self.words = words


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
