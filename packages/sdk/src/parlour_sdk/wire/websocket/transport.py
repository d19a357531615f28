"""A transport that sends frames as text messages of an open WebSocket; client and server modules open it.

The websockets library is used as a sans-I/O protocol. So the frames of one loop iteration leave in one write, incoming
frames need neither queue nor task, and any received data proves that the other side is there, not only the answer to a
ping, which waits behind everything else when the other side is slowed down.
"""

import asyncio
import logging
import socket as sockets
from collections import deque
from collections.abc import Iterable
from dataclasses import replace
from typing import Final

from websockets.frames import CloseCode, Frame, Opcode
from websockets.protocol import OPEN, SEND_EOF, Event, Protocol

from parlour_sdk.wire.errors import MalformedFrame
from parlour_sdk.wire.limits import DEFAULT_LIMITS, WireLimits
from parlour_sdk.wire.read_limiter import ReadLimiter
from parlour_sdk.wire.transport import OnClosed, OnFrame
from parlour_sdk.wire.websocket.close_reasons import close_reason

HIGH_WATER_BYTES: Final = 256 * 1024
PEER_TIMEOUT_SECONDS: Final = 20.0
"""Seconds within which a vanished peer is detected and its connection closed."""
# At debug level the library logs headers, which include the token, and the content of frames.
LIBRARY_LOGGER: Final = logging.getLogger(f"{__name__}.library")
LIBRARY_LOGGER.setLevel(logging.WARNING)

# Frames are joined up to this size only, so that the other side can work on them while we make the next ones.
_JOINED_BYTES: Final = 16 * 1024
# Unsent bytes that the kernel may buffer. By default it accepts megabytes, and congestion would be noticed too late.
_UNSENT_BYTES: Final = 128 * 1024
_HEARTBEATS_PER_TIMEOUT: Final = (
    4  # heartbeats per peer timeout; the other side is gone if nothing arrived between all of them
)
_CONTROL_BYTES: Final = 6  # size of a ping without its payload
_REASON_BYTES: Final = 123  # maximum size of the reason in a close frame
# Seconds that the other side may take to read what is buffered and to answer the close frame.
_LINGER_SECONDS: Final = 2.0


