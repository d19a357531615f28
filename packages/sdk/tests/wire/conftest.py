"""Runs the contract suite for every transport of `TRANSPORTS`."""

from collections.abc import AsyncIterator

import pytest

from .support import TRANSPORTS, Link


@pytest.fixture(params=TRANSPORTS)
async def link(request: pytest.FixtureRequest) -> AsyncIterator[Link]:
    link = Link(TRANSPORTS[request.param])
    yield link
    await link.close()
