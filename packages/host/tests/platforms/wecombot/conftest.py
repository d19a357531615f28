"""The adapter on a link in memory, with the simulated WeCom on the other side of a real connection."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

import pytest

from parlour.core.backoff import Backoff
from parlour.platforms.wecombot.adapter import WecomBotAdapter
from parlour.platforms.wecombot.api import WecomBotApi
from parlour.testing.memory_link import MemoryLink
from parlour.testing.wecombot_simulator import WecomBotSimulator
from parlour.testing.wecombot_simulator.simulator import BOT, NAME, SECRET


class Bot:
    """A served adapter and its WeCom."""

    def __init__(self, simulator: WecomBotSimulator, url: str, **config: Any) -> None:
        self.simulator = simulator
        self.link = MemoryLink({"bot_id": BOT, "secret": SECRET, "robot_name": NAME, "ws_url": url, **config})
        self.adapter = WecomBotAdapter(self.link, Backoff(0.01))

    @property
    def api(self) -> WecomBotApi:
        return self.adapter.api()

    async def hear(self, text: str, user_id: str = "ann") -> None:
        """Lets a user write, and waits until the message is stored."""
        number = len(self.link.incoming)
        await self.simulator.say(text, user_id)
        await self.link.events(number + 1)

    @asynccontextmanager
    async def served(self, state: str = "connected") -> AsyncIterator["Bot"]:
        """Serves the adapter until the end of the block, which begins in this state of the connection."""
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
async def simulator() -> WecomBotSimulator:
    return WecomBotSimulator()


@pytest.fixture
async def url(simulator: WecomBotSimulator) -> AsyncIterator[str]:
    async with simulator.listening() as url:
        yield url


@pytest.fixture
async def bot(simulator: WecomBotSimulator, url: str) -> AsyncIterator[Bot]:
    async with Bot(simulator, url).served() as bot:
        yield bot
