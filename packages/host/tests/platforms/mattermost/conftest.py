"""The adapter on a link in memory, with the simulated Mattermost on the other side of real connections."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

import pytest

from parlour.core.backoff import Backoff
from parlour.platforms.mattermost.adapter import MattermostAdapter
from parlour.platforms.mattermost.api import MattermostApi
from parlour.testing.hook_server import hooks_served
from parlour.testing.mattermost_simulator import MattermostSimulator, SentPost
from parlour.testing.mattermost_simulator.world import make_id
from parlour.testing.memory_link import MemoryLink

ANN, EVE, CHANNEL = make_id("ann"), make_id("eve"), make_id("talk")


class Bot:
    """A served adapter and its Mattermost."""

    def __init__(self, simulator: MattermostSimulator, url: str, cursor: str | None = None, **config: Any) -> None:
        self.simulator = simulator
        self.link = MemoryLink({"token": simulator.token, "url": url, "public_url": "http://host.test", **config})
        self.link.stored_cursor = cursor
        self.adapter = MattermostAdapter(self.link, Backoff(0.01))

    @property
    def api(self) -> MattermostApi:
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

    async def first_problem(self) -> str:
        """Starts the adapter, and returns what it reports while it can't connect."""
        work = asyncio.create_task(self.adapter.serve())
        await self.link.until(lambda: bool(self.link.now[1]))
        work.cancel()
        await asyncio.wait([work])
        return self.link.now[1]

    def texts(self) -> list[str]:
        """Returns the texts of the messages that came in."""
        chains = [getattr(each.event, "message_chain", ()) for each in self.link.incoming]
        return [part.text for chain in chains for part in chain if part.type == "Plain"]

    def types(self) -> list[str]:
        return [each.event.type for each in self.link.incoming]

    async def heard(self, text: str) -> None:
        await self.link.until(lambda: text in self.texts())

    async def say(self, text: str) -> Any:
        return await self.simulator.say(CHANNEL, ANN, text)

    async def press(self, sent: SentPost, label: str, presser: str, **changes: Any) -> int:
        """Lets a user press a button of a message, whose address leads to the adapter."""
        async with hooks_served(self.adapter) as address:
            for each in sent.buttons:
                each["integration"]["url"] = address
            return await self.simulator.press(sent, label, presser, **changes)


@pytest.fixture
async def simulator() -> MattermostSimulator:
    simulator = MattermostSimulator()
    for name in ("ann", "eve"):
        simulator.world.add_user(name)
    simulator.world.add_channel("talk", ANN, channel_id=CHANNEL, admin=ANN)
    return simulator


@pytest.fixture
async def url(simulator: MattermostSimulator) -> AsyncIterator[str]:
    async with simulator.listening() as url:
        yield url


@pytest.fixture
async def bot(simulator: MattermostSimulator, url: str) -> AsyncIterator[Bot]:
    async with Bot(simulator, url).served() as bot:
        yield bot
