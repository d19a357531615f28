"""Time and ids in production. The simulation brings its own."""

import os
import time

_TAIL_BITS = 74
_POOL_BYTES = 4096


class SystemClock:
    def now(self) -> int:
        return time.time_ns() // 1_000_000


class SystemIds:
    """UUIDv7 whose random tail only grows within a millisecond, so that ids of one process sort as they were made."""

    def __init__(self) -> None:
        self._stamp = 0
        self._tail = 0
        self._pool = b""
        self._used = _POOL_BYTES

    def new(self) -> str:
        stamp = time.time_ns() // 1_000_000
        if stamp > self._stamp:
            self._stamp, self._tail = stamp, self._random(9) >> 1  # the top bits stay free to grow into
        else:
            self._tail += 1 + self._random(4)
        return compose(self._stamp, self._tail)

    def _random(self, size: int) -> int:
        """The kernel is asked for many at once: an id costs a microsecond, not ten."""
        start = self._used
        if start + size > len(self._pool):
            self._pool, start = os.urandom(_POOL_BYTES), 0
        self._used = start + size
        return int.from_bytes(self._pool[start : self._used])


def compose(stamp: int, tail: int) -> str:
    """A UUIDv7 from milliseconds and up to 74 bits."""
    if tail >> _TAIL_BITS:
        raise ValueError("the tail of an id has at most 74 bits")
    value = stamp << 80 | 0x7 << 76 | (tail >> 62) << 64 | 0b10 << 62 | tail & (1 << 62) - 1
    digits = f"{value:032x}"
    return f"{digits[:8]}-{digits[8:12]}-{digits[12:16]}-{digits[16:20]}-{digits[20:]}"