class WebSocketTransport(asyncio.Protocol):
    """Takes over the socket of an established connection and closes it at the end.

    Both sides send pings regularly, so a side that is paused and answers none still shows that it is there. A side that
    has paused reading does not check the other one for silence.
    """

    def __init__(
        self,
        protocol: Protocol,
        socket: asyncio.Transport,
        early_events: Iterable[Event],
        limits: WireLimits,
        patience: float,
    ) -> None:
        self._loop = asyncio.get_running_loop()
        self._protocol = protocol
        self._socket = socket
        self._limits = limits
        self._incoming: deque[bytes] = deque()
        self._fragments = bytearray()
        self._side_limiter = ReadLimiter(_for_side_traffic(limits), self._loop.time)
        self._unread_pong_bytes = 0
        self._unwritten_bytes = 0
        self._writable = asyncio.Event()
        self._writable.set()
        self._on_frame: OnFrame | None = None
        self._on_closed: OnClosed | None = None
        self._paused = False
        self._ended = False  # nothing more will be read
        self._error: Exception | None = None
        self._closed = False
        self._disconnected = asyncio.Event()
        self._linger: asyncio.TimerHandle | None = None
        self._beat_every = patience / _HEARTBEATS_PER_TIMEOUT
        self._received_data = True
        self._silent_beats = 0  # counted, not timed: time that this process slept is not silence of the other side
        self._pulse = self._loop.call_later(self._beat_every, self._send_heartbeat)
        socket.set_protocol(self)
        socket.set_write_buffer_limits(high=HIGH_WATER_BYTES)
        _bound_unsent_bytes(socket)
        self._receive_events(early_events)

    def start(self, on_frame: OnFrame, on_closed: OnClosed) -> None:
        self._on_frame, self._on_closed = on_frame, on_closed
        self._loop.call_soon(self._deliver)

    def send(self, frame: bytes) -> None:
        if self._closed or self._protocol.state is not OPEN:
            return
        if self._unwritten_bytes == 0:
            self._loop.call_soon(self._flush)
        self._protocol.send_text(frame)
        self._unwritten_bytes += len(frame) + 1
        if self._unwritten_bytes >= _JOINED_BYTES:
            self._flush()

    @property
    def congested(self) -> bool:
        return not self._writable.is_set()

    async def drain(self) -> None:
        while not self._writable.is_set():
            await self._writable.wait()

    def pause(self) -> None:
        self._paused = True

    def resume(self) -> None:
        if self._paused:
            self._paused = False
            self._loop.call_soon(self._deliver)

    def close(self, refusal: str = "") -> None:
        reason = refusal.encode()[:_REASON_BYTES].decode(errors="ignore")
        self._close(CloseCode.POLICY_VIOLATION if refusal else CloseCode.NORMAL_CLOSURE, reason)

    def shut_down(self, reason: str) -> None:
        """Closes because this process ends; notifies the other side and `on_closed`."""
        if not self._closed:
            self._close(CloseCode.GOING_AWAY, reason)
            if self._on_closed is not None:
                self._on_closed(ConnectionAbortedError(reason))

    async def wait_closed(self) -> None:
        """Waits until the socket is closed: buffered data has been sent, or never will be."""
        await self._disconnected.wait()

    def data_received(self, data: bytes) -> None:
        self._received_data = True
        self._protocol.receive_data(data)
        self._receive_events(self._protocol.events_received())
        self._flush()
        self._deliver()

    def eof_received(self) -> None:
        self._protocol.receive_eof()
        self._flush()
        self._end(close_reason(self._protocol, self._limits.frame_bytes, None))
        self._deliver()

    def connection_lost(self, exc: Exception | None) -> None:
        self._protocol.receive_eof()
        self._disconnected.set()
        self._writable.set()
        if self._linger is not None:
            self._linger.cancel()
        self._end(close_reason(self._protocol, self._limits.frame_bytes, exc))
        self._deliver()

    def pause_writing(self) -> None:
        self._writable.clear()

    def resume_writing(self) -> None:
        self._writable.set()

    def _receive_events(self, events: Iterable[Event]) -> None:
        for event in events:
            if isinstance(event, Frame) and not self._ended:
                self._receive_message(event)
        if self._protocol.state is not OPEN:
            self._end(close_reason(self._protocol, self._limits.frame_bytes, None))

    def _receive_message(self, frame: Frame) -> None:
        match frame.opcode:
            case Opcode.TEXT if frame.fin:
                self._incoming.append(bytes(frame.data))
            case Opcode.TEXT | Opcode.CONT:
                self._receive_fragment(frame)
            case Opcode.BINARY:
                self._refuse(CloseCode.UNSUPPORTED_DATA, "a frame is a text message, and a binary one came")
            case Opcode.PING | Opcode.PONG:
                self._receive_control(frame)

    def _receive_fragment(self, frame: Frame) -> None:
        self._fragments += frame.data
        if frame.fin:
            self._incoming.append(bytes(self._fragments))
            self._fragments.clear()
        else:
            self._check_rate(frame)

    def _receive_control(self, frame: Frame) -> None:
        self._check_rate(frame)
        size = len(frame.data) + _CONTROL_BYTES
        self._unread_pong_bytes = self._unread_pong_bytes + size if self.congested else 0
        if self._unread_pong_bytes > self._limits.unread_answer_bytes:
            self._refuse(CloseCode.POLICY_VIOLATION, "the other side keeps sending pings and doesn't read the answers")

    def _check_rate(self, frame: Frame) -> None:
        """Limits the rate of pings and fragments, which never reach the peer's limiter: they carry no whole frame."""
        if self._side_limiter.charge(len(frame.data)) > 0:
            self._refuse(CloseCode.POLICY_VIOLATION, "the other side floods the connection with pings or fragments")

    def _refuse(self, code: CloseCode, sentence: str) -> None:
        self._protocol.fail(code, sentence)
        self._end(MalformedFrame(sentence))

    def _deliver(self) -> None:
        while self._incoming and self._on_frame is not None and not self._paused and not self._closed:
            self._on_frame(self._incoming.popleft())
        if self._closed:
            return
        if self._ended and self._on_closed is not None and not self._paused:
            self.close()
            self._on_closed(self._error)
            return
        self._read_on()

    def _read_on(self) -> None:
        """Reads while frames are wanted, and after closing, when data is discarded up to the close frame."""
        should_read = self._closed or not (self._ended or self._paused or self._on_frame is None)
        if self._socket.is_closing() or self._socket.is_reading() == should_read:
            return
        if should_read:
            self._socket.resume_reading()
        else:
            self._socket.pause_reading()

    def _flush(self) -> None:
        self._unwritten_bytes = 0
        write_out(self._protocol, self._socket)

    def _send_heartbeat(self) -> None:
        excused = self._received_data or not self._socket.is_reading()
        self._silent_beats = 0 if excused else self._silent_beats + 1
        self._received_data = False
        if self._silent_beats == _HEARTBEATS_PER_TIMEOUT - 1:
            silence = self._beat_every * self._silent_beats
            self._end(TimeoutError(f"the other side has vanished: nothing came from it for {silence:g} seconds"))
            self._socket.abort()
            return
        self._protocol.send_ping(b"")
        self._flush()
        self._pulse = self._loop.call_later(self._beat_every, self._send_heartbeat)

    def _end(self, error: Exception | None) -> None:
        if not self._ended:
            self._ended, self._error = True, error
            self._pulse.cancel()

    def _close(self, code: CloseCode, reason: str) -> None:
        if self._closed:
            return
        if self._protocol.state is OPEN:
            self._protocol.send_close(code, reason)
        self._flush()
        self._closed = True
        self._end(None)
        self._incoming.clear()
        self._writable.set()
        self._read_on()
        if not self._disconnected.is_set():
            self._linger = self._loop.call_later(_LINGER_SECONDS, self._socket.abort)


def write_out(protocol: Protocol, socket: asyncio.Transport) -> None:
    """Writes the protocol's pending output to the socket, in one write."""
    pieces = protocol.data_to_send()
    if not pieces or socket.is_closing():
        return
    socket.write(b"".join(pieces))
    if pieces[-1] == SEND_EOF:
        if socket.can_write_eof():
            socket.write_eof()
        else:
            socket.close()


def _for_side_traffic(limits: WireLimits) -> WireLimits:
    """Returns limits with at least the default rates: after a long pause, all pings of that time arrive together."""
    return replace(
        limits,
        frames_per_second=max(limits.frames_per_second, DEFAULT_LIMITS.frames_per_second),
        bytes_per_second=max(limits.bytes_per_second, DEFAULT_LIMITS.bytes_per_second),
    )


def _bound_unsent_bytes(socket: asyncio.Transport) -> None:
    option = getattr(sockets, "TCP_NOTSENT_LOWAT", None)
    if option is not None:
        socket.get_extra_info("socket").setsockopt(sockets.IPPROTO_TCP, option, _UNSENT_BYTES)
