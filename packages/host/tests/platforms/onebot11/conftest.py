"""The adapter on a link in memory, with the simulator on the other side of a real WebSocket."""

import asyncio
from collections.abc import AsyncIterator, Callable
from contextlib import AsyncExitStack, asynccontextmanager
from typing import Any

import pytest

from parlour.core.backoff import Backoff
from parlour.platforms.onebot11.adapter import OneBotAdapter
from parlour.platforms.onebot11.state import ConnectedAccounts
from parlour.testing.memory_link import MemoryLink
from parlour.testing.network import free_port
from parlour.testing.onebot_simulator import Simulator

TOKEN = "a-secret-token"
DEFAULT_TOKEN = "in-the-address"
"""The token of bots for which a test names no other; it is part of their address."""


class Bot:
    """A served adapter and the address that implementations connect to."""

    def __init__(self, config: dict[str, Any], connected: ConnectedAccounts) -> None:
        self.link = MemoryLink(config)
        self.adapter = OneBotAdapter(self.link, Backoff(0.01), connected)
        named = f"?access_token={DEFAULT_TOKEN}" if config.get("access_token") == DEFAULT_TOKEN else ""
        self.url = f"ws://127.0.0.1:{config.get('port')}/onebot/v11/ws{named}"

    @asynccontextmanager
    async def served(self) -> AsyncIterator["Bot"]:
        work = asyncio.create_task(self.adapter.serve())
        self.link.watch(work)
        try:
            await self.link.until(lambda: bool(self.link.states) or work.done())
            yield self
        finally:
            work.cancel()
            await asyncio.wait([work])
            if not work.cancelled() and (error := work.exception()) is not None:
                raise error

    @property
    def onebot(self) -> OneBotAdapter:
        assert isinstance(self.adapter, OneBotAdapter)
        return self.adapter


Reverse = Callable[..., Any]


@pytest.fixture
async def stack() -> AsyncIterator[AsyncExitStack]:
    async with AsyncExitStack() as stack:
        yield stack


@pytest.fixture
def connected() -> ConnectedAccounts:
    """The list of connected accounts that all bots of one Host share."""
    return ConnectedAccounts()


@pytest.fixture
def reverse(stack: AsyncExitStack, connected: ConnectedAccounts) -> Reverse:
    """Makes bots that listen for connections."""

    async def make(**config: Any) -> Bot:
        default = {"mode": "reverse", "host": "127.0.0.1", "port": free_port(), "access_token": DEFAULT_TOKEN}
        bot = Bot({**default, **config}, connected)
        return await stack.enter_async_context(bot.served())

    return make


@pytest.fixture
def joined(stack: AsyncExitStack) -> Reverse:
    """Makes simulators that are connected to a bot."""

    async def make(bot: Bot, **options: Any) -> Simulator:
        simulator, before = Simulator(**options), len(bot.link.states)
        await stack.enter_async_context(simulator.connecting(bot.url))
        await bot.link.until(lambda: "connected" in [state for state, _ in bot.link.states[before:]])
        await simulator.until(lambda: simulator.connected)
        return simulator

    return make


@pytest.fixture
async def bot(reverse: Reverse) -> Bot:
    return await reverse()  # type: ignore[no-any-return]


@pytest.fixture
async def simulator(bot: Bot, joined: Reverse) -> Simulator:
    return await joined(bot)  # type: ignore[no-any-return]
