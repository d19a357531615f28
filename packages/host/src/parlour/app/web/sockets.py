"""WebSocket connections of the server, with what ASGI has no words for: frame limits, pings and aborting per socket."""

import asyncio
import logging
import os
from collections.abc import Awaitable
from typing import Any

from uvicorn.protocols.websockets.websockets_sansio_impl import WebSocketsSansIOProtocol
from websockets.frames import Frame
from websockets.http11 import Request

from parlour.http.socket_control import EXTENSION

CLOSE_SECONDS = 5.0
"""How long a peer may take to read what is left when its socket is closed for not reading."""
BAD_HANDSHAKE = (
    b"HTTP/1.1 400 Bad Request\r\ncontent-type: text/plain; charset=utf-8\r\n"
    b"content-length: 73\r\nconnection: close\r\n\r\n"
    b"the request can't open a WebSocket: send GET without a body, as HTTP/1.1\n"
)
quiet_logger = logging.getLogger(__name__)
quiet_logger.setLevel(logging.ERROR)  # the server logs each socket's query string, which may hold an access token


class SocketProtocol(WebSocketsSansIOProtocol):
    """Offers itself to the application in the scope, as `http.socket_control.SocketControl`."""

    def __init__(self, *arguments: Any, **options: Any) -> None:
        super().__init__(*arguments, **options)
        self.logger = quiet_logger
        self._pongs: dict[bytes, asyncio.Future[None]] = {}

    def data_received(self, data: bytes) -> None:
        super().data_received(data)
        if not self.handshake_initiated and self.conn.handshake_exc is not None:
            # the server itself would neither answer nor close
            self.transport.write(b"".join(self.conn.data_to_send()) or BAD_HANDSHAKE)
            self.transport.close()

    async def send(self, message: Any) -> None:
        await super().send(message)
        if self.initial_response is not None and self.close_sent:
            self.handshake_complete = True  # otherwise the server logs each refused handshake as an error

    def handle_connect(self, event: Request) -> None:
        super().handle_connect(event)
        if self.response.status_code == 101:
            self.scope["extensions"][EXTENSION] = self  # type: ignore[assignment]  # the application starts later

    def limit_frames(self, max_bytes: int) -> None:
        self.conn.max_message_size = max_bytes

    def require_pongs(self, required: bool) -> None:
        """Keepalive pings go out either way; without this no answer to them is missed."""
        self.ping_timeout = self.config.ws_ping_timeout if required else None

    def ping(self) -> Awaitable[None]:
        payload = os.urandom(8)  # the keepalive's own have 4 bytes
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
            pong.exception()  # whoever asked may be gone

    def cut(self, code: int, reason: str) -> None:
        if not self.close_sent and not self.transport.is_closing():
            self.conn.fail(code, reason)
            self.transport.write(b"".join(self.conn.data_to_send()))
            self.close_sent = True
        self._close_soon()

    def keepalive_timeout(self) -> None:
        super().keepalive_timeout()
        self._close_soon()

    def _close_soon(self) -> None:
        """A transport that is closed waits for its peer to read what is left, which may never happen."""
        self.transport.close()
        self.loop.call_later(CLOSE_SECONDS, self.transport.abort)

    def abort(self) -> None:
        self.transport.abort()
