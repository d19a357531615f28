"""The receiving end of a stream: yields parts in order and grants credit as they are consumed.

It sends nothing itself, but calls the functions that it is created with.
"""

import asyncio
from collections import deque
from collections.abc import Callable
from typing import Any

from parlour_sdk.wire.errors import CANCELLED, CREDIT_EXCEEDED, WireError


class WireStream:
    """An async iterator over the parts of one stream, for one consumer at a time.

    Parts that arrived before an error are yielded before it is raised. A cancelled wait leaves the stream unchanged;
    `abort` or `aclose` cancels it on the other side.
    """

    def __init__(self, window: int, grant: Callable[[int], None], cancel: Callable[[], None]) -> None:
        self._grant = grant
        self._cancel = cancel
        self._parts: deque[Any] = deque()
        self._allowed = window  # parts the sender may still send
        self._ungranted = 0  # consumed parts for which no new credit was granted yet
        self._grant_at = max(1, window // 2)
        self._ended = False
        self._aborted = False
        self._failure: BaseException | None = None
        self._waiter: asyncio.Future[None] | None = None

    def __aiter__(self) -> "WireStream":
        return self

    async def __anext__(self) -> Any:
        if not self._parts and not await self._wait_for_parts():
            raise StopAsyncIteration
        part = self._parts.popleft()
        self._acknowledge(1)
        return part

    async def batch(self) -> list[Any]:
        """Returns all parts that have arrived, at least one; [] at the regular end, `WireError` after a failure."""
        if not self._parts and not await self._wait_for_parts():
            return []
        parts = list(self._parts)
        self._parts.clear()
        self._acknowledge(len(parts))
        return parts

    def abort(self, error: BaseException | None = None) -> None:
        """Stops immediately: cancels once on the other side, raises the error at the consumer and drops later parts."""
        if self._aborted:
            return
        self._aborted = True
        self._parts.clear()
        self._failure = error if error is not None else WireError(CANCELLED, "the stream was aborted by its reader")
        if self._ended:
            self._wake()
        else:
            self._end()
            self._cancel()

    async def aclose(self) -> None:
        """Aborts the stream if it has not ended; for `contextlib.aclosing`."""
        if not self._ended:
            self.abort()

    def feed(self, part: Any) -> None:
        """Adds a received part; called by the connection."""
        if self._allowed == 0:
            self.abort(WireError(CREDIT_EXCEEDED, "the sender of the stream sent more parts than it had credit for"))
            return
        self._allowed -= 1
        self._parts.append(part)
        self._wake()

    def finish(self, failure: WireError | None = None) -> None:
        """Marks the stream as ended, regularly or with a failure; called by the connection."""
        if not self._ended:
            self._failure = failure
            self._end()

    async def _wait_for_parts(self) -> bool:
        """Waits for parts; returns False at the regular end."""
        while not self._parts:
            if self._ended:
                if self._failure is not None:
                    raise self._failure
                return False
            if self._waiter is not None:
                raise RuntimeError("a stream has one consumer at a time")
            self._waiter = asyncio.get_running_loop().create_future()
            try:
                await self._waiter
            finally:
                self._waiter = None
        return True

    def _acknowledge(self, count: int) -> None:
        self._ungranted += count
        if self._ungranted >= self._grant_at and not self._ended:
            credit, self._ungranted = self._ungranted, 0
            self._allowed += credit
            self._grant(credit)

    def _end(self) -> None:
        self._ended = True
        self._wake()

    def _wake(self) -> None:
        if self._waiter is not None and not self._waiter.done():
            self._waiter.set_result(None)
