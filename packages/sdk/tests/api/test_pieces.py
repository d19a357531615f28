"""Tests that a long transfer stays below the call limit of a run, and that a short one is sent at once."""

import asyncio
from collections.abc import AsyncIterator

import pytest

from parlour_sdk.api.chunks import CHUNK_BURST, CHUNKS_PER_SECOND, ChunkPacer


@pytest.fixture
async def waits(monkeypatch: pytest.MonkeyPatch) -> AsyncIterator[list[float]]:
    """Records the length of every pause without waiting."""
    loop = asyncio.get_running_loop()
    pauses: list[float] = []

    async def pause(seconds: float) -> None:
        pauses.append(seconds)

    with monkeypatch.context() as patched:
        patched.setattr(asyncio, "sleep", pause)
        patched.setattr(loop, "time", lambda: 1000 + sum(pauses))
        yield pauses


async def test_the_first_chunks_are_sent_at_once_and_the_others_evenly(waits: list[float]) -> None:
    pace = ChunkPacer()
    for _ in range(CHUNK_BURST):
        await pace.wait_for_turn()
    assert waits == []
    for _ in range(20):
        await pace.wait_for_turn()
    assert waits == pytest.approx([1 / CHUNKS_PER_SECOND] * 20)


async def test_a_slow_transfer_is_not_delayed(waits: list[float]) -> None:
    pace = ChunkPacer()
    waits.append(1000)
    for _ in range(CHUNK_BURST + 100):
        await pace.wait_for_turn()
    assert waits == [1000]
