"""Operations of the server on a WebSocket that ASGI does not have. The server puts the object into the scope's
extensions."""

from collections.abc import Awaitable
from typing import Protocol

SOCKET_EXTENSION = "parlour.socket"


class SocketControl(Protocol):
    def limit_frames(self, max_bytes: int) -> None: ...

    def require_pongs(self, required: bool) -> None: ...

    def ping(self) -> Awaitable[None]: ...

    def close_unresponsive(self, code: int, reason: str) -> None:
        """Closes a socket whose peer may not be reading: the close frame is sent if the peer reads it soon."""
        ...

    def abort(self) -> None: ...
