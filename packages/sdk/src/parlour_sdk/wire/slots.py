"""Places for calls in flight, first come first served: a mere number while there is room, as there nearly always is."""

import asyncio
from collections import deque


class Slots:
    def __init__(self, count: int) -> None:
        self._free = count
        self._waiting: deque[asyncio.Future[None]] = deque()

    def take_now(self) -> bool:
        """False when none is free; whoever waits comes before whoever asks now."""
        if self._free == 0:
            return False
        self._free -= 1
        return True

    async def take(self) -> None:
        if self.take_now():
            return
        turn: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        self._waiting.append(turn)
        try:
            await turn
        except asyncio.CancelledError:
            if turn.done() and not turn.cancelled():  # its turn had come in this very moment
                self.release()
            raise

    def release(self) -> None:
        """To the next who waits, so that nobody can overtake it."""
        while self._waiting:
            turn = self._waiting.popleft()
            if not turn.done():
                turn.set_result(None)
                return
        self._free += 1
