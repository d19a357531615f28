"""The adapter on a link in memory, with satori-python's server on the other side of real connections."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

import pytest

from parlour.core.backoff import Backoff
from parlour.platforms.satori.adapter import SatoriAdapter
from parlour.platforms.satori.api import SatoriApi
from parlour.testing.memory_link import MemoryLink
from parlour.testing.satori_platform import SatoriPlatform

ANN, GUILD, CHANNEL = "3011", "74", "7421"


class Bot:
    """A served adapter and its server."""

    def __init__(self, platform: SatoriPlatform, endpoint: str, cursor: str | None = None, **config: Any) -> None:
        self.platform = platform
        self.link = MemoryLink({"endpoint": endpoint, "token": platform.token, **config})
        self.link.stored_cursor = cursor
        self.adapter = SatoriAdapter(self.link, Backoff(0.01, 0.05))

    @property
    def api(self) -> SatoriApi:
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
        await self.platform.say(CHANNEL, ANN, text)


@pytest.fixture
async def platform() -> SatoriPlatform:
    platform = SatoriPlatform()
    platform.world.add_user("Ann", ANN)
    platform.world.add_guild("The Guild", GUILD, ANN)
    platform.world.add_channel(GUILD, "talk", CHANNEL)
    return platform


@pytest.fixture
async def endpoint(platform: SatoriPlatform) -> AsyncIterator[str]:
    async with platform.listening() as endpoint:
        yield endpoint


@pytest.fixture
async def bot(platform: SatoriPlatform, endpoint: str) -> AsyncIterator[Bot]:
    async with Bot(platform, endpoint).served() as bot:
        yield bot
