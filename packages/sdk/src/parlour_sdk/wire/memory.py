"""A pair of transports in one event loop, for tests and simulation; deterministic, since it uses only `call_soon`."""

import asyncio
from collections import deque

from parlour_sdk.wire.transport import OnClosed, OnFrame, Transport

HIGH_WATER_BYTES = 256 * 1024


def memory_pair(high_water: int = HIGH_WATER_BYTES) -> tuple[Transport, Transport]:
    """Returns two connected transports: each receives what the other sends."""
    left, right = MemoryTransport(high_water), MemoryTransport(high_water)
    left.connect(right)
    right.connect(left)
    return left, right


class MemoryTransport:
    """One end of a pair; its inbox is the other end's write buffer."""

    def __init__(self, high_water: int) -> None:
        self._high_water = high_water
        self._peer: MemoryTransport = self
        self._inbox: deque[bytes] = deque()
        self._inbox_bytes = 0
        self._writable = asyncio.Event()
        self._writable.set()
        self._on_frame: OnFrame | None = None
        self._on_closed: OnClosed | None = None
        self._scheduled = False
        self._paused = False
        self._closed = False

    def connect(self, peer: "MemoryTransport") -> None:
        self._peer = peer

    def start(self, on_frame: OnFrame, on_closed: OnClosed) -> None:
        self._on_frame, self._on_closed = on_frame, on_closed
        self._schedule()

    def send(self, frame: bytes) -> None:
        if not self._closed:
            self._peer._accept(frame)

    @property
    def congested(self) -> bool:
        return not self._writable.is_set()

    async def drain(self) -> None:
        while not self._writable.is_set():
            await self._writable.wait()

    def pause(self) -> None:
        self._paused = True

    def resume(self) -> None:
        self._paused = False
        self._schedule()

    def close(self, refusal: str = "") -> None:
        if self._closed:
            return
        self._closed = True
        self._inbox.clear()
        self._writable.set()
        self._peer._writable.set()
        self._peer._schedule()

    def _accept(self, frame: bytes) -> None:
        if self._closed:
            return
        self._inbox.append(frame)
        self._inbox_bytes += len(frame)
        if self._inbox_bytes > self._high_water:
            self._peer._writable.clear()
        self._schedule()

    def _schedule(self) -> None:
        if self._on_frame is not None and not self._scheduled:
            self._scheduled = True
            asyncio.get_running_loop().call_soon(self._deliver)

    def _deliver(self) -> None:
        self._scheduled = False
        assert self._on_frame is not None
        while self._inbox and not self._paused:
            frame = self._inbox.popleft()
            self._inbox_bytes -= len(frame)
            self._on_frame(frame)
        if self._inbox_bytes <= self._high_water:
            self._peer._writable.set()
        if self._peer._closed and not self._inbox and not self._paused and not self._closed:
            self._closed = True
            self._writable.set()
            assert self._on_closed is not None
            self._on_closed(None)
