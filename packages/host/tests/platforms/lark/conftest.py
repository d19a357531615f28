"""The adapter on a link in memory, with the simulated Feishu on the other side of real connections."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

import pytest

from parlour.core.backoff import Backoff
from parlour.platforms.lark.adapter import LarkAdapter
from parlour.platforms.lark.api import LarkApi
from parlour.testing.lark_simulator import LarkSimulator
from parlour.testing.lark_simulator.simulator import APP_ID, APP_SECRET, ENCRYPT_KEY, VERIFICATION_TOKEN
from parlour.testing.memory_link import MemoryLink

ANN, BOB, GROUP = "ou_ann", "ou_bob", "oc_talk"


class Bot:
    """A served adapter and its Feishu."""

    def __init__(self, simulator: LarkSimulator, url: str, **config: Any) -> None:
        self.simulator = simulator
        secrets = {
            "app_id": APP_ID,
            "app_secret": APP_SECRET,
            "encrypt_key": ENCRYPT_KEY,
            "verification_token": VERIFICATION_TOKEN,
        }
        self.link = MemoryLink({**secrets, "mode": "long_connection", "api_base_url": url, **config})
        self.adapter = LarkAdapter(self.link, Backoff(0.01))

    @property
    def api(self) -> LarkApi:
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
async def simulator() -> LarkSimulator:
    simulator = LarkSimulator()
    simulator.world.add_user("Ann", ANN)
    simulator.world.add_user("Bob", BOB)
    simulator.world.add_chat("talk", ANN, BOB, chat_id=GROUP)
    simulator.world.direct_chat(ANN)
    return simulator


@pytest.fixture
async def url(simulator: LarkSimulator) -> AsyncIterator[str]:
    async with simulator.listening() as url:
        yield url


@pytest.fixture
async def bot(simulator: LarkSimulator, url: str) -> AsyncIterator[Bot]:
    async with Bot(simulator, url).served() as bot:
        yield bot
