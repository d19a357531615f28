"""A token bucket on the event loop's clock."""

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
