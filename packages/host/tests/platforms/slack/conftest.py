"""The adapter on a link in memory, with the simulated Slack on the other side of real connections."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

import pytest

from parlour.core.backoff import Backoff
from parlour.platforms.slack.adapter import SlackAdapter
from parlour.platforms.slack.api import SlackApi
from parlour.testing.memory_link import MemoryLink
from parlour.testing.slack_simulator import SlackSimulator
from parlour.testing.slack_simulator.simulator import APP_TOKEN, BOT_TOKEN, SIGNING_SECRET


class Bot:
    """A served adapter and its Slack."""

    def __init__(self, simulator: SlackSimulator, url: str, **config: Any) -> None:
        self.simulator = simulator
        secrets = {"bot_token": BOT_TOKEN, "app_token": APP_TOKEN, "signing_secret": SIGNING_SECRET}
        self.link = MemoryLink({**secrets, "mode": "socket", "api_base_url": url, **config})
        self.adapter = SlackAdapter(self.link, Backoff(0.01))

    @property
    def api(self) -> SlackApi:
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
async def simulator() -> SlackSimulator:
    simulator = SlackSimulator()
    simulator.world.add_user("Ann", "UANN", is_admin=True)
    simulator.world.add_channel("talk", "UANN", channel_id="CTALK")
    return simulator


@pytest.fixture
async def url(simulator: SlackSimulator) -> AsyncIterator[str]:
    async with simulator.listening() as url:
        yield url


@pytest.fixture
async def bot(simulator: SlackSimulator, url: str) -> AsyncIterator[Bot]:
    async with Bot(simulator, url).served() as bot:
        yield bot
