"""Keeps a run's calls below the Host's limit of 50 per second and bursts of 100, which a fast model would exceed."""

import asyncio

BURST_CALLS = 90
CALLS_PER_SECOND = 45.0


class CallPacer:
    """Counts the calls of one run; it must be created in the event loop that makes them."""

    def __init__(self) -> None:
        self._tokens: float = BURST_CALLS
        self._updated_at = asyncio.get_running_loop().time()

    async def reserve(self, calls: int) -> None:
        """Reserves a number of calls; waits only if there were too many before."""
        now = asyncio.get_running_loop().time()
        self._tokens = min(BURST_CALLS, self._tokens + (now - self._updated_at) * CALLS_PER_SECOND) - calls
        self._updated_at = now
        if self._tokens < 0:
            await asyncio.sleep(-self._tokens / CALLS_PER_SECOND)
