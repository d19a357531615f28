"""Provides a served LINE adapter with a link in memory, and its simulated platform."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

import pytest

from parlour.core.backoff import Backoff
from parlour.platforms.line.adapter import LineAdapter
from parlour.platforms.line.api import LineApi
from parlour.testing.hook_server import hooks_served
from parlour.testing.line_simulator import LineSimulator
from parlour.testing.line_simulator.simulator import ACCESS_TOKEN, CHANNEL_SECRET
from parlour.testing.memory_link import MemoryLink


class Bot:
    """A served adapter and its LINE."""

    def __init__(self, simulator: LineSimulator, url: str, **config: Any) -> None:
        self.simulator = simulator
        secrets = {"channel_access_token": ACCESS_TOKEN, "channel_secret": CHANNEL_SECRET}
        self.link = MemoryLink({**secrets, "api_base_url": url, **config}, public_url=simulator.public_address)
        self.adapter = LineAdapter(self.link, Backoff(0.01))

    @property
    def api(self) -> LineApi:
        return self.adapter.api()

    @asynccontextmanager
    async def served(self) -> AsyncIterator["Bot"]:
        async with hooks_served(self.adapter) as address:
            self.simulator.request_url = address
            self.simulator.real_address = address.partition("/hooks/")[0]
            work = asyncio.create_task(self.adapter.serve())
            try:
                connected = asyncio.create_task(self.link.until(lambda: self.link.now[0] == "connected"))
                await asyncio.wait([work, connected], return_when=asyncio.FIRST_COMPLETED)
                connected.cancel()
                yield self
            finally:
                work.cancel()
                await asyncio.wait([work])
                if not work.cancelled() and (error := work.exception()) is not None:
                    raise error


@pytest.fixture
async def simulator() -> LineSimulator:
    return LineSimulator()


@pytest.fixture
async def url(simulator: LineSimulator) -> AsyncIterator[str]:
    async with simulator.listening() as url:
        yield url


@pytest.fixture
async def bot(simulator: LineSimulator, url: str) -> AsyncIterator[Bot]:
    async with Bot(simulator, url).served() as bot:
        yield bot
