"""Token buckets on the event loop's clock: one that refuses calls over the limit, one that delays them."""

import asyncio


class TokenBucket:
    """Token bucket that refuses calls over the limit."""

    def __init__(self, per_second: float, burst: float) -> None:
        self._per_second = per_second
        self._burst = burst
        self._tokens = burst
        self._filled_at = asyncio.get_running_loop().time()

    def try_acquire(self) -> bool:
        """Takes one token. Returns False if the bucket is empty."""
        now = asyncio.get_running_loop().time()
        self._tokens = min(self._burst, self._tokens + (now - self._filled_at) * self._per_second)
        self._filled_at = now
        if self._tokens < 1:
            return False
        self._tokens -= 1
        return True


MAX_DELAY_SECONDS = 0.25
"""Maximum number of seconds by which `PacedBucket` delays a call."""


class PacedBucket:
    """Token bucket that delays calls over the limit.

    A few calls start together and the others one after the other, so that a burst leaves time for other work between.
    """

    def __init__(self, per_second: float, burst: float) -> None:
        self._per_second = per_second
        self._burst = burst
        self._free = burst
        self._updated_at = asyncio.get_running_loop().time()

    def reserve_delay(self) -> float:
        """Returns the seconds that the caller must wait before it starts. The call is counted as started.

        The delay is capped, so that callers that gave up don't delay later ones further.
        """
        now = asyncio.get_running_loop().time()
        free = min(self._burst, self._free + (now - self._updated_at) * self._per_second) - 1
        self._free = max(free, -MAX_DELAY_SECONDS * self._per_second)
        self._updated_at = now
        return max(0.0, -self._free / self._per_second)
