"""The clock and the id generator of production. The simulation has its own."""

import os
import time

_TAIL_BITS = 74
_POOL_BYTES = 4096


class SystemClock:
    """Reads the system's time in epoch milliseconds."""

    def now(self) -> int:
        return time.time_ns() // 1_000_000


class SystemIds:
    """Generates UUIDv7 ids. The random tail only grows within a millisecond, so ids of one process sort by creation."""

    def __init__(self) -> None:
        self._timestamp = 0
        self._tail = 0
        self._pool = b""
        self._pool_position = _POOL_BYTES

    def new(self) -> str:
        timestamp = time.time_ns() // 1_000_000
        if timestamp > self._timestamp:
            self._timestamp, self._tail = timestamp, self._random(9) >> 1  # the top bit is left free for increments
        else:
            self._tail += 1 + self._random(4)
        return make_uuid7(self._timestamp, self._tail)

    def _random(self, size: int) -> int:
        """Returns a random number of `size` bytes from a pool, which is read in one call.

        An id then costs one microsecond instead of ten.
        """
        start = self._pool_position
        if start + size > len(self._pool):
            self._pool, start = os.urandom(_POOL_BYTES), 0
        self._pool_position = start + size
        return int.from_bytes(self._pool[start : self._pool_position])


def make_uuid7(timestamp: int, tail: int) -> str:
    """Builds a UUIDv7 from epoch milliseconds and a tail of up to 74 bits."""
    if tail >> _TAIL_BITS:
        raise ValueError("the tail of an id has at most 74 bits")
    value = timestamp << 80 | 0x7 << 76 | (tail >> 62) << 64 | 0b10 << 62 | tail & (1 << 62) - 1
    digits = f"{value:032x}"
    return f"{digits[:8]}-{digits[8:12]}-{digits[12:16]}-{digits[16:20]}-{digits[20:]}"
