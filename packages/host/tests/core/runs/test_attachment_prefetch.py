"""Links in a platform message are fetched before its run starts, within a time limit."""

import asyncio
from collections.abc import AsyncIterator

import pytest

from parlour.core.journal import Row, Select
from parlour.core.model.providers import ProviderFailed
from parlour.core.runs.attachment_prefetch import PREFETCH_TIMEOUT_SECONDS
from parlour.core.store.tables import ARTIFACTS
from parlour_sdk.protocol.chain import Image, Plain

from ..delivery.platform_support import PlatformWorld
from ..support import until


class Web:
    """A fetcher that returns the same content for every link after a delay."""

    def __init__(self, seconds: float = 0, failure: ProviderFailed | None = None) -> None:
        self._seconds = seconds
        self._failure = failure

    async def fetch(self, location: str, reference: str) -> AsyncIterator[bytes]:
        await asyncio.sleep(self._seconds)
        if self._failure is not None:
            raise self._failure
        yield b"hello"


async def run_with_pictures(world: PlatformWorld, pictures: int) -> tuple[float, list[Row]]:
    """Returns how long the runner was waited for, and the artifacts at that time."""
    started = asyncio.get_running_loop().time()
    links = [Image(url=f"https://example.org/{number}.png") for number in range(pictures)]
    await world.platform.say("", chain=[Plain(text="look"), *links])
    run = await world.plugins.next_run()
    run.answer("nice")
    waited = asyncio.get_running_loop().time() - started
    return waited, world.journal.database.read(Select(ARTIFACTS))


async def test_files_are_fetched_before_the_run_starts() -> None:
    world = await PlatformWorld.open(fetcher=Web(seconds=2))
    waited, files = await run_with_pictures(world, pictures=3)
    assert [(each["location"], each["size_bytes"]) for each in files] == [("object", 5)] * 3
    assert 2 <= waited < PREFETCH_TIMEOUT_SECONDS
    await world.rest()


async def test_slow_files_are_not_waited_for() -> None:
    world = await PlatformWorld.open(fetcher=Web(seconds=3600))
    waited, files = await run_with_pictures(world, pictures=2)
    assert [each["location"] for each in files] == ["url", "url"]
    assert PREFETCH_TIMEOUT_SECONDS <= waited < 2 * PREFETCH_TIMEOUT_SECONDS
    await world.rest()


@pytest.mark.parametrize("retryable", [True, False])
async def test_failed_fetch_does_not_prevent_the_answer(retryable: bool) -> None:
    world = await PlatformWorld.open(fetcher=Web(failure=ProviderFailed("runtime_error", "gone", retryable)))
    _, files = await run_with_pictures(world, pictures=1)
    assert [each["location"] for each in files] == ["url"]
    await world.rest()
    assert world.platform.texts() == ["nice"]


async def test_stopping_a_run_does_not_wait_for_its_files() -> None:
    world = await PlatformWorld.open(fetcher=Web(seconds=3600))
    await world.platform.say("", chain=[Plain(text="look"), Image(url="https://example.org/a.png")])
    await until(lambda: bool(world.core.sessions.all()))
    started = asyncio.get_running_loop().time()
    await world.platform.say("/stop")
    await world.rest()
    assert asyncio.get_running_loop().time() - started < 1
    assert world.plugins.runs == []
