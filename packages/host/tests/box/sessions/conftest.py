"""These tests run on virtual time: a sleep takes no time, and a wait that can never end fails at once."""

import asyncio
import random
from collections.abc import Callable, Mapping

import pytest

from parlour.testing.simulation.loop import SeededLoop


class InOrder(random.Random):
    """A random generator that keeps ready callbacks in order, as a real loop does."""

    def random(self) -> float:
        return 1.0


def pytest_asyncio_loop_factories(
    config: pytest.Config, item: pytest.Item
) -> Mapping[str, Callable[[], asyncio.AbstractEventLoop]]:
    return {"virtual-time": lambda: SeededLoop(InOrder(), 0.0)}
