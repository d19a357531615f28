"""These tests run on virtual time: a minute of back-off takes no real time, and an endless wait fails at once."""

import asyncio
import random
from collections.abc import AsyncIterator, Callable, Mapping
from pathlib import Path

import pytest

from parlour.testing.simulation.loop import SeededLoop

from .fakes import FakeLauncher, SupervisorHarness


class InOrder(random.Random):
    """A random source that leaves ready callbacks in their order, like a real loop."""

    def random(self) -> float:
        return 1.0


def virtual_loop() -> asyncio.AbstractEventLoop:
    return SeededLoop(InOrder(), 0.0)


def pytest_asyncio_loop_factories(
    config: pytest.Config, item: pytest.Item
) -> Mapping[str, Callable[[], asyncio.AbstractEventLoop]]:
    return {"virtual-time": virtual_loop}


@pytest.fixture
async def launcher() -> FakeLauncher:
    return FakeLauncher()


@pytest.fixture
async def harness(launcher: FakeLauncher, tmp_path: Path) -> AsyncIterator[SupervisorHarness]:
    harness = SupervisorHarness(launcher, tmp_path)
    yield harness
    await harness.close()
    assert all(process.ended for process in launcher.processes)
    assert getattr(asyncio.get_running_loop(), "failures", []) == []
