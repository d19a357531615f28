"""The core's tests run on virtual time: a sleep takes no time, and a wait that can never end fails at once."""

import asyncio
import random
from collections.abc import AsyncIterator, Callable, Mapping

import pytest

from parlour.testing.simulation.loop import SeededLoop


class InOrder(random.Random):
    """A random generator that keeps ready callbacks in order, as a real loop does."""

    def random(self) -> float:
        return 1.0


def virtual_loop() -> asyncio.AbstractEventLoop:
    return SeededLoop(InOrder(), 0.0)


def pytest_asyncio_loop_factories(
    config: pytest.Config, item: pytest.Item
) -> Mapping[str, Callable[[], asyncio.AbstractEventLoop]]:
    return {"virtual-time": virtual_loop}


ABANDONED = "Task was destroyed but it is pending!"
"""Says that the core of a test that has ended was collected before its loop was closed; that depends on the Python."""


@pytest.fixture(autouse=True)
async def fail_on_task_exceptions() -> AsyncIterator[None]:
    yield
    failures = getattr(asyncio.get_running_loop(), "failures", [])
    assert [each for each in failures if each["message"] != ABANDONED] == []
