"""Tests rate limits and time-outs with virtual time, where each event has an exact time."""

import asyncio
from collections.abc import AsyncGenerator
from typing import Any

import pytest

from parlour_sdk.wire import Peer, WireError, WireLimits, memory_pair

from .support import Handlers, Raw, now
from .support import in_virtual_time as run


async def echo(data: Any) -> Any:
    return data


def test_the_default_rate_limit_is_a_burst_of_500_frames_and_5000_per_second() -> None:
    async def scenario() -> None:
        one, other = memory_pair()
        served: list[float] = []

        async def note(data: Any) -> None:
            served.append(now())

        peer = Peer(one, Handlers(note=note), WireLimits(unary_calls=100_000))
        peer.start()
        raw = Raw(other)
        for seq_id in range(20_000):
            raw.send(seq_id=seq_id, action="note", data=None)
        for _ in range(20_000):
            await raw.receive()
        at_once = sum(moment == 0.0 for moment in served)
        assert at_once in (500, 501)  # the last one is on the edge
        assert served[-1] == pytest.approx(3.9, abs=0.1)
        for moment in range(1, 39):
            assert sum(time <= moment / 10 for time in served) <= 501 + 500 * moment
        peer.close()

    run(scenario())


def test_bytes_are_rate_limited() -> None:
    async def scenario() -> None:
        one, other = memory_pair()
        peer = Peer(one, Handlers(echo=echo), WireLimits(bytes_per_second=1000))
        peer.start()
        raw = Raw(other)
        for seq_id in range(5):
            raw.send(seq_id=seq_id, action="echo", data="x" * 960)
        for _ in range(5):
            await raw.receive()
        assert now() == pytest.approx(3.9, abs=0.3)
        peer.close()

    run(scenario())


def test_pings_cancels_and_credits_are_not_rate_limited() -> None:
    async def scenario() -> None:
        one, other = memory_pair()
        peer = Peer(one, Handlers(echo=echo), WireLimits(frames_per_second=10))
        peer.start()
        raw = Raw(other)
        for seq_id in range(300):
            raw.send(cancel=seq_id)
            raw.send(credit=seq_id, n=1)
            raw.send(seq_id=seq_id, action="ping", data=None)
        for _ in range(300):
            await raw.receive()
        assert now() == 0.0
        peer.close()

    run(scenario())


def test_a_flood_of_pings_cancels_and_credits_is_slowed() -> None:
    async def scenario() -> None:
        one, other = memory_pair()
        peer = Peer(one, Handlers(echo=echo))
        peer.start()
        raw = Raw(other)
        for seq_id in range(10_000):
            raw.send(cancel=seq_id)
            raw.send(credit=seq_id, n=1)
        raw.send(seq_id=1, action="ping", data=None)
        await raw.receive()
        assert now() == pytest.approx(1.9, abs=0.1)
        peer.close()

    run(scenario())


def test_pings_and_credits_with_data_are_rate_limited() -> None:
    async def scenario() -> None:
        one, other = memory_pair()
        peer = Peer(one, Handlers(echo=echo), WireLimits(frames_per_second=10))
        peer.start()
        raw = Raw(other)
        for seq_id in range(10):
            raw.send(seq_id=seq_id, action="ping", data="x" * 300)
            raw.send(credit=seq_id, n=1, carried="x" * 300)
        raw.send(seq_id=10, action="ping", data=None)
        for _ in range(11):
            await raw.receive()
        assert now() == pytest.approx(1.9, abs=0.2)
        peer.close()

    run(scenario())


def test_a_frame_with_many_values_counts_as_several_frames() -> None:
    async def scenario() -> None:
        one, other = memory_pair()
        peer = Peer(one, Handlers(echo=echo), WireLimits(frames_per_second=1000))
        peer.start()
        raw = Raw(other)
        for seq_id in range(3):
            raw.send(seq_id=seq_id, action="echo", data=[0] * 32_000)
        for _ in range(3):
            await raw.receive()
        assert now() == pytest.approx(2 * 1.0, abs=0.2)
        peer.close()

    run(scenario())


def test_timeouts_and_the_cancel_grace_are_exact() -> None:
    async def scenario() -> None:
        one, other = memory_pair()
        peer = Peer(one, Handlers(), WireLimits(unary_calls=1))
        peer.start()
        raw = Raw(other)
        with pytest.raises(WireError, match="deadline_exceeded"):
            await peer.call("first", timeout=300)
        assert now() == 300
        with pytest.raises(WireError, match="deadline_exceeded"):
            await peer.call("second", timeout=4)
        assert now() == 304
        third = asyncio.create_task(peer.call("third"))
        frames = [await raw.receive() for _ in range(3)]
        assert [frame.get("action") for frame in frames] == ["first", None, "third"]
        assert now() == 305
        peer.close()
        await asyncio.gather(third, return_exceptions=True)

    run(scenario())


def test_two_runs_have_the_same_order_of_events() -> None:
    async def numbers(count: int) -> AsyncGenerator[int, None]:
        for number in range(count):
            await asyncio.sleep(number % 3)
            yield number

    async def scenario() -> list[tuple[float, str, Any]]:
        one, other = memory_pair()
        left, right = Peer(one, Handlers(echo=echo)), Peer(other, Handlers(echo=echo, numbers=numbers))
        left.start()
        right.start()
        trace: list[tuple[float, str, Any]] = []

        async def follow(name: str, count: int) -> None:
            async for part in left.stream("numbers", count):
                trace.append((now(), name, part))
                trace.append((now(), "answer", await right.call("echo", part, timeout=1)))

        await asyncio.gather(*(follow(f"stream {count}", count) for count in range(20, 30)))
        left.close()
        return trace

    assert run(scenario()) == run(scenario())
