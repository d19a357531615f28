"""What a platform's message links to is brought before its run starts, and holds nobody up for long."""

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
    """Every link leads to the same, after a while."""

    def __init__(self, seconds: float = 0, failure: ProviderFailed | None = None) -> None:
        self._seconds = seconds
        self._failure = failure

    async def fetch(self, location: str, reference: str) -> AsyncIterator[bytes]:
        await asyncio.sleep(self._seconds)
        if self._failure is not None:
            raise self._failure
        yield b"hello"


async def asked(world: PlatformWorld, pictures: int) -> tuple[float, list[Row]]:
    """After how long the runner is called, and what is there by then."""
    begun = asyncio.get_running_loop().time()
    links = [Image(url=f"https://example.org/{number}.png") for number in range(pictures)]
    await world.platform.say("", chain=[Plain(text="look"), *links])
    run = await world.plugins.next_run()
    run.answer("nice")
    waited = asyncio.get_running_loop().time() - begun
    return waited, world.journal.database.read(Select(ARTIFACTS))


async def test_all_files_of_a_message_are_there_when_its_run_starts() -> None:
    world = await PlatformWorld.open(fetcher=Web(seconds=2))
    waited, files = await asked(world, pictures=3)
    assert [(each["location"], each["size_bytes"]) for each in files] == [("object", 5)] * 3
    assert 2 <= waited < PREFETCH_TIMEOUT_SECONDS
    await world.rest()


async def test_files_that_take_long_are_not_waited_for() -> None:
    world = await PlatformWorld.open(fetcher=Web(seconds=3600))
    waited, files = await asked(world, pictures=2)
    assert [each["location"] for each in files] == ["url", "url"]
    assert PREFETCH_TIMEOUT_SECONDS <= waited < 2 * PREFETCH_TIMEOUT_SECONDS
    await world.rest()


@pytest.mark.parametrize("retryable", [True, False])
async def test_files_that_can_not_be_had_are_no_reason_to_say_nothing(retryable: bool) -> None:
    world = await PlatformWorld.open(fetcher=Web(failure=ProviderFailed("runtime_error", "gone", retryable)))
    _, files = await asked(world, pictures=1)
    assert [each["location"] for each in files] == ["url"]
    await world.rest()
    assert world.platform.texts() == ["nice"]


async def test_who_stops_a_run_does_not_wait_for_its_files() -> None:
    world = await PlatformWorld.open(fetcher=Web(seconds=3600))
    await world.platform.say("", chain=[Plain(text="look"), Image(url="https://example.org/a.png")])
    await until(lambda: bool(world.core.sessions.all()))
    begun = asyncio.get_running_loop().time()
    await world.platform.say("/stop")
    await world.rest()
    assert asyncio.get_running_loop().time() - begun < 1
    assert world.plugins.runs == []
