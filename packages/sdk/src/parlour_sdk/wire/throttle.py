"""How fast one connection may be read. Counts only; pausing the transport is the peer's part."""

from collections.abc import Callable
from dataclasses import replace
from math import inf
from typing import Final

from parlour_sdk.wire.limits import Limits

SMALL_BYTES: Final = 256
"""Whatever a frame of this size holds, it costs no more than any other."""
_ELEMENTS_PER_FRAME: Final = 32
"""What an ordinary frame holds at most; one that holds more takes the time of several."""
_EXEMPT_PER_SECOND: Final = 10_000
"""Far more pings, cancels and credit than anybody needs, and few enough to leave time for others."""
_BURST: Final = 0.1
"""Seconds' worth of frames or bytes that may come at once. What comes at once is read at once, and whoever else waits
for the event loop meanwhile waits for all of it."""
_REST: Final = 0.01
"""A pause lasts this much longer than needed, or a flood would pause for every single frame."""


class ReadCap:
    """Two leaky buckets, frames and bytes, kept as the times at which they will have run empty."""

    def __init__(self, limits: Limits, clock: Callable[[], float]) -> None:
        self._clock = clock
        self._seconds_per_frame = 1 / limits.frames_per_second
        self._seconds_per_byte = 1 / limits.bytes_per_second
        self._frames_empty_at = self._bytes_empty_at = clock()

    def charge(self, size: int, frames_worth: int = 1) -> float:
        """Count one frame; the seconds for which reading must pause, 0 while it is within the cap."""
        now = self._clock()
        # Comparisons instead of max: this runs for every frame.
        frames, bytes_ = self._frames_empty_at, self._bytes_empty_at
        self._frames_empty_at = frames = (frames if frames > now else now) + self._seconds_per_frame * frames_worth
        self._bytes_empty_at = bytes_ = (bytes_ if bytes_ > now else now) + self._seconds_per_byte * size
        over = (frames if frames > bytes_ else bytes_) - now - _BURST
        return over + _REST if over > 0 else 0.0


def exempt_cap(limits: Limits, clock: Callable[[], float]) -> ReadCap:
    """For frames that the cap of the others does not slow down."""
    frames = max(limits.frames_per_second, _EXEMPT_PER_SECOND)
    return ReadCap(replace(limits, frames_per_second=frames, bytes_per_second=inf), clock)


def frames_worth(frame: bytes) -> int:
    """How many ordinary frames would take as long: values take time, whether they come in one frame or in many."""
    if len(frame) <= SMALL_BYTES:
        return 1
    return 1 + (frame.count(b",") + frame.count(b"[") + frame.count(b"{")) // _ELEMENTS_PER_FRAME
