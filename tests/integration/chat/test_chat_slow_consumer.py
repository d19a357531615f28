"""Tests that a reader that stops reading affects only itself."""

import asyncio

import pytest
from websockets.exceptions import ConnectionClosed

from tests.support.chat import Chat
from tests.support.harness import PUPPET, Host


async def test_a_client_that_stops_reading_delays_no_other_client_and_can_catch_up(host: Host) -> None:
    agent = host.agent(PUPPET)
    narrow = {"max_queue": 1, "ping_interval": None}
    async with Chat(host, agent, "slow", **narrow) as slow, Chat(host, agent, "quick") as quick:
        await slow.say("flood 8000 2000")  # 16 MB that are not read
        # The slow client reads again only after these answers, so waiting for it would never end.
        for number in range(40):
            assert await quick.answer(f"say {number}") == str(number)
        seen = slow.last_seq
        slow.cut()

    assert await catch_up(host, agent, seen) == "flooded"
    assert await catch_up(host, agent, seen) == "flooded", "the run has ended, so this comes from the stored transcript"


async def catch_up(host: Host, agent: str, seen: int) -> str:
    """Resumes until the message arrives. A client that is too slow is disconnected again while the run is active."""
    async with asyncio.timeout(60):
        while True:
            # all frames that were missed so far come in one frame
            async with Chat(host, agent, "slow", after=seen, max_size=None) as again:
                try:
                    return str((await again.until("message", seconds=20))["message"]["content"])
                except ConnectionClosed as closed:
                    if closed.rcvd is None or closed.rcvd.code != 1013:
                        raise
                    seen = max(seen, again.last_seq)


async def test_a_client_that_is_disconnected_for_slowness_is_asked_to_reconnect(host: Host) -> None:
    agent = host.agent(PUPPET)
    async with Chat(host, agent, "cut", max_queue=1, ping_interval=None) as slow:
        await slow.say("flood 8000 2000")
        async with Chat(host, agent, "cut", max_size=None) as other:
            await other.until("run", seconds=30, status="completed")
        with pytest.raises(ConnectionClosed):
            await slow.until("run", status="completed")
        assert slow.socket.close_code == 1013
