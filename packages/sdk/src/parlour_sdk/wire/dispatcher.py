"""The port through which a peer passes on the requests that it receives."""

from collections.abc import AsyncGenerator, Coroutine
from typing import Any, Protocol


class RequestDispatcher(Protocol):
    """Turns an action into the work that answers it.

    It returns immediately: a coroutine for a single answer, an async generator for a stream. It raises `WireError` for
    an unknown action. The dispatcher also enforces the order of calls (`hello` first) and access rights.
    """

    def dispatch(self, action: str, data: Any) -> Coroutine[Any, Any, Any] | AsyncGenerator[Any, None]: ...
