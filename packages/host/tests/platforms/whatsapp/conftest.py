"""Provides a served WhatsApp adapter with a link in memory, and its simulated platform."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

import pytest

from parlour.core.backoff import Backoff
from parlour.platforms.whatsapp.adapter import WhatsAppAdapter
from parlour.platforms.whatsapp.api import WhatsAppApi
from parlour.testing.hook_server import hooks_served
from parlour.testing.memory_link import MemoryLink
from parlour.testing.whatsapp_simulator import WhatsAppSimulator
from parlour.testing.whatsapp_simulator.simulator import ACCESS_TOKEN, APP_SECRET, VERIFY_TOKEN
from parlour.testing.whatsapp_simulator.world import NUMBER_ID


class Bot:
    """A served adapter and its WhatsApp."""

    def __init__(self, simulator: WhatsAppSimulator, url: str, **config: Any) -> None:
        self.simulator = simulator
        account = {
            "phone_number_id": NUMBER_ID,
            "access_token": ACCESS_TOKEN,
            "app_secret": APP_SECRET,
            "verify_token": VERIFY_TOKEN,
        }
        self.link = MemoryLink({**account, "api_base_url": url, **config})
        self.adapter = WhatsAppAdapter(self.link, Backoff(0.01))

    @property
    def api(self) -> WhatsAppApi:
        return self.adapter.api()

    @asynccontextmanager
    async def served(self) -> AsyncIterator["Bot"]:
        async with hooks_served(self.adapter) as address:
            self.simulator.request_url = address
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
async def simulator() -> WhatsAppSimulator:
    return WhatsAppSimulator()


@pytest.fixture
async def url(simulator: WhatsAppSimulator) -> AsyncIterator[str]:
    async with simulator.listening() as url:
        yield url


@pytest.fixture
async def bot(simulator: WhatsAppSimulator, url: str) -> AsyncIterator[Bot]:
    async with Bot(simulator, url).served() as bot:
        yield bot
