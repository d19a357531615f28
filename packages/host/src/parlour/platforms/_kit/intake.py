"""Queues incoming events: in order within a chat, concurrently across chats, with a limit on concurrency and memory.

Events that are stored at the same time share a commit, so chats must not wait for each other. The connection that
submits events must not wait either while there is room: an event that is being handled may depend on a frame behind it.
"""

import asyncio
import logging
from collections import deque
from collections.abc import Awaitable, Callable, Hashable
from functools import partial
from typing import Generic, TypeVar

from parlour.core.asyncio_utils import BackgroundTasks
from parlour.core.journal import retry_on_storage_failure

logger = logging.getLogger(__name__)

CONCURRENCY = 512
"""Default number of events that are handled at the same time."""
MAX_QUEUED_EVENTS = 8192
"""Default number of events that wait or are being handled.

At this limit `submit` blocks, and with it the connection.
"""
MAX_QUEUED_BYTES = 64 * 1024 * 1024
"""Default total size in bytes of the events that wait or are being handled; `submit` blocks at this limit too."""
Item = TypeVar("Item")


class EventQueue(Generic[Item]):
    """Bounded queue of incoming events that are handled in order for each key."""

    def __init__(
        self,
        take: Callable[[Item], Awaitable[None]],
        at_once: int = CONCURRENCY,
        max_events: int = MAX_QUEUED_EVENTS,
        most_bytes: int = MAX_QUEUED_BYTES,
    ) -> None:
        self._handle = take
        self._turns = asyncio.Semaphore(at_once)
        self._max_events = max_events
        self._most_bytes = most_bytes
        self._count = 0
        self._bytes = 0
        self._has_room = asyncio.Event()
        self._queued: dict[Hashable, deque[tuple[Item, int]]] = {}
        self._tasks = BackgroundTasks("the events of a chat are no longer handled")

    async def submit(self, key: Hashable, item: Item, size: int = 0) -> None:
        """Queues an item as soon as there is room.

        An item larger than the whole limit is accepted as soon as the queue is below it.
        """
        while self._count >= self._max_events or self._bytes >= self._most_bytes:
            self._has_room.clear()
            await self._has_room.wait()
        self._count += 1
        self._bytes += size
        queued = self._queued.get(key)
        if queued is not None:
            queued.append((item, size))
            return
        self._queued[key] = deque(((item, size),))
        self._tasks.start(self._drain(key))

    async def close(self) -> None:
        """Cancels the handling of all queued items."""
        await self._tasks.aclose()

    async def _drain(self, key: Hashable) -> None:
        queued = self._queued[key]
        try:
            while queued:
                item, size = queued[0]
                try:
                    await retry_on_storage_failure(partial(self._handle_in_turn, item), f"an event of {key}")
                except Exception:  # one event that fails must not stop the others
                    logger.exception("an event of %s could not be handled", key)
                queued.popleft()
                self._leave(size)
        finally:
            del self._queued[key]

    async def _handle_in_turn(self, item: Item) -> None:
        async with self._turns:
            await self._handle(item)

    def _leave(self, size: int) -> None:
        self._count -= 1
        self._bytes -= size
        self._has_room.set()
