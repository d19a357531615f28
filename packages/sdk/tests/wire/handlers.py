"""Provides handlers that the tests of calls share."""

import asyncio
from collections.abc import AsyncGenerator
from typing import Any


async def numbers(count: int) -> AsyncGenerator[int, None]:
    for number in range(count):
        yield number


class Gate:
    """Is a handler that reports its start and answers when the test opens it."""

    def __init__(self) -> None:
        self.started: asyncio.Queue[Any] = asyncio.Queue()
        self.opened = asyncio.Event()
        self.cancelled = 0
        self.running = 0

    async def __call__(self, data: Any) -> Any:
        self.started.put_nowait(data)
        self.running += 1
        try:
            await self.opened.wait()
        except asyncio.CancelledError:
            self.cancelled += 1
            raise
        finally:
            self.running -= 1
        return data
