"""Connects an adapter with its platform and with a link in memory in place of a Host."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import AsyncExitStack, asynccontextmanager

from parlour.core.backoff import Backoff
from parlour.core.platforms.hooks import HookReceiver
from parlour.core.platforms.port import Adapter, IncomingEvent
from parlour.testing.hook_server import hooks_served
from parlour.testing.memory_link import MemoryLink

from .driver import PlatformDriver


class RecordedBackoff(Backoff):
    """Waits for a short time and records how the delays grow."""

    def __init__(self) -> None:
        super().__init__(first_seconds=0.01, jitter=0)
        self.delays: list[float] = []

    def next_delay(self) -> float:
        self.delays.append(super().next_delay())
        return self.delays[-1]


class HeldLink(MemoryLink):
    """Stores events only while it is open, as a Host with a slow disk."""

    def open(self) -> None:
        self._opened.set()

    def hold(self) -> None:
        self._opened.clear()

    async def receive(self, *incoming: IncomingEvent, cursor: str | None = None) -> None:
        self.offered += len(incoming)
        self._changed.set()
        await self._opened.wait()
        await super().receive(*incoming, cursor=cursor)

    def __init__(self, driver: PlatformDriver) -> None:
        super().__init__(driver.config)
        self.offered = 0
        """Number of events that the adapter wants to store."""
        self._opened = asyncio.Event()
        self._opened.set()


class AdapterBench:
    def __init__(self, driver: PlatformDriver) -> None:
        self.driver = driver
        self.link = HeldLink(driver)
        self.backoff = RecordedBackoff()
        self.adapter: Adapter = driver.create(self.link, self.backoff)

    @classmethod
    @asynccontextmanager
    async def running(cls, driver: PlatformDriver) -> AsyncIterator["AdapterBench"]:
        """Starts platform and adapter, and waits until they are connected."""
        async with driver.running_for_samples(), AsyncExitStack() as stack:
            bench = cls(driver)
            if isinstance(bench.adapter, HookReceiver):
                driver.called_at(await stack.enter_async_context(hooks_served(bench.adapter)))
            work = asyncio.create_task(bench.adapter.serve())
            try:
                await bench.link.until(lambda: bench.link.now[0] == "connected" or work.done())
                yield bench
            finally:
                bench.link.open()
                work.cancel()
                await asyncio.wait([work])
            if not work.cancelled() and (error := work.exception()) is not None:
                raise error
