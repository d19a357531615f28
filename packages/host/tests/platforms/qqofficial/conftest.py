"""The adapter on a link in memory, with the simulated QQ on the other side of real connections."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

import pytest

from parlour.core.backoff import Backoff
from parlour.core.model.ids import EventId
from parlour.core.model.reply_allowance import ReplyHandle
from parlour.platforms.qqofficial.adapter import QQAdapter
from parlour.platforms.qqofficial.api import QQApi
from parlour.testing.hook_server import hooks_served
from parlour.testing.memory_link import MemoryLink
from parlour.testing.qqofficial_simulator import QQSimulator
from parlour.testing.qqofficial_simulator.simulator import APP, SECRET

ANN = "6836D8522EE75AD36836D8522EE75AD3"
GROUP = "C9F778FE6ADF9D1D1DBE395BF744A33A"


class Bot:
    """A served adapter and its QQ."""

    def __init__(self, simulator: QQSimulator, url: str, **config: Any) -> None:
        self.simulator = simulator
        login = {"appid": APP, "secret": SECRET, "auth_url": f"{url}/app/getAppAccessToken"}
        self.link = MemoryLink({**login, "api_base_url": url, **config})
        self.adapter = QQAdapter(self.link, Backoff(0.01))
        self.work: asyncio.Task[None] | None = None

    @property
    def api(self) -> QQApi:
        return self.adapter.api()

    async def hear(self, text: str, chat: str = "", kind: str = "") -> ReplyHandle:
        """Lets a user write, and returns how the message can be answered."""
        number = len(self.link.incoming)
        await self.simulator.say(text, ANN, chat, kind)
        allowance = (await self.link.events(number + 1))[-1].reply_allowance
        assert allowance is not None
        return ReplyHandle(allowance.handle, 1, EventId("e"))

    @asynccontextmanager
    async def served(self) -> AsyncIterator["Bot"]:
        """Serves the adapter until the end of the block, which begins when it is connected."""
        async with hooks_served(self.adapter) as address:
            self.simulator.webhook.address = address
            self.work = work = asyncio.create_task(self.adapter.serve())
            connected = asyncio.create_task(self.link.until(lambda: self.link.now[0] == "connected"))
            try:
                await asyncio.wait([work, connected], return_when=asyncio.FIRST_COMPLETED)
                yield self
            finally:
                connected.cancel()
                work.cancel()
                await asyncio.wait([work])
                if not work.cancelled() and (error := work.exception()) is not None:
                    raise error


@pytest.fixture
async def simulator() -> QQSimulator:
    return QQSimulator()


@pytest.fixture
async def url(simulator: QQSimulator) -> AsyncIterator[str]:
    async with simulator.listening() as url:
        yield url


@pytest.fixture
async def bot(simulator: QQSimulator, url: str) -> AsyncIterator[Bot]:
    async with Bot(simulator, url).served() as bot:
        yield bot
