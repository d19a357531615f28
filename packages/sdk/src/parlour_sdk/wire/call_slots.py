"""Slots for concurrent calls, first come first served; just a counter while slots are free, which is the usual case."""

import asyncio
from collections import deque


class CallSlots:
    def __init__(self, count: int) -> None:
        self._free = count
        self._waiting: deque[asyncio.Future[None]] = deque()

    def try_acquire(self) -> bool:
        """Takes a free slot; returns False if there is none. Waiting callers are served before new ones."""
        if self._free == 0:
            return False
        self._free -= 1
        return True

    async def acquire(self) -> None:
        if self.try_acquire():
            return
        turn: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        self._waiting.append(turn)
        try:
            await turn
        except asyncio.CancelledError:
            if turn.done() and not turn.cancelled():  # the slot was assigned at the same moment
                self.release()
            raise

    def release(self) -> None:
        """Passes the slot directly to the next waiting caller, so that no new caller can overtake it."""
        while self._waiting:
            turn = self._waiting.popleft()
            if not turn.done():
                turn.set_result(None)
                return
        self._free += 1
