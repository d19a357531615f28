"""Tracks the sends whose acknowledgement is pending, for each bot.

If the bot were stopped before that, their outcome would stay unknown.
"""

import asyncio
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager, suppress

DRAIN_TIMEOUT_SECONDS = 1.0
"""Seconds for which a stopping bot waits for the acknowledgement of its sends."""


class InFlightSends:
    """Counts the unacknowledged sends of each bot."""

    def __init__(self) -> None:
        self._sends: Counter[str] = Counter()
        self._ends: dict[str, asyncio.Event] = {}

    @contextmanager
    def track(self, bot_id: str) -> Iterator[None]:
        """Counts a send as pending within the `with` block, which ends when the platform has answered."""
        self._sends[bot_id] += 1
        try:
            yield
        finally:
            self._sends[bot_id] -= 1
            if not self._sends[bot_id]:
                del self._sends[bot_id]
                self._ends.pop(bot_id, asyncio.Event()).set()

    async def wait_until_idle(self, bot_id: str) -> None:
        """Waits until all sends of the bot are answered, or until the time limit has passed."""
        if bot_id not in self._sends:
            return
        end = self._ends.setdefault(bot_id, asyncio.Event())
        with suppress(TimeoutError):
            async with asyncio.timeout(DRAIN_TIMEOUT_SECONDS):
                await end.wait()
