"""Connections whose writes of one turn of the loop leave together. What is written is the server's business.

The server writes the head of an answer, its body, and every frame of a socket one by one, and the event loop would hand
each of them to the kernel at once: that costs more than to make it, and wakes whoever reads it as often.
"""

import asyncio
from typing import Any, Final, cast

from uvicorn.protocols.http.httptools_impl import HttpToolsProtocol

AT_ONCE: Final = 16 * 1024
"""Bytes that are not held back any longer: whoever writes much is to feel it when the other side does not read."""

UNREAD_SECONDS: Final = 30.0
"""How long a peer may take to read the rest after the connection was closed."""


class JoinedWrites:
    """A transport; all but its writing is as it was."""

    def __init__(
        self,
        transport: asyncio.Transport,
        loop: asyncio.AbstractEventLoop,
        unread_seconds: float = UNREAD_SECONDS,
    ) -> None:
        self._transport = transport
        self._loop = loop
        self._unread_seconds = unread_seconds
        self._written: list[bytes] = []
        self._size = 0

    def __getattr__(self, name: str) -> Any:
        return getattr(self._transport, name)

    def write(self, data: bytes) -> None:
        if not self._written:
            self._loop.call_soon(self._flush)
        self._written.append(data)
        self._size += len(data)
        if self._size >= AT_ONCE:
            self._flush()

    def close(self) -> None:
        """Closes after what was written has left; a peer that never reads it is cut off."""
        self._flush()
        self._transport.close()
        if self._transport.get_write_buffer_size():
            self._loop.call_later(self._unread_seconds, self._transport.abort)

    def write_eof(self) -> None:
        self._flush()
        self._transport.write_eof()

    def _flush(self) -> None:
        if self._written:
            joined = b"".join(self._written)
            self._written.clear()
            self._size = 0
            self._transport.write(joined)


class JoiningProtocol(HttpToolsProtocol):
    """A socket takes over the transport of the request that it began with."""

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        super().connection_made(cast(asyncio.Transport, transport))
        self.transport = cast(asyncio.Transport, JoinedWrites(self.transport, self.loop))
