"""The adapter on a link in memory, with the simulated DingTalk on the other side of real connections."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

import pytest

from parlour.core.backoff import Backoff
from parlour.platforms.dingtalk.adapter import DingTalkAdapter
from parlour.platforms.dingtalk.api import DingTalkApi
from parlour.testing.dingtalk_simulator import DingTalkSimulator
from parlour.testing.dingtalk_simulator.simulator import CLIENT, SECRET, TEMPLATE
from parlour.testing.memory_link import MemoryLink

ANN = "0123ann"


class Bot:
    """A served adapter and its DingTalk."""

    def __init__(self, simulator: DingTalkSimulator, url: str, **config: Any) -> None:
        self.simulator = simulator
        secrets = {"client_id": CLIENT, "client_secret": SECRET, "card_template_id": TEMPLATE}
        self.link = MemoryLink({**secrets, "api_base_url": url, "oapi_base_url": url, **config})
        self.adapter = DingTalkAdapter(self.link, Backoff(0.01))

    @property
    def api(self) -> DingTalkApi:
        return self.adapter.api()

    @asynccontextmanager
    async def served(self) -> AsyncIterator["Bot"]:
        """Serves the adapter until the end of the block, which begins when it is connected."""
        work = asyncio.create_task(self.adapter.serve())
        self.link.watch(work)
        try:
            await self.link.until(lambda: self.link.now[0] == "connected" or work.done())
            yield self
        finally:
            work.cancel()
            await asyncio.wait([work])
            if not work.cancelled() and (error := work.exception()) is not None:
                raise error


@pytest.fixture
async def simulator() -> DingTalkSimulator:
    simulator = DingTalkSimulator()
    simulator.add_user(ANN, "Ann")
    return simulator


@pytest.fixture
async def url(simulator: DingTalkSimulator) -> AsyncIterator[str]:
    async with simulator.listening() as url:
        yield url


@pytest.fixture
async def bot(simulator: DingTalkSimulator, url: str) -> AsyncIterator[Bot]:
    async with Bot(simulator, url).served() as bot:
        yield bot
