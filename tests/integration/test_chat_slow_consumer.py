"""A reader that stops reading harms nobody but itself."""

import pytest
from websockets.exceptions import ConnectionClosed

from .chat import Chat
from .harness import PUPPET, Host


async def test_a_client_that_stops_reading_delays_nobody_and_can_catch_up(host: Host) -> None:
    agent = host.agent(PUPPET)
    narrow = {"max_queue": 1, "ping_interval": None}
    async with Chat(host, agent, "slow", **narrow) as slow, Chat(host, agent, "quick") as quick:
        await slow.say("flood 8000 2000")  # 16 MB that nobody takes
        for number in range(40):  # had they to wait for it, they would wait for ever: it reads again after them
            assert await quick.answer(f"say {number}") == str(number)
        seen = slow.last_seq
        slow.cut()

    # The run may still be at it, and then all that was missed so far comes in one frame.
    async with Chat(host, agent, "slow", after=seen, max_size=None) as again:
        message = await again.until("message", seconds=20)
    assert message["message"]["content"] == "flooded"


async def test_a_client_that_is_cut_off_for_slowness_is_told_to_come_back(host: Host) -> None:
    agent = host.agent(PUPPET)
    async with Chat(host, agent, "cut", max_queue=1, ping_interval=None) as slow:
        await slow.say("flood 8000 2000")
        async with Chat(host, agent, "cut", max_size=None) as other:
            await other.until("run", seconds=30, status="completed")
        with pytest.raises(ConnectionClosed):
            await slow.until("run", status="completed")
        assert slow.socket.close_code == 1013
