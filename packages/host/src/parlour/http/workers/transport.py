"""Carries the frames of a worker's connection over a WebSocket of the web server."""

import asyncio
import logging
from collections import deque
from typing import cast

from starlette.websockets import WebSocket, WebSocketDisconnect, WebSocketState

from parlour_sdk.wire import WireLimits
from parlour_sdk.wire.transport import OnClosed, OnFrame

from ..socket_control import SOCKET_EXTENSION, SocketControl

logger = logging.getLogger(__name__)

HIGH_WATER_BYTES = 1024 * 1024
REGULAR_CLOSE_CODE, REFUSED_CLOSE_CODE = 1000, 1008
MAX_REASON_BYTES = 120


class AsgiTransport:
    """A transport whose socket is read by `serve`. Frames are sent in order by a task."""

    def __init__(self, socket: WebSocket, limits: WireLimits) -> None:
        self._socket = socket
        self._control = cast(SocketControl, socket.scope["extensions"][SOCKET_EXTENSION])
        self._control.limit_frames(limits.frame_bytes)
        self.limits = limits
        self._outgoing: deque[bytes] = deque()
        self._outgoing_bytes = 0
        self._has_outgoing = asyncio.Event()
        self._writable = asyncio.Event()
        self._writable.set()
        self._readable = asyncio.Event()
        self._readable.set()
        self._on_frame: OnFrame | None = None
        self._on_closed: OnClosed | None = None
        self._started = asyncio.Event()
        self._closing: tuple[int, str] | None = None

    async def serve(self) -> None:
        """Passes on frames in both directions until the connection ends."""
        await self._started.wait()
        reading = asyncio.ensure_future(self._read())
        writing = asyncio.ensure_future(self._write())
        try:
            await asyncio.wait((reading, writing), return_when=asyncio.FIRST_COMPLETED)
        finally:
            for task in (reading, writing):
                task.cancel()
            await asyncio.wait((reading, writing))
            self._writable.set()
            if self._closing is None and self._on_closed is not None:
                self._closing = (REGULAR_CLOSE_CODE, "")
                self._on_closed(None)

    def start(self, on_frame: OnFrame, on_closed: OnClosed) -> None:
        self._on_frame, self._on_closed = on_frame, on_closed
        self._started.set()

    def send(self, frame: bytes) -> None:
        if self._closing is not None:
            return
        self._outgoing.append(frame)
        self._outgoing_bytes += len(frame)
        if self._outgoing_bytes > HIGH_WATER_BYTES:
            self._writable.clear()
        self._has_outgoing.set()

    @property
    def congested(self) -> bool:
        return not self._writable.is_set()

    async def drain(self) -> None:
        while not self._writable.is_set():
            await self._writable.wait()

    def pause(self) -> None:
        self._readable.clear()

    def resume(self) -> None:
        self._readable.set()

    def close(self, refusal: str = "") -> None:
        if self._closing is None:
            reason = refusal.encode()[:MAX_REASON_BYTES].decode(errors="ignore")
            self._closing = (REFUSED_CLOSE_CODE if refusal else REGULAR_CLOSE_CODE, reason)
            self._writable.set()
            self._started.set()
            self._has_outgoing.set()

    async def _read(self) -> None:
        while True:
            await self._readable.wait()
            message = await self._socket.receive()
            if message["type"] == "websocket.disconnect":
                return
            text: str | None = message.get("text")
            frame = text.encode() if text is not None else message["bytes"]
            await self._readable.wait()
            if self._closing is None and self._on_frame is not None:
                self._on_frame(frame)

    async def _write(self) -> None:
        try:
            while True:
                await self._has_outgoing.wait()
                self._has_outgoing.clear()
                while self._outgoing:
                    frame = self._outgoing.popleft()
                    await self._socket.send_text(frame.decode())
                    self._outgoing_bytes -= len(frame)
                    if self._outgoing_bytes <= HIGH_WATER_BYTES:
                        self._writable.set()
                if self._closing is not None:
                    if self._socket.application_state is not WebSocketState.DISCONNECTED:
                        await self._socket.close(*self._closing)
                    return
        except (WebSocketDisconnect, RuntimeError, OSError):
            return  # the other side closed the connection
