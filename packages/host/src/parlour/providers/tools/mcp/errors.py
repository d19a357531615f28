"""Errors of MCP servers, with readable reasons."""

import asyncio
from contextvars import ContextVar

LOST_ERROR_CODE = "lost"
"""Error code of a lost server between the worker process and the Host."""


class ServerLost(Exception):
    """Raised when the connection to a server is lost, with the reason.

    `unsent` says that the request certainly did not arrive.
    """

    def __init__(self, reason: str, unsent: bool = False) -> None:
        super().__init__(reason)
        self.unsent = unsent


class Attempt:
    """Progress of one call over the network, recorded by its transport."""

    def __init__(self) -> None:
        self.refused = False
        """True if the connection was refused."""
        self.reached = False
        self.status = 0
        """HTTP status of the first response."""

    def record_response(self, status: int) -> None:
        self.reached, self.status = True, self.status or status

    @property
    def unsent(self) -> bool:
        """True if the request was not accepted: no connection, or a response with a client error."""
        return 400 <= self.status < 500 if self.reached else self.refused


ATTEMPT: ContextVar[Attempt] = ContextVar("ATTEMPT")
"""The attempt of the current call; the client library passes it on to the code that sends the request."""


class TransportProblem:
    """Problems that a transport noticed and the client library does not report."""

    def __init__(self) -> None:
        self.message = ""
        self.closed = asyncio.Event()
        """Set when nothing more will arrive on this connection."""

    def record(self, reason: str) -> None:
        self.message = reason


def describe_error(error: BaseException, problem: TransportProblem) -> str:
    """Describes an error; a problem that the transport noticed takes precedence, since it is more precise."""
    cause = _cause(error)
    if problem.message:
        return problem.message
    if isinstance(cause, TimeoutError):
        return "it did not answer in time"
    if isinstance(cause, OSError) and cause.strerror:
        return cause.strerror
    return " ".join(str(cause).split())[:500] or type(cause).__name__


def _cause(error: BaseException) -> BaseException:
    while isinstance(error, BaseExceptionGroup):
        error = error.exceptions[0]
    return error
