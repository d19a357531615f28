"""The adapter on a link in memory, with the simulator on the other side of real HTTP."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

import pytest

from parlour.core.backoff import Backoff
from parlour.platforms.telegram.adapter import TelegramAdapter
from parlour.testing.memory_link import MemoryLink
from parlour.testing.telegram_simulator import Simulator


class Bot:
    """A served adapter and its Telegram."""

    def __init__(self, simulator: Simulator, url: str, **config: Any) -> None:
        self.simulator = simulator
        self.link = MemoryLink({"token": simulator.token, "mode": "polling", "api_base_url": url, **config})
        self.adapter = TelegramAdapter(self.link, Backoff(0.01))
        self.api = self.adapter.api()

    @asynccontextmanager
    async def served(self, state: str = "connected") -> AsyncIterator["Bot"]:
        work = asyncio.create_task(self.adapter.serve())
        self.link.watch(work)
        try:
            await self.link.until(lambda: self.link.now[0] == state or work.done())
            yield self
        finally:
            work.cancel()
            await asyncio.wait([work])
            if not work.cancelled() and (error := work.exception()) is not None:
                raise error


@pytest.fixture
async def simulator() -> Simulator:
    return Simulator()


@pytest.fixture
async def url(simulator: Simulator) -> AsyncIterator[str]:
    async with simulator.listening() as url:
        yield url


@pytest.fixture
async def bot(simulator: Simulator, url: str) -> AsyncIterator[Bot]:
    simulator.world.person(1, "Ann")
    async with Bot(simulator, url).served() as bot:
        yield bot
