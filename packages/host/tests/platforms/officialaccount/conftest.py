"""The adapter on a link in memory, with the simulated WeChat on the other side of real connections."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

import pytest

from parlour.core.backoff import Backoff
from parlour.core.platforms.port import ConnectionState
from parlour.platforms.officialaccount.adapter import OfficialAccountAdapter
from parlour.platforms.officialaccount.api import OfficialAccountApi
from parlour.testing.hook_server import hooks_served
from parlour.testing.memory_link import MemoryLink
from parlour.testing.officialaccount_simulator import OfficialAccountSimulator
from parlour.testing.officialaccount_simulator.simulator import APP_ID, APP_SECRET

ANN = "oAnn"


class Bot:
    """A served adapter and its WeChat."""

    def __init__(self, simulator: OfficialAccountSimulator, url: str, **config: Any) -> None:
        self.simulator = simulator
        secrets = {"token": simulator.secrets.token, "encoding_aes_key": simulator.secrets.encoding_aes_key}
        self.link = MemoryLink({"app_id": APP_ID, "app_secret": APP_SECRET, "api_base_url": url, **secrets, **config})
        self.adapter = OfficialAccountAdapter(self.link, Backoff(0.01))

    @property
    def api(self) -> OfficialAccountApi:
        return self.adapter.api()

    @asynccontextmanager
    async def served(self, state: ConnectionState = "connected") -> AsyncIterator["Bot"]:
        """Serves the adapter until the end of the block, which begins in this state of the connection."""
        async with hooks_served(self.adapter) as address:
            self.simulator.calls.address = address
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
async def simulator() -> OfficialAccountSimulator:
    simulator = OfficialAccountSimulator()
    simulator.add_follower(ANN, "Ann")
    return simulator


@pytest.fixture
async def url(simulator: OfficialAccountSimulator) -> AsyncIterator[str]:
    async with simulator.listening() as url:
        yield url


@pytest.fixture
async def bot(simulator: OfficialAccountSimulator, url: str) -> AsyncIterator[Bot]:
    async with Bot(simulator, url).served() as bot:
        yield bot
