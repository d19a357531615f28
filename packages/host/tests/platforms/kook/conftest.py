"""The adapter on a link in memory, with the simulated KOOK on the other side of real connections."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

import pytest

from parlour.core.backoff import Backoff
from parlour.platforms.kook.adapter import KookAdapter
from parlour.platforms.kook.api import KookApi
from parlour.testing.kook_simulator import KookSimulator
from parlour.testing.memory_link import MemoryLink

ANN, GUILD, CHANNEL = "28629", "6016", "6186"


class Bot:
    """A served adapter and its KOOK."""

    def __init__(self, simulator: KookSimulator, url: str, cursor: str | None = None, **config: Any) -> None:
        self.simulator = simulator
        self.link = MemoryLink({"token": simulator.token, "api_base_url": url, **config})
        self.link.stored_cursor = cursor
        self.adapter = KookAdapter(self.link, Backoff(0.01))

    @property
    def api(self) -> KookApi:
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

    async def say(self, text: str) -> None:
        await self.simulator.say("GROUP", CHANNEL, ANN, text)


@pytest.fixture
async def simulator() -> KookSimulator:
    simulator = KookSimulator()
    simulator.world.add_user("Ann", ANN)
    simulator.world.add_guild("The Server", GUILD, ANN)
    simulator.world.add_channel(GUILD, "talk", CHANNEL)
    return simulator


@pytest.fixture
async def url(simulator: KookSimulator) -> AsyncIterator[str]:
    async with simulator.listening() as url:
        yield url


@pytest.fixture
async def bot(simulator: KookSimulator, url: str) -> AsyncIterator[Bot]:
    async with Bot(simulator, url).served() as bot:
        yield bot
