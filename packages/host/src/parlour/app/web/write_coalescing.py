"""Combines all writes of a connection within one iteration of the event loop into one.

The server writes the head of an answer, its body and every frame of a socket one by one, and the event loop would make
a system call for each of them: that costs more than producing the data, and wakes the reader as often.
"""

import asyncio
from typing import Any, Final, cast

from uvicorn.protocols.http.httptools_impl import HttpToolsProtocol

FLUSH_BYTES: Final = 16 * 1024
"""Buffered bytes from which data is written without waiting, so that flow control affects large writes."""

CLOSE_TIMEOUT_SECONDS: Final = 30.0
"""Seconds that a peer may take to read the rest after the connection was closed."""


class CoalescingTransport:
    """Wraps a transport and combines its writes; everything else is passed through."""

    def __init__(
        self,
        transport: asyncio.Transport,
        loop: asyncio.AbstractEventLoop,
        unread_seconds: float = CLOSE_TIMEOUT_SECONDS,
    ) -> None:
        self._transport = transport
        self._loop = loop
        self._unread_seconds = unread_seconds
        self._pending: list[bytes] = []
        self._size = 0

    def __getattr__(self, name: str) -> Any:
        return getattr(self._transport, name)

    def write(self, data: bytes) -> None:
        if not self._pending:
            self._loop.call_soon(self._flush)
        self._pending.append(data)
        self._size += len(data)
        if self._size >= FLUSH_BYTES:
            self._flush()

    def close(self) -> None:
        """Closes the transport after all data was sent; a peer that never reads it is disconnected."""
        self._flush()
        self._transport.close()
        if self._transport.get_write_buffer_size():
            self._loop.call_later(self._unread_seconds, self._transport.abort)

    def write_eof(self) -> None:
        self._flush()
        self._transport.write_eof()

    def _flush(self) -> None:
        if self._pending:
            data = b"".join(self._pending)
            self._pending.clear()
            self._size = 0
            self._transport.write(data)


class CoalescingHttpProtocol(HttpToolsProtocol):
    """HTTP protocol that combines its writes. A WebSocket takes over the transport of the request that opened it."""

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        super().connection_made(cast(asyncio.Transport, transport))
        self.transport = cast(asyncio.Transport, CoalescingTransport(self.transport, self.loop))
