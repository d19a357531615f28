"""The time of an event follows the Host's clock, also if the implementation's clock is wrong."""

import json
import time

import pytest
from websockets.asyncio.client import connect

from parlour.platforms.onebot11.connection import PeerClock
from parlour.testing.onebot_simulator import Simulator, native

from .conftest import Bot

HOUR_SECONDS = 3600
TOLERANCE_MILLISECONDS = 5_000
"""Tolerance: OneBot reports whole seconds, and a test may be slow."""


def milliseconds() -> int:
    return round(time.time() * 1000)


@pytest.mark.parametrize("off", [0, -HOUR_SECONDS, HOUR_SECONDS])
async def test_the_time_of_a_message_is_converted_to_the_hosts_clock(off: int, bot: Bot, simulator: Simulator) -> None:
    """Sends one message of now and one of ten minutes ago."""
    platform_time = int(time.time()) + off
    await simulator.report({**native.heartbeat(10001, 60), "time": platform_time})
    await simulator.say("now", time=platform_time)
    await simulator.say("earlier", time=platform_time - 600)
    now, earlier = await bot.link.events(2)
    assert milliseconds() - TOLERANCE_MILLISECONDS < now.happened_at <= milliseconds()
    assert (
        milliseconds() - 600_000 - TOLERANCE_MILLISECONDS
        < earlier.happened_at
        <= milliseconds() - 600_000 + TOLERANCE_MILLISECONDS
    )
    assert now.event.timestamp == platform_time * 1000


async def test_a_message_from_the_future_gets_the_current_time(bot: Bot, simulator: Simulator) -> None:
    await simulator.say("from afar", time=int(time.time()) + 10 * 365 * 24 * HOUR_SECONDS)
    [incoming] = await bot.link.events(1)
    assert milliseconds() - TOLERANCE_MILLISECONDS < incoming.happened_at <= milliseconds()


async def test_a_message_has_no_time_before_the_clocks_were_compared(bot: Bot) -> None:
    async with connect(bot.url, additional_headers={"X-Self-ID": "10001"}, proxy=None) as socket:
        await socket.send(_frame(native.message(10001, 1, 7, [native.text("before")])))
        [before] = await bot.link.events(1)
        await socket.send(_frame({**native.heartbeat(10001, 60), "time": "noon"}))
        await socket.send(_frame(native.message(10001, 2, 7, [native.text("still")])))
        await bot.link.events(2)
        await socket.send(_frame(native.lifecycle(10001)))
        await socket.send(_frame(native.message(10001, 3, 7, [native.text("after")])))
        *_, still, after = await bot.link.events(3)
    assert before.happened_at == 0
    assert still.happened_at == 0
    assert after.happened_at > 0


async def test_a_greeting_with_the_start_time_of_the_implementation_is_not_compared(bot: Bot) -> None:
    """The first frame of go-cqhttp has the time at which go-cqhttp was started."""
    async with connect(bot.url, additional_headers={"X-Self-ID": "10001"}, proxy=None) as socket:
        await socket.send(_frame({**native.lifecycle(10001), "time": int(time.time()) - 5 * HOUR_SECONDS}))
        await socket.send(_frame(native.message(10001, 1, 7, [native.text("hello")])))
        [incoming] = await bot.link.events(1)
        assert bot.link.now == ("connected", "")
    assert incoming.happened_at == 0


async def test_a_message_without_a_time_has_none(bot: Bot, simulator: Simulator) -> None:
    await simulator.say("whenever", time=0)
    [incoming] = await bot.link.events(1)
    assert incoming.happened_at == 0


def test_the_last_clock_comparison_counts() -> None:
    clock = PeerClock()
    clock.compare(1_000_000, now=5_000_000)
    assert (
        clock.skew_problem == "the OneBot implementation's clock is 67 minutes behind the Host's; set one of them right"
    )
    assert clock.to_host_time(999_000, arrived_at=5_000_000) == 4_999_000
    clock.compare(5_000_100, now=5_000_000)
    assert clock.skew_problem == ""
    assert clock.to_host_time(4_999_100, arrived_at=5_000_000) == 4_999_000
    assert clock.to_host_time(5, arrived_at=5_000_000) == 0


def _frame(event: dict[str, object]) -> str:
    return json.dumps(event)
