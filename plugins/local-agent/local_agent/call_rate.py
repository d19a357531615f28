"""Keeps a run's calls below the Host's limit of 50 per second and bursts of 100, which a fast model would exceed."""

import asyncio

BURST_CALLS = 90
CALLS_PER_SECOND = 45.0


class CallPacer:
    def __init__(self) -> None:
        self._left: float = BURST_CALLS
        self._at = asyncio.get_running_loop().time()

    async def reserve(self, calls: int) -> None:
        """Reserves a number of calls; waits only if there were too many before."""
        now = asyncio.get_running_loop().time()
        self._left = min(BURST_CALLS, self._left + (now - self._at) * CALLS_PER_SECOND) - calls
        self._at = now
        if self._left < 0:
            await asyncio.sleep(-self._left / CALLS_PER_SECOND)
