"""A long transfer goes no faster than a run may call, and a short one at once."""

import asyncio
from collections.abc import AsyncIterator

import pytest

from parlour_sdk.api.chunks import CHUNK_BURST, CHUNKS_PER_SECOND, ChunkPacer


@pytest.fixture
async def waits(monkeypatch: pytest.MonkeyPatch) -> AsyncIterator[list[float]]:
    """Every pause, which takes no time here."""
    loop = asyncio.get_running_loop()
    told: list[float] = []

    async def pause(seconds: float) -> None:
        told.append(seconds)

    with monkeypatch.context() as patched:
        patched.setattr(asyncio, "sleep", pause)
        patched.setattr(loop, "time", lambda: 1000 + sum(told))
        yield told


async def test_the_first_pieces_go_at_once_and_the_others_evenly(waits: list[float]) -> None:
    pace = ChunkPacer()
    for _ in range(CHUNK_BURST):
        await pace.wait_for_turn()
    assert waits == []
    for _ in range(20):
        await pace.wait_for_turn()
    assert waits == pytest.approx([1 / CHUNKS_PER_SECOND] * 20)


async def test_a_transfer_that_is_slow_by_itself_is_not_held_up(waits: list[float]) -> None:
    pace = ChunkPacer()
    waits.append(1000)
    for _ in range(CHUNK_BURST + 100):
        await pace.wait_for_turn()
    assert waits == [1000]
