"""Polls for a change by another process that sends no notification."""

import asyncio
import time
from collections.abc import Awaitable, Callable


def eventually(condition: Callable[[], bool], seconds: float = 20) -> None:
    deadline = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < deadline, f"not within {seconds:g} s"
        time.sleep(0.01)


async def until(condition: Callable[[], Awaitable[bool]], seconds: float = 20) -> None:
    """Waits for a change that has to be asked for."""
    async with asyncio.timeout(seconds):
        while True:
            if await condition():
                return
            await asyncio.sleep(0.01)
