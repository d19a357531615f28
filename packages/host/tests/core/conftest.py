"""The core's tests run on virtual time: a sleep costs nothing, and what waits for nothing fails at once."""

import asyncio
import random
from collections.abc import AsyncIterator, Callable, Mapping

import pytest

from parlour.testing.simulation.loop import SeededLoop


class InOrder(random.Random):
    """A die that leaves ready callbacks in the order they became ready, as a real loop does."""

    def random(self) -> float:
        return 1.0


def virtual_loop() -> asyncio.AbstractEventLoop:
    return SeededLoop(InOrder(), 0.0)


def pytest_asyncio_loop_factories(
    config: pytest.Config, item: pytest.Item
) -> Mapping[str, Callable[[], asyncio.AbstractEventLoop]]:
    return {"virtual-time": virtual_loop}


@pytest.fixture(autouse=True)
async def no_task_fails_unseen() -> AsyncIterator[None]:
    yield
    loop = asyncio.get_running_loop()
    assert getattr(loop, "failures", []) == []
