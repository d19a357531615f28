"""The adapter on a link in memory, with the simulated gateway on the other side of real connections."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

import pytest

from parlour.core.backoff import Backoff
from parlour.platforms.wechat.adapter import WechatAdapter
from parlour.platforms.wechat.api import WechatApi
from parlour.testing.memory_link import MemoryLink
from parlour.testing.wechat_simulator import TOKEN, WechatSimulator

ANN = "o9cq80ann@im.wechat"


class Bot:
    """A served adapter and its gateway."""

    def __init__(self, simulator: WechatSimulator, url: str, cursor: str | None = None) -> None:
        self.simulator = simulator
        config = {"token": TOKEN, "base_url": url, "cdn_base_url": simulator.files.base_url}
        self.link = MemoryLink(config)
        self.link.stored_cursor = cursor
        self.adapter = WechatAdapter(self.link, Backoff(0.01))
        self.work: asyncio.Task[None] | None = None

    @property
    def api(self) -> WechatApi:
        return self.adapter.api()

    @property
    def chains(self) -> list[list[Any]]:
        """The components of the messages that were stored, without their sources."""
        return [list(getattr(each.event, "message_chain", ()))[1:] for each in self.link.incoming]

    @asynccontextmanager
    async def served(self) -> AsyncIterator["Bot"]:
        """Serves the adapter until the end of the block, which begins when it is connected."""
        self.work = work = asyncio.create_task(self.adapter.serve())
        self.link.watch(work)
        try:
            await self.link.until(lambda: self.link.now[0] == "connected" or work.done())
            yield self
        finally:
            work.cancel()
            await asyncio.wait([work])


@pytest.fixture
def simulator() -> WechatSimulator:
    return WechatSimulator()


@pytest.fixture
async def bot(simulator: WechatSimulator) -> AsyncIterator[Bot]:
    async with simulator.listening() as url, Bot(simulator, url).served() as served:
        yield served


@pytest.fixture
async def gateway(simulator: WechatSimulator) -> AsyncIterator[str]:
    async with simulator.listening() as url:
        yield url
