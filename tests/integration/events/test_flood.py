"""Tests that a run that streams without end costs the Host no memory and does not slow other runs."""

import asyncio
import time

import pytest

from tests.integration.conftest import MakeHost
from tests.support.chat import Chat
from tests.support.harness import ECHO_PLUGIN, PUPPET, PUPPET_PLUGIN

pytestmark = [pytest.mark.both_runtimes, pytest.mark.quiet]

MEBIBYTE = 1024 * 1024
DELTAS = 100_000


async def test_a_hundred_thousand_deltas_leave_memory_flat_and_other_runs_quick(make_host: MakeHost) -> None:
    host = make_host(
        ECHO_PLUGIN,
        PUPPET_PLUGIN,
        PARLOUR__PLUGINS__FRAMES_PER_SECOND=1_000_000,
        PARLOUR__PLUGINS__BYTES_PER_SECOND=1024 * MEBIBYTE,
    ).start()
    puppet, echo = host.agent(PUPPET), host.agent()
    async with Chat(host, puppet, "flooded") as flooded, Chat(host, echo, "beside") as beside:
        await flooded.answer("flood 1000")
        await beside.answer("warm")
        before = host.process.memory_info().rss
        flooded.frames.clear()
        flooding = asyncio.create_task(flooded.answer(f"flood {DELTAS}"))
        seconds, peak = [], before
        while not flooding.done():
            started_at = time.monotonic()
            await beside.answer("quick")
            seconds.append(time.monotonic() - started_at)
            peak = max(peak, host.process.memory_info().rss)
        assert await flooding == "flooded"

    assert len(flooded.deltas) == DELTAS
    assert peak - before < 30 * MEBIBYTE
    assert sorted(seconds)[len(seconds) // 2] < 0.1
    run_id = flooded.of("message")[0]["run_id"]
    events = host.items(f"/runs/{run_id}/events")
    assert sum(len(event["data"]["chunk"]["content"]) for event in events if "chunk" in event["data"]) == DELTAS
