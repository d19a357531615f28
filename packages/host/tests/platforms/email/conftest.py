"""The adapter on a link in memory, with a simulated mail account on the other side of real connections."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

import pytest

from parlour.core.backoff import Backoff
from parlour.platforms.email.adapter import EmailAdapter
from parlour.platforms.email.api import EmailApi
from parlour.testing.email_simulator import EmailSimulator
from parlour.testing.memory_link import MemoryLink

ANN = "ann@people.example"


class Bot:
    """A served adapter and its mail account."""

    def __init__(self, simulator: EmailSimulator, account: dict[str, Any], cursor: str | None = None) -> None:
        self.simulator = simulator
        self.link = MemoryLink(account)
        self.link.stored_cursor = cursor
        self.adapter = EmailAdapter(self.link, Backoff(0.01, 0.05))

    @property
    def api(self) -> EmailApi:
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
        """Returns the texts of the mails that came in."""
        chains = [getattr(each.event, "message_chain", ()) for each in self.link.incoming]
        return [part.text for chain in chains for part in chain if part.type == "Plain"]

    async def heard(self, text: str) -> Any:
        """Waits for a mail with this text and returns it."""
        await self.link.until(lambda: text in self.texts())
        return next(
            each
            for each in self.link.incoming
            if any(getattr(part, "text", "") == text for part in getattr(each.event, "message_chain", ()))
        )


@pytest.fixture
async def simulator() -> EmailSimulator:
    return EmailSimulator()


@pytest.fixture
async def account(simulator: EmailSimulator) -> AsyncIterator[dict[str, Any]]:
    async with simulator.listening() as account:
        yield {**account, "hourly_limit": 100}


@pytest.fixture
async def bot(simulator: EmailSimulator, account: dict[str, Any]) -> AsyncIterator[Bot]:
    async with Bot(simulator, account).served() as bot:
        yield bot
