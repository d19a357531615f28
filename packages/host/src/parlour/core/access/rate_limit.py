"""Token buckets on the event loop's clock: one that refuses what is too much, one that has it wait."""

import asyncio


class Rate:
    def __init__(self, per_second: float, burst: float) -> None:
        self._per_second = per_second
        self._burst = burst
        self._tokens = burst
        self._filled_at = asyncio.get_running_loop().time()

    def take(self) -> bool:
        now = asyncio.get_running_loop().time()
        self._tokens = min(self._burst, self._tokens + (now - self._filled_at) * self._per_second)
        self._filled_at = now
        if self._tokens < 1:
            return False
        self._tokens -= 1
        return True


LONGEST_SECONDS = 0.25


class Spacing:
    """A few at once, the others one after the other, so that a crowd leaves room for everybody else's work between."""

    def __init__(self, per_second: float, at_once: float) -> None:
        self._per_second = per_second
        self._at_once = at_once
        self._free = at_once
        self._looked_at = asyncio.get_running_loop().time()

    def wait(self) -> float:
        """Seconds until the one who asks may begin; it counts as begun then. Nobody waits for those who gave up."""
        now = asyncio.get_running_loop().time()
        free = min(self._at_once, self._free + (now - self._looked_at) * self._per_second) - 1
        self._free = max(free, -LONGEST_SECONDS * self._per_second)
        self._looked_at = now
        return max(0.0, -self._free / self._per_second)
