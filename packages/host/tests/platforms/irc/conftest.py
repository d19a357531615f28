"""Provides a served IRC adapter with a link in memory, and its simulated server."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

import pytest

from parlour.core.backoff import Backoff
from parlour.platforms.irc.adapter import IrcAdapter
from parlour.platforms.irc.api import IrcApi
from parlour.testing.irc_simulator import IrcSimulator
from parlour.testing.memory_link import MemoryLink


class Bot:
    """A served adapter and its server."""

    def __init__(self, simulator: IrcSimulator, port: int, **config: Any) -> None:
        self.simulator = simulator
        server = {"host": "127.0.0.1", "port": port, "security": "none", "nick": "Parlour", "line_interval": 0}
        self.link = MemoryLink({**server, "channels": ["#Talk"], **config}, public_url="https://media.parlour.test")
        self.adapter = IrcAdapter(self.link, Backoff(0.01, jitter=0))

    @property
    def api(self) -> IrcApi:
        return self.adapter.api()

    async def connected(self, times: int = 1) -> None:
        """Waits until the bot has connected this often."""
        await self.link.until(lambda: [state for state, _ in self.link.states].count("connected") >= times)

    @asynccontextmanager
    async def served(self) -> AsyncIterator["Bot"]:
        work = asyncio.create_task(self.adapter.serve())
        connected = asyncio.create_task(self.connected())
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
async def simulator() -> IrcSimulator:
    simulator = IrcSimulator()
    ann = simulator.world.add_user("Ann")
    simulator.world.add_channel("#Talk", ann, operator=ann)
    return simulator


@pytest.fixture
async def port(simulator: IrcSimulator) -> AsyncIterator[int]:
    async with simulator.listening() as port:
        yield port


@pytest.fixture
async def bot(simulator: IrcSimulator, port: int) -> AsyncIterator[Bot]:
    async with Bot(simulator, port).served() as bot:
        yield bot
