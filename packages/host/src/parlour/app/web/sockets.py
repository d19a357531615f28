"""WebSocket connections with controls that ASGI lacks: frame limits, pings and aborting for each socket."""

import asyncio
import logging
import os
from collections.abc import Awaitable
from typing import Any

from uvicorn.protocols.websockets.websockets_sansio_impl import WebSocketsSansIOProtocol
from websockets.frames import Frame
from websockets.http11 import Request

from parlour.http.socket_control import SOCKET_EXTENSION

CLOSE_TIMEOUT_SECONDS = 5.0
"""Seconds that a peer may take to read the remaining data when its socket is closed for not reading."""
BAD_HANDSHAKE = (
    b"HTTP/1.1 400 Bad Request\r\ncontent-type: text/plain; charset=utf-8\r\n"
    b"content-length: 73\r\nconnection: close\r\n\r\n"
    b"the request can't open a WebSocket: send GET without a body, as HTTP/1.1\n"
)
quiet_logger = logging.getLogger(__name__)
quiet_logger.setLevel(logging.ERROR)  # uvicorn logs each socket's query string, which may contain an access token


class SocketProtocol(WebSocketsSansIOProtocol):
    """WebSocket protocol that gives itself to the application in the scope, as `http.socket_control.SocketControl`."""

    def __init__(self, *arguments: Any, **options: Any) -> None:
        super().__init__(*arguments, **options)
        self.logger = quiet_logger
        self._pongs: dict[bytes, asyncio.Future[None]] = {}

    def data_received(self, data: bytes) -> None:
        super().data_received(data)
        if not self.handshake_initiated and self.conn.handshake_exc is not None:
            # uvicorn itself would neither answer nor close the connection.
            self.transport.write(b"".join(self.conn.data_to_send()) or BAD_HANDSHAKE)
            self.transport.close()

    async def send(self, message: Any) -> None:
        await super().send(message)
        if self.initial_response is not None and self.close_sent:
            self.handshake_complete = True  # otherwise uvicorn logs each refused handshake as an error

    def handle_connect(self, event: Request) -> None:
        super().handle_connect(event)
        if self.response.status_code == 101:
            self.scope["extensions"][SOCKET_EXTENSION] = self  # type: ignore[assignment]  # the application starts later

    def limit_frames(self, max_bytes: int) -> None:
        self.conn.max_message_size = max_bytes

    def require_pongs(self, required: bool) -> None:
        """Sets whether a peer that does not answer keepalive pings is disconnected. They are sent in any case."""
        self.ping_timeout = self.config.ws_ping_timeout if required else None

    def ping(self) -> Awaitable[None]:
        payload = os.urandom(8)  # payloads of keepalive pings have 4 bytes
        pong = self._pongs[payload] = self.loop.create_future()
        pong.add_done_callback(lambda _: self._pongs.pop(payload, None))
        if not self.close_sent and not self.transport.is_closing():
            self.conn.send_ping(payload)
            self.transport.write(b"".join(self.conn.data_to_send()))
        return pong

    def handle_pong(self, event: Frame) -> None:
        pong = self._pongs.get(bytes(event.data))
        if pong is None:
            super().handle_pong(event)
        elif not pong.done():
            pong.set_result(None)

    def connection_lost(self, exc: Exception | None) -> None:
        super().connection_lost(exc)
        for pong in [each for each in self._pongs.values() if not each.done()]:
            pong.set_exception(ConnectionResetError())
            pong.exception()  # marks it as retrieved: the caller of `ping` may have been cancelled

    def close_unresponsive(self, code: int, reason: str) -> None:
        if not self.close_sent and not self.transport.is_closing():
            self.conn.fail(code, reason)
            self.transport.write(b"".join(self.conn.data_to_send()))
            self.close_sent = True
        self._close_soon()

    def keepalive_timeout(self) -> None:
        super().keepalive_timeout()
        self._close_soon()

    def _close_soon(self) -> None:
        """Closes the transport and aborts it later: closing waits for the peer to read, which may never happen."""
        self.transport.close()
        self.loop.call_later(CLOSE_TIMEOUT_SECONDS, self.transport.abort)

    def abort(self) -> None:
        self.transport.abort()
