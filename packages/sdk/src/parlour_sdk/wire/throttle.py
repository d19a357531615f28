"""How fast one connection may be read. Counts only; pausing the transport is the peer's part."""

from collections.abc import Callable
from typing import Final

from parlour_sdk.wire.limits import Limits

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

    def charge(self, size: int) -> float:
        """Count one frame; the seconds for which reading must pause, 0 while it is within the cap."""
        now = self._clock()
        # Comparisons instead of max: this runs for every frame.
        frames, bytes_ = self._frames_empty_at, self._bytes_empty_at
        self._frames_empty_at = frames = (frames if frames > now else now) + self._seconds_per_frame
        self._bytes_empty_at = bytes_ = (bytes_ if bytes_ > now else now) + self._seconds_per_byte * size
        over = (frames if frames > bytes_ else bytes_) - now - _BURST
        return over + _REST if over > 0 else 0.0
