"""Limits the rate at which one connection is read. It only counts; the peer pauses the transport."""

from collections.abc import Callable
from dataclasses import replace
from math import inf
from typing import Final

from parlour_sdk.wire.limits import WireLimits

SMALL_FRAME_BYTES: Final = 256
"""Frames up to this size count as one, whatever they contain."""
_ELEMENTS_PER_FRAME: Final = 32
"""Elements of an ordinary frame; a frame with more is charged as several frames."""
_EXEMPT_FRAMES_PER_SECOND: Final = 10_000
"""Pings, cancels and credit frames per second: far more than any peer needs, and few enough not to block others."""
_BURST_SECONDS: Final = 0.1
"""Seconds of the rate that may arrive as one burst. A burst is read without a pause, and other users of the event loop
wait until all of it is read."""
_EXTRA_PAUSE_SECONDS: Final = 0.01
"""Seconds added to each pause, so that a flood does not cause a pause for every single frame."""


class ReadLimiter:
    """Two leaky buckets, for frames and bytes, stored as the times at which they will be empty."""

    def __init__(self, limits: WireLimits, clock: Callable[[], float]) -> None:
        self._clock = clock
        self._seconds_per_frame = 1 / limits.frames_per_second
        self._seconds_per_byte = 1 / limits.bytes_per_second
        self._frames_empty_at = self._bytes_empty_at = clock()

    def charge(self, size: int, frames_worth: int = 1) -> float:
        """Counts one frame; returns the seconds for which reading must pause, 0 within the limit."""
        now = self._clock()
        # Comparisons are faster than max, and this runs for every frame.
        frames, bytes_ = self._frames_empty_at, self._bytes_empty_at
        self._frames_empty_at = frames = (frames if frames > now else now) + self._seconds_per_frame * frames_worth
        self._bytes_empty_at = bytes_ = (bytes_ if bytes_ > now else now) + self._seconds_per_byte * size
        excess = (frames if frames > bytes_ else bytes_) - now - _BURST_SECONDS
        return excess + _EXTRA_PAUSE_SECONDS if excess > 0 else 0.0


def exempt_limiter(limits: WireLimits, clock: Callable[[], float]) -> ReadLimiter:
    """Creates the limiter of frames that are exempt from the main limit."""
    frames = max(limits.frames_per_second, _EXEMPT_FRAMES_PER_SECOND)
    return ReadLimiter(replace(limits, frames_per_second=frames, bytes_per_second=inf), clock)


def count_as_frames(frame: bytes) -> int:
    """Returns the number of ordinary frames that take as long to decode, since the time depends on the values."""
    if len(frame) <= SMALL_FRAME_BYTES:
        return 1
    return 1 + (frame.count(b",") + frame.count(b"[") + frame.count(b"{")) // _ELEMENTS_PER_FRAME
