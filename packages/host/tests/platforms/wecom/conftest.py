"""The adapter on a link in memory, with the simulated WeCom on the other side of real connections."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

import pytest

from parlour.core.backoff import Backoff
from parlour.platforms.wecom.adapter import WecomAdapter
from parlour.platforms.wecom.api import WecomApi
from parlour.testing.hook_server import hooks_served
from parlour.testing.memory_link import MemoryLink
from parlour.testing.wecom_simulator import WecomSimulator
from parlour.testing.wecom_simulator.simulator import AGENT, CORP, SECRET

CHAT = f"ann|{AGENT}"


class Bot:
    """A served adapter and its WeCom."""

    def __init__(self, simulator: WecomSimulator, url: str, **config: Any) -> None:
        self.simulator = simulator
        secrets = {"token": simulator.secrets.token, "encoding_aes_key": simulator.secrets.encoding_aes_key}
        self.link = MemoryLink({"corpid": CORP, "secret": SECRET, "api_base_url": url, **secrets, **config})
        self.adapter = WecomAdapter(self.link, Backoff(0.01))

    @property
    def api(self) -> WecomApi:
        return self.adapter.api()

    @asynccontextmanager
    async def served(self, state: str = "connected") -> AsyncIterator["Bot"]:
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
async def simulator() -> WecomSimulator:
    simulator = WecomSimulator()
    simulator.add_member("ann", "Ann")
    return simulator


@pytest.fixture
async def url(simulator: WecomSimulator) -> AsyncIterator[str]:
    async with simulator.listening() as url:
        yield url


@pytest.fixture
async def bot(simulator: WecomSimulator, url: str) -> AsyncIterator[Bot]:
    async with Bot(simulator, url).served() as bot:
        yield bot
