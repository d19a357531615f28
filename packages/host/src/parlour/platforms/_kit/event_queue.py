"""Takes events in: in order within a chat, side by side across chats, and only so many at once.

A commit is shared by those who wait for it at the same time, so chats must not wait for each other. Whoever brings
events must not wait either as long as there is any room: what those that are being taken wait for may come behind.
"""

import asyncio
import logging
from collections import deque
from collections.abc import Awaitable, Callable, Hashable
from typing import Generic, TypeVar

from parlour.core.journal import StorageFailed

logger = logging.getLogger(__name__)

AT_ONCE = 512
"""Events that are being taken."""
MOST = 8192
"""Events that wait or are being taken; whoever brings more waits, and with it its connection."""
MOST_BYTES = 64 * 1024 * 1024
"""The same, by their size."""
STORAGE_RETRY_SECONDS = 1.0
Item = TypeVar("Item")


class Intake(Generic[Item]):
    def __init__(
        self,
        take: Callable[[Item], Awaitable[None]],
        at_once: int = AT_ONCE,
        most: int = MOST,
        most_bytes: int = MOST_BYTES,
    ) -> None:
        self._take = take
        self._turns = asyncio.Semaphore(at_once)
        self._most = most
        self._most_bytes = most_bytes
        self._count = 0
        self._bytes = 0
        self._room = asyncio.Event()
        self._waiting: dict[Hashable, deque[tuple[Item, int]]] = {}
        self._tasks: set[asyncio.Task[None]] = set()

    async def put(self, key: Hashable, item: Item, size: int = 0) -> None:
        """As soon as there is room; one that is larger than all of it is let in where there is any."""
        while self._count >= self._most or self._bytes >= self._most_bytes:
            self._room.clear()
            await self._room.wait()
        self._count += 1
        self._bytes += size
        waiting = self._waiting.get(key)
        if waiting is not None:
            waiting.append((item, size))
            return
        self._waiting[key] = deque(((item, size),))
        task = asyncio.create_task(self._drain(key))
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)

    async def close(self) -> None:
        """Lets go of what is not taken yet."""
        tasks = list(self._tasks)
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)

    async def _drain(self, key: Hashable) -> None:
        waiting = self._waiting[key]
        try:
            while waiting:
                item, size = waiting[0]
                try:
                    async with self._turns:
                        await self._take(item)
                except StorageFailed as error:
                    logger.error("an event of %s waits for the database: %s", key, error.message)
                    await asyncio.sleep(STORAGE_RETRY_SECONDS)
                    continue
                except Exception:  # one event that can't be taken harms no other
                    logger.exception("an event of %s was not taken", key)
                waiting.popleft()
                self._leave(size)
        finally:
            del self._waiting[key]

    def _leave(self, size: int) -> None:
        self._count -= 1
        self._bytes -= size
        self._room.set()
