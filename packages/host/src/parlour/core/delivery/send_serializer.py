"""Sends the messages of one account one after another, as long as the platform acknowledges them quickly.

A kill leaves every send without acknowledgement uncertain; serialized, that is at most one message. Sends run in
parallel where waiting would cost more: if many wait, or if the platform is slow.
"""

import asyncio
from collections import deque
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

FAST_RESPONSE_SECONDS = 0.05
"""Seconds within which a platform counts as fast; a later acknowledgement switches to parallel sends."""
PARALLEL_THRESHOLD = 24
"""Number of waiting sends from which on they are started in parallel."""
SendTurn = asyncio.Future[None]


class SendSerializer:
    """Serializes sends by name."""

    def __init__(self) -> None:
        self._lines: dict[str, AccountSendQueue] = {}

    @asynccontextmanager
    async def slot(self, name: str) -> AsyncIterator[None]:
        """Holds a slot until the platform has acknowledged the send. An empty name needs no slot."""
        if not name:
            yield
            return
        line = self._lines.get(name) or self._lines.setdefault(name, AccountSendQueue())
        turn = line.enter()
        try:
            await turn
            started_at = _now()
            yield
        except BaseException:
            line.exit(turn)
            raise
        line.exit(turn, _now() - started_at)


class AccountSendQueue:
    """Serializes the sends of one account as long as its platform acknowledges them fast."""

    def __init__(self) -> None:
        self._queue: deque[SendTurn] = deque()
        self._latest_turn: SendTurn | None = None
        """The send that was started last, until it is acknowledged; earlier ones are not waited for."""
        self._last_start_at = 0.0
        self._is_slow = False
        """True if the last acknowledgement was slow."""
        self._timeout_timer: asyncio.TimerHandle | None = None

    def enter(self) -> SendTurn:
        """Enters the queue. The future is done when the send may start; `exit` must be called in any case."""
        turn: SendTurn = asyncio.get_running_loop().create_future()
        self._queue.append(turn)
        self._advance()
        return turn

    def exit(self, turn: SendTurn, response_seconds: float | None = None) -> None:
        """Leaves the queue. `response_seconds` is the time until the acknowledgement, or None without one."""
        if response_seconds is not None:
            self._is_slow = response_seconds > FAST_RESPONSE_SECONDS
        if turn is self._latest_turn:
            self._latest_turn = None
        self._advance()

    def _advance(self) -> None:
        in_parallel = self._is_slow or len(self._queue) >= PARALLEL_THRESHOLD
        while self._queue and (in_parallel or self._latest_turn is None):
            turn = self._queue.popleft()
            if not turn.done():  # it is done if the waiting task was cancelled
                self._latest_turn, self._last_start_at = turn, _now()
                turn.set_result(None)
        if self._queue and self._timeout_timer is None:
            timeout_at = self._last_start_at + FAST_RESPONSE_SECONDS
            self._timeout_timer = asyncio.get_running_loop().call_at(timeout_at, self._on_timeout)

    def _on_timeout(self) -> None:
        """Starts the waiting sends if the acknowledgement takes too long."""
        self._timeout_timer = None
        if self._queue and _now() >= self._last_start_at + FAST_RESPONSE_SECONDS:
            self._is_slow = True
        self._advance()


def _now() -> float:
    return asyncio.get_running_loop().time()
