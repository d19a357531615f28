"""Messages of one line go to their platform single file, for as long as it answers at once.

A kill leaves open what was with a platform and not answered for: one message at most, if they go one by one. Where that
would cost more than it spares, they go side by side: a crowd, and everybody where the platform takes its time.
"""

import asyncio
from collections import deque
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

AT_ONCE_SECONDS = 0.05
CROWD = 24
"""So many don't wait for each other."""
Turn = asyncio.Future[None]


class SingleFile:
    def __init__(self) -> None:
        self._lines: dict[str, Line] = {}

    @asynccontextmanager
    async def turn(self, name: str) -> AsyncIterator[None]:
        """Until the platform has answered. Without a name nobody is waited for."""
        if not name:
            yield
            return
        line = self._lines.get(name) or self._lines.setdefault(name, Line())
        turn = line.join()
        try:
            await turn
            began = _now()
            yield
        except BaseException:
            line.leave(turn)
            raise
        line.leave(turn, _now() - began)


class Line:
    def __init__(self) -> None:
        self._waiting: deque[Turn] = deque()
        self._latest: Turn | None = None
        """Who went last, until that is answered; whoever went before is not waited for."""
        self._moved_at = 0.0
        self._slow = False
        """Whether the platform took its time of late."""
        self._impatience: asyncio.TimerHandle | None = None

    def join(self) -> Turn:
        """Done when it may go; to be left in any case."""
        turn: Turn = asyncio.get_running_loop().create_future()
        self._waiting.append(turn)
        self._move()
        return turn

    def leave(self, turn: Turn, took: float | None = None) -> None:
        """`took` are the seconds until it was answered, if it was."""
        if took is not None:
            self._slow = took > AT_ONCE_SECONDS
        if turn is self._latest:
            self._latest = None
        self._move()

    def _move(self) -> None:
        together = self._slow or len(self._waiting) >= CROWD
        while self._waiting and (together or self._latest is None):
            turn = self._waiting.popleft()
            if not turn.done():  # it is, if whoever waited gave up
                self._latest, self._moved_at = turn, _now()
                turn.set_result(None)
        if self._waiting and self._impatience is None:
            at = self._moved_at + AT_ONCE_SECONDS
            self._impatience = asyncio.get_running_loop().call_at(at, self._look)

    def _look(self) -> None:
        """Nobody waits for long for an answer that does not come."""
        self._impatience = None
        if self._waiting and _now() >= self._moved_at + AT_ONCE_SECONDS:
            self._slow = True
        self._move()


def _now() -> float:
    return asyncio.get_running_loop().time()
