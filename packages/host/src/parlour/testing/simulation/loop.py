"""An event loop on virtual time that picks the next callback with a seeded random generator."""

import asyncio
import heapq
import random
from collections import deque
from concurrent.futures import ThreadPoolExecutor
from typing import Any

OUT_OF_ORDER = 0.3
"""Probability that another callback than the oldest ready one runs next."""


class Stuck(Exception):
    """Says that nothing is ready or scheduled, so a task would wait endlessly."""


class SeededLoop(asyncio.BaseEventLoop):
    _ready: deque[Any]
    _scheduled: list[Any]
    _default_executor: ThreadPoolExecutor | None

    def __init__(self, dice: random.Random, now: float) -> None:
        super().__init__()
        self._dice = dice
        self._now = now
        self.set_exception_handler(self._remember)
        self.failures: list[dict[str, Any]] = []

    def time(self) -> float:
        return self._now

    def _remember(self, loop: asyncio.AbstractEventLoop, context: dict[str, Any]) -> None:
        self.failures.append(context)

    def _run_once(self) -> None:
        """Runs one callback per turn; time jumps to the next timer when nothing is ready."""
        ready, scheduled = self._ready, self._scheduled
        while scheduled and (scheduled[0].cancelled() or scheduled[0].when() <= self._now):
            timer = heapq.heappop(scheduled)
            timer._scheduled = False
            if not timer.cancelled():
                ready.append(timer)
        if not ready:
            if not scheduled:
                raise Stuck
            self._now = scheduled[0].when()
            return
        position = self._dice.randrange(len(ready)) if self._dice.random() < OUT_OF_ORDER else 0
        handle = ready[position]
        del ready[position]
        if not handle.cancelled():
            handle._run()

    async def shutdown_default_executor(self, timeout: float | None = None) -> None:
        """Waits for threads without the loop, for which their end would be no event."""
        if self._default_executor is not None:
            self._default_executor.shutdown(wait=True)

    def _process_events(self, event_list: Any) -> None: ...

    def _write_to_self(self) -> None: ...
