"""Paces the lines that are sent: a burst, and then one line per interval, because servers disconnect who floods."""

import asyncio

from parlour.core.platforms.port import PlatformRefused

BURST_LINES = 4
MAX_WAIT_SECONDS = 40.0
"""Seconds that a message waits for its lines; less than delivery waits for a send."""


class LinePacer:
    """The flood limit of one connection."""

    def __init__(self, interval: float) -> None:
        self._interval = interval
        self._free_at = 0.0
        self._waiting = 0

    def reserve(self, lines: int) -> None:
        """Counts lines that are going to be sent. Raises PlatformRefused if they would have to wait for too long."""
        seconds = self._backlog() + (self._waiting + lines) * self._interval
        if seconds > MAX_WAIT_SECONDS and self._waiting:
            reason = "many lines are waiting, and the flood limit of IRC lets few through"
            raise PlatformRefused(reason, retry_after=self._waiting * self._interval, account_wide=True)
        self._waiting += lines

    def release(self, lines: int) -> None:
        self._waiting -= lines

    async def take(self) -> None:
        """Waits until the next line may be sent."""
        delay = self._backlog()
        self._free_at = max(self._free_at, self._now() - (BURST_LINES - 1) * self._interval) + self._interval
        if delay > 0:
            await asyncio.sleep(delay)

    def _backlog(self) -> float:
        return max(0.0, self._free_at - self._now())

    def _now(self) -> float:
        return asyncio.get_running_loop().time()
