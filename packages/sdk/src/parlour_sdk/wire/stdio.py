"""A transport that sends frames as lines over a pair of file descriptors. The supervisor starts the process."""

import asyncio
from typing import Final, cast

from parlour_sdk.wire.errors import FrameTooLarge
from parlour_sdk.wire.limits import DEFAULT_LIMITS, WireLimits
from parlour_sdk.wire.lines import LineSplitter
from parlour_sdk.wire.pipe import Pipe
from parlour_sdk.wire.transport import OnClosed, OnFrame

HIGH_WATER_BYTES: Final = 256 * 1024
# Frames are joined up to this size only, so that the other process can work on them while we make the next ones. If
# all frames of a loop iteration were joined, two busy processes would wait for each other. Medians of 9 measurements:
# 1.3 times as many calls on asyncio, 1.5 times on uvloop.
_JOINED_BYTES: Final = 2 * 1024
# Received frames handed over per loop iteration, so that a burst of small frames does not block the loop for others.
_FRAMES_PER_TURN: Final = 16
# Seconds that a closing pipe may take to flush, and that reading continues after a write error.
_LINGER_SECONDS: Final = 1.0


class StdioTransport:
    """Joins small frames of one loop iteration into one write, and delivers the frames of one read in few iterations.

    It owns both descriptors (pipes, sockets or terminals) and closes them at the end. They become non-blocking, so a
    process that passes its own stdin and stdout should duplicate them first. It must be created inside a running loop.
    """

    def __init__(self, read_fd: int, write_fd: int, limits: WireLimits = DEFAULT_LIMITS) -> None:
        self._loop = asyncio.get_running_loop()
        self._read_pipe, self._write_pipe = Pipe(read_fd, self._loop), Pipe(write_fd, self._loop)
        self._connecting: asyncio.Task[None] | None = None
        self._lines = LineSplitter(limits.frame_bytes)
        self._outgoing: list[bytes] = []
        self._outgoing_bytes = 0
        self._writable = asyncio.Event()
        self._writable.set()
        self._reader: asyncio.ReadTransport | None = None
        self._writer: asyncio.WriteTransport | None = None
        self._paused = False
        self._reading = True  # tracked here: in early releases of Python 3.11 pipe transports lack `is_reading`
        self._write_failed = False
        self._ended = False  # nothing more will be read
        self._error: BaseException | None = None
        self._closed = False
        self._linger: asyncio.TimerHandle | None = None

    def start(self, on_frame: OnFrame, on_closed: OnClosed) -> None:
        self._on_frame, self._on_closed = on_frame, on_closed
        self._connecting = self._loop.create_task(self._connect())

    def send(self, frame: bytes) -> None:
        if self._closed or self._write_failed:
            return
        if not self._outgoing:
            self._loop.call_soon(self._flush)
        self._outgoing += (frame, b"\n")
        self._outgoing_bytes += len(frame) + 1
        if self._outgoing_bytes >= _JOINED_BYTES:
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
        if self._closed:
            return
        self._flush()
        self._closed = True
        self._writable.set()
        self._lines.complete.clear()
        if self._linger is not None:
            self._linger.cancel()
        if self._connecting is None:
            self._read_pipe.abandon()
            self._write_pipe.abandon()
        if self._reader is not None:
            self._reader.close()
        if self._writer is not None:
            self._close_writer(self._writer)

    async def _connect(self) -> None:
        try:
            await self._loop.connect_write_pipe(lambda: _WriteSide(self), self._write_pipe)
            await self._loop.connect_read_pipe(lambda: _ReadSide(self), self._read_pipe)
        except (OSError, ValueError) as error:
            self._read_pipe.abandon()
            if self._writer is None:
                self._write_pipe.abandon()
            self._end(error)

    def read_opened(self, reader: asyncio.ReadTransport) -> None:
        self._reader = reader
        if self._closed:
            reader.close()

    def data_received(self, chunk: bytes) -> None:
        if self._ended or self._closed:
            return
        try:
            self._lines.feed(chunk)
        except FrameTooLarge as error:
            self._end(error)
        else:
            self._deliver()

    def read_lost(self, error: BaseException | None) -> None:
        self._reader = None
        self._end(error)

    def write_opened(self, writer: asyncio.WriteTransport) -> None:
        self._writer = writer
        writer.set_write_buffer_limits(high=HIGH_WATER_BYTES)
        self._flush()
        if self._closed:
            self._close_writer(writer)

    def write_paused(self) -> None:
        self._writable.clear()

    def write_resumed(self) -> None:
        self._writable.set()

    def write_lost(self, error: BaseException | None) -> None:
        self._writer = None
        self._write_failed = True
        self._outgoing.clear()
        self._writable.set()
        if self._linger is not None:
            self._linger.cancel()
        if not self._closed:  # data that the other side wrote before it closed is still to be read
            self._linger = self._loop.call_later(_LINGER_SECONDS, self._end, error)

    def _flush(self) -> None:
        if self._outgoing and self._writer is not None:
            data = b"".join(self._outgoing)
            self._outgoing.clear()
            self._outgoing_bytes = 0
            self._writer.write(data)

    def _close_writer(self, writer: asyncio.WriteTransport) -> None:
        writer.close()
        self._linger = self._loop.call_later(_LINGER_SECONDS, writer.abort)

    def _deliver(self) -> None:
        complete = self._lines.complete
        remaining = _FRAMES_PER_TURN
        while complete and remaining and not self._paused and not self._closed:
            self._on_frame(complete.popleft())
            remaining -= 1
        if self._closed:
            return
        if complete and not self._paused:
            self._loop.call_soon(self._deliver)
        elif self._ended and not self._paused:
            self.close()
            self._on_closed(self._error)
            return
        self._read_on(not self._paused and not self._ended and not complete)

    def _read_on(self, should_read: bool) -> None:
        if self._reader is None or self._reading == should_read:
            return
        self._reading = should_read
        if should_read:
            self._reader.resume_reading()
        else:
            self._reader.pause_reading()

    def _end(self, error: BaseException | None) -> None:
        if not self._ended:
            self._ended, self._error = True, error
            self._deliver()


class _ReadSide(asyncio.Protocol):
    def __init__(self, owner: StdioTransport) -> None:
        self._owner = owner

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        self._owner.read_opened(cast(asyncio.ReadTransport, transport))

    def data_received(self, data: bytes) -> None:
        self._owner.data_received(data)

    def connection_lost(self, exc: Exception | None) -> None:
        self._owner.read_lost(exc)


class _WriteSide(asyncio.BaseProtocol):
    def __init__(self, owner: StdioTransport) -> None:
        self._owner = owner

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        self._owner.write_opened(cast(asyncio.WriteTransport, transport))

    def pause_writing(self) -> None:
        self._owner.write_paused()

    def resume_writing(self) -> None:
        self._owner.write_resumed()

    def connection_lost(self, exc: Exception | None) -> None:
        self._owner.write_lost(exc)
