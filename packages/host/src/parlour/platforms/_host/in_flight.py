"""Which bots wait for their platform to answer. One that is stopped meanwhile would never hear what became of it."""

import asyncio
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager, suppress

PATIENCE_SECONDS = 1.0
"""As long as what was sent is waited for when the Host stops."""


class UnderWay:
    def __init__(self) -> None:
        self._sends: Counter[str] = Counter()
        self._ends: dict[str, asyncio.Event] = {}

    @contextmanager
    def sending(self, bot_id: str) -> Iterator[None]:
        """Held until the platform has answered."""
        self._sends[bot_id] += 1
        try:
            yield
        finally:
            self._sends[bot_id] -= 1
            if not self._sends[bot_id]:
                del self._sends[bot_id]
                self._ends.pop(bot_id, asyncio.Event()).set()

    async def over(self, bot_id: str) -> None:
        """Returns when all is answered, or is not in time."""
        if bot_id not in self._sends:
            return
        end = self._ends.setdefault(bot_id, asyncio.Event())
        with suppress(TimeoutError):
            async with asyncio.timeout(PATIENCE_SECONDS):
                await end.wait()
