"""The port through which a peer reaches whatever serves its requests."""

from collections.abc import AsyncGenerator, Coroutine
from typing import Any, Protocol


class Dispatcher(Protocol):
    """Turns an action into the work that answers it.

    Returns at once: a coroutine for a single answer, an async generator for a stream. Raises `WireError` for an
    unknown action. What must come first (`hello`) and who may call what is the dispatcher's business.
    """

    def dispatch(self, action: str, data: Any) -> Coroutine[Any, Any, Any] | AsyncGenerator[Any, None]: ...
