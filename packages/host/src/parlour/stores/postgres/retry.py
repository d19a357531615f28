"""Limits how often and how long an operation is repeated."""

import asyncio

FIRST_PAUSE_SECONDS = 0.02
MAX_PAUSE_SECONDS = 1.0


class RetryWindow:
    """Pauses of growing length, and a time after which another attempt makes no sense."""

    def __init__(self, seconds: float) -> None:
        self._loop = asyncio.get_running_loop()
        self._deadline = self._loop.time() + seconds
        self._next = FIRST_PAUSE_SECONDS

    def is_expired(self) -> bool:
        return self._loop.time() >= self._deadline

    async def pause(self) -> None:
        await asyncio.sleep(self._next)
        self._next = min(2 * self._next, MAX_PAUSE_SECONDS)
