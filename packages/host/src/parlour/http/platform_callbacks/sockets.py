"""Wraps a WebSocket below `/hooks` for the adapter of its bot."""

from collections.abc import Awaitable
from typing import cast

from fastapi.responses import PlainTextResponse
from starlette.websockets import WebSocket, WebSocketDisconnect

from parlour.core.platforms.hooks import Handshake, SocketClosed

from ..socket_control import SOCKET_EXTENSION, SocketControl

TOO_LARGE_CLOSE_CODE = 1009


class AsgiHookSocket:
    def __init__(self, socket: WebSocket, path: str) -> None:
        self._socket = socket
        self._control = cast(SocketControl, socket.scope["extensions"][SOCKET_EXTENSION])
        peer = socket.client.host if socket.client else "an unknown address"
        self.handshake = Handshake(path, socket.scope["query_string"].decode("latin-1"), socket.headers.items(), peer)

    async def accept(self, max_frame_bytes: int, requires_pongs: bool) -> None:
        self._control.limit_frames(max_frame_bytes)
        self._control.require_pongs(requires_pongs)
        await self._socket.accept()

    async def refuse(self, status: int, sentence: str) -> None:
        await self._socket.send_denial_response(PlainTextResponse(f"{sentence}\n", status))

    async def receive(self) -> str | bytes:
        message = await self._socket.receive()
        if message["type"] == "websocket.disconnect":
            raise SocketClosed(too_large=message.get("code") == TOO_LARGE_CLOSE_CODE)
        text: str | None = message.get("text")
        content: str | bytes = message["bytes"] if text is None else text
        return content

    async def send(self, text: str) -> None:
        try:
            await self._socket.send_text(text)
        except (WebSocketDisconnect, RuntimeError):  # it was closed by either side
            raise SocketClosed from None

    async def ping(self) -> Awaitable[None]:
        return self._control.ping()

    async def close(self, code: int, reason: str) -> None:
        try:
            await self._socket.close(code, reason)
        except (WebSocketDisconnect, RuntimeError):
            return  # already closed

    def abort(self) -> None:
        self._control.abort()
