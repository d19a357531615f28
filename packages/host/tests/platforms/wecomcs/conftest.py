"""The adapter on a link in memory, with the simulated customer service on the other side of real connections."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

import pytest

from parlour.core.backoff import Backoff
from parlour.platforms.wecomcs.adapter import WecomCsAdapter
from parlour.platforms.wecomcs.api import WecomCsApi
from parlour.testing.hook_server import hooks_served
from parlour.testing.memory_link import MemoryLink
from parlour.testing.wecomcs_simulator import WecomCsSimulator
from parlour.testing.wecomcs_simulator.simulator import ACCOUNT, CORP, SECRET

CHAT = f"wmAnn|{ACCOUNT}"


class Bot:
    """A served adapter and its customer service."""

    def __init__(self, simulator: WecomCsSimulator, url: str, **config: Any) -> None:
        self.simulator = simulator
        secrets = {"token": simulator.secrets.token, "encoding_aes_key": simulator.secrets.encoding_aes_key}
        self.link = MemoryLink({"corpid": CORP, "secret": SECRET, "api_base_url": url, **secrets, **config})
        self.adapter = WecomCsAdapter(self.link, Backoff(0.01))

    @property
    def api(self) -> WecomCsApi:
        return self.adapter.api()

    @property
    def texts(self) -> list[str]:
        """The texts of the messages that were stored."""
        chains = [getattr(each.event, "message_chain", ()) for each in self.link.incoming]
        return [component.text for chain in chains for component in chain[1:]]

    @asynccontextmanager
    async def served(self) -> AsyncIterator["Bot"]:
        """Serves the adapter until the end of the block, which begins when it is connected."""
        async with hooks_served(self.adapter) as address:
            self.simulator.calls.address = address
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
async def simulator() -> WecomCsSimulator:
    simulator = WecomCsSimulator()
    simulator.add_customer("wmAnn", "Ann")
    return simulator


@pytest.fixture
async def url(simulator: WecomCsSimulator) -> AsyncIterator[str]:
    async with simulator.listening() as url:
        yield url


@pytest.fixture
async def bot(simulator: WecomCsSimulator, url: str) -> AsyncIterator[Bot]:
    async with Bot(simulator, url).served() as bot:
        yield bot
