"""The adapter on a link in memory, with the simulated Discord on the other side of real connections."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

import pytest

from parlour.core.backoff import Backoff
from parlour.platforms.discord.adapter import DiscordAdapter
from parlour.platforms.discord.api import DiscordApi
from parlour.testing.discord_simulator import DiscordSimulator
from parlour.testing.memory_link import MemoryLink


class Bot:
    """A served adapter and its Discord."""

    def __init__(self, simulator: DiscordSimulator, url: str, cursor: str | None = None, **config: Any) -> None:
        self.simulator = simulator
        self.link = MemoryLink({"token": simulator.token, "api_base_url": url, **config})
        self.link.stored_cursor = cursor
        self.adapter = DiscordAdapter(self.link, Backoff(0.01))

    @property
    def api(self) -> DiscordApi:
        return self.adapter.api()

    @asynccontextmanager
    async def served(self) -> AsyncIterator["Bot"]:
        work = asyncio.create_task(self.adapter.serve())
        try:
            await self.link.until(lambda: self.link.now[0] == "connected")
            yield self
        finally:
            work.cancel()
            await asyncio.wait([work])
            if not work.cancelled() and (error := work.exception()) is not None:
                raise error

    def texts(self) -> list[str]:
        """Returns the texts of the messages that came in."""
        chains = [getattr(each.event, "message_chain", ()) for each in self.link.incoming]
        return [part.text for chain in chains for part in chain if part.type == "Plain"]

    async def heard(self, text: str) -> None:
        await self.link.until(lambda: text in self.texts())


@pytest.fixture
async def simulator() -> DiscordSimulator:
    return DiscordSimulator()


@pytest.fixture
async def url(simulator: DiscordSimulator) -> AsyncIterator[str]:
    async with simulator.listening() as url:
        yield url


@pytest.fixture
async def bot(simulator: DiscordSimulator, url: str) -> AsyncIterator[Bot]:
    simulator.world.add_guild()
    async with Bot(simulator, url).served() as bot:
        yield bot
