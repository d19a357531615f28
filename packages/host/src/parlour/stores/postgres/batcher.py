"""Collects items and processes them in batches, one batch at a time; items that arrive during a batch form the next."""

import asyncio
from collections import deque
from collections.abc import Awaitable, Callable
from typing import Generic, Protocol, TypeVar

MAX_BATCH_ITEMS = 64
"""Maximum number of items per batch. Each is a subtransaction, and PostgreSQL caches this many of a transaction."""
MAX_BATCH_CHARACTERS = 4 * 1024 * 1024


class Encoded(Protocol):
    text: str


Item = TypeVar("Item", bound=Encoded)


class Batcher(Generic[Item]):
    """Calls `carry_out` with each batch; it must not raise."""

    def __init__(self, carry_out: Callable[[list[Item]], Awaitable[None]]) -> None:
        self._execute = carry_out
        self._pending: deque[Item] = deque()
        self._awake = asyncio.Event()
        self._task: asyncio.Task[None]
        self.finishing = False

    def start(self) -> None:
        self._task = asyncio.create_task(self._run())

    def submit(self, item: Item) -> None:
        self._pending.append(item)
        self._awake.set()

    def withdraw(self) -> list[Item]:
        """Removes and returns all waiting items."""
        pending = list(self._pending)
        self._pending.clear()
        return pending

    async def finish(self) -> None:
        """Waits until all submitted items are done. Nothing may be submitted afterwards."""
        self.finishing = True
        self._awake.set()
        await self._task

    async def _run(self) -> None:
        while self._pending or not self.finishing:
            if self._pending:
                await self._execute(self._next())
            else:
                self._awake.clear()
                await self._awake.wait()

    def _next(self) -> list[Item]:
        batch = [self._pending.popleft()]
        characters = len(batch[0].text)
        while self._pending and len(batch) < MAX_BATCH_ITEMS:
            characters += len(self._pending[0].text)
            if characters > MAX_BATCH_CHARACTERS:
                break
            batch.append(self._pending.popleft())
        return batch
