"""Takes events in: in order within a chat, side by side across chats, and only so many at once.

A commit is shared by those who wait for it at the same time, so chats must not wait for each other.
"""

import asyncio
import logging
from collections import deque
from collections.abc import Awaitable, Callable, Hashable
from typing import Generic, TypeVar

from parlour.core.journal import StorageFailed

logger = logging.getLogger(__name__)

MOST = 512
"""Events that wait or are being taken; whoever brings more waits, and with it its connection."""
STORAGE_RETRY_SECONDS = 1.0
Item = TypeVar("Item")


class Intake(Generic[Item]):
    def __init__(self, take: Callable[[Item], Awaitable[None]], most: int = MOST) -> None:
        self._take = take
        self._room = asyncio.Semaphore(most)
        self._waiting: dict[Hashable, deque[Item]] = {}
        self._tasks: set[asyncio.Task[None]] = set()

    async def put(self, key: Hashable, item: Item) -> None:
        await self._room.acquire()
        waiting = self._waiting.get(key)
        if waiting is not None:
            waiting.append(item)
            return
        self._waiting[key] = deque((item,))
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
                try:
                    await self._take(waiting[0])
                except StorageFailed as error:
                    logger.error("an event of %s waits for the database: %s", key, error.message)
                    await asyncio.sleep(STORAGE_RETRY_SECONDS)
                    continue
                except Exception:  # one event that can't be taken harms no other
                    logger.exception("an event of %s was not taken", key)
                waiting.popleft()
                self._room.release()
        finally:
            del self._waiting[key]
