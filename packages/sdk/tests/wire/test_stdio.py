"""Tests the transport of lines over file descriptors."""

import asyncio
import math
import os
from collections import Counter
from collections.abc import AsyncGenerator
from typing import Any

import pytest
import uvloop
from hypothesis import given, settings
from hypothesis import strategies as st

from parlour_sdk.wire import ConnectionClosed, FrameTooLarge, Peer, StdioTransport, WireError, WireLimits
from parlour_sdk.wire.lines import LineSplitter

from .support import Handlers, open_pipes, settle, within

lines = st.lists(st.binary(max_size=40).map(lambda line: line.replace(b"\n", b"")), max_size=20)


def cut(data: bytes, sizes: list[int]) -> list[bytes]:
    chunks = []
    for size in sizes:
        chunks.append(data[:size])
        data = data[size:]
    return [chunk for chunk in [*chunks, data] if chunk]


@given(lines, st.lists(st.integers(1, 50)))
def test_any_chunking_yields_the_same_lines(expected: list[bytes], sizes: list[int]) -> None:
    buffer = LineSplitter(limit=40)
    for chunk in cut(b"".join(line + b"\n" for line in expected), sizes):
        buffer.feed(chunk)
    assert list(buffer.complete) == expected


@settings(max_examples=30, deadline=None)
@given(lines, st.lists(st.integers(1, 50), max_size=10))
async def test_any_chunking_yields_the_same_frames_through_a_pipe(expected: list[bytes], sizes: list[int]) -> None:
    reads, feeds = os.pipe()
    drained, writes = os.pipe()
    transport = StdioTransport(reads, writes)
    received: list[bytes] = []
    closed = asyncio.Event()
    transport.start(received.append, lambda _: closed.set())
    for chunk in cut(b"".join(line + b"\n" for line in expected), sizes):
        os.write(feeds, chunk)
        await settle(3)
    os.close(feeds)
    await within(closed.wait())
    os.close(drained)
    await settle()
    assert received == expected


async def test_many_frames_at_once_do_not_block_the_event_loop() -> None:
    reads, feeds = os.pipe()
    drained, writes = os.pipe()
    os.write(feeds, b"{}\n" * 3000)
    os.close(feeds)
    iteration = 0
    seen: list[int] = []
    closed = asyncio.Event()

    async def count_iterations() -> None:
        nonlocal iteration
        while True:
            iteration += 1
            await asyncio.sleep(0)

    counting = asyncio.create_task(count_iterations())
    StdioTransport(reads, writes).start(lambda _: seen.append(iteration), lambda _: closed.set())
    await within(closed.wait())
    counting.cancel()
    os.close(drained)

    assert len(seen) == 3000
    assert max(Counter(seen).values()) < 600


@given(st.binary(min_size=11).filter(lambda data: b"\n" not in data), st.lists(st.integers(1, 50)))
def test_a_line_over_the_limit_is_refused_as_soon_as_it_is_too_long(data: bytes, sizes: list[int]) -> None:
    buffer = LineSplitter(limit=10)
    buffer.feed(b"good\n")
    fed = 0
    for chunk in cut(data, sizes):
        fed += len(chunk)
        if fed > 10:
            with pytest.raises(FrameTooLarge):
                buffer.feed(chunk)
            break
        buffer.feed(chunk)
    assert list(buffer.complete) == [b"good"]


async def test_an_endless_line_closes_the_connection_after_the_frames_before_it() -> None:
    reads, feeds = os.pipe()
    drained, writes = os.pipe()
    transport = StdioTransport(reads, writes, WireLimits(frame_bytes=1000))
    received: list[bytes] = []
    closed: asyncio.Future[BaseException | None] = asyncio.get_running_loop().create_future()
    transport.start(received.append, closed.set_result)
    os.write(feeds, b"good\n" + b"x" * 2000)
    error = await within(closed)
    assert isinstance(error, FrameTooLarge)
    assert received == [b"good"]
    await settle()
    with pytest.raises(BrokenPipeError):
        os.write(feeds, b"more")
    os.close(feeds)
    os.close(drained)


async def test_frames_of_one_loop_iteration_are_sent_in_one_write() -> None:
    reads, feeds = os.pipe()
    drained, writes = os.pipe()
    transport = StdioTransport(reads, writes)
    transport.start(lambda _: None, lambda _: None)
    await settle()
    for number in range(10):
        transport.send(b"%d" % number)
    os.set_blocking(drained, False)
    with pytest.raises(BlockingIOError):
        os.read(drained, 100)
    await settle(2)
    assert os.read(drained, 100) == b"0\n1\n2\n3\n4\n5\n6\n7\n8\n9\n"
    transport.close()
    await settle()
    os.close(feeds)
    os.close(drained)


async def test_frames_that_arrive_before_the_start_are_kept() -> None:
    left, right = await open_pipes(WireLimits(), WireLimits())
    right.start(lambda _: None, lambda _: None)
    for number in range(1000):
        right.send(b"%d" % number)
    right.close()
    await settle()
    received: list[bytes] = []
    closed = asyncio.Event()
    left.start(received.append, lambda _: closed.set())
    await within(closed.wait())
    assert received == [b"%d" % number for number in range(1000)]
    await settle()


async def test_a_side_that_closes_its_reading_end_is_disconnected() -> None:
    reads, feeds = os.pipe()
    drained, writes = os.pipe()
    peer = Peer(StdioTransport(reads, writes), Handlers())
    peer.start()
    os.close(drained)
    with pytest.raises(ConnectionClosed):
        await within(peer.call("anyone"))
    os.close(feeds)
    await settle()


async def test_a_descriptor_that_is_not_a_pipe_is_refused() -> None:
    reads, feeds = os.pipe()
    peer = Peer(StdioTransport(reads, os.open("/dev/shm", os.O_TMPFILE | os.O_WRONLY)), Handlers())
    peer.start()
    assert "pipe" in (await within(peer.wait_closed())).lower()
    with pytest.raises(BrokenPipeError):
        os.write(feeds, b"nobody reads")
    os.close(feeds)


async def test_closing_right_after_the_start_sends_pending_frames() -> None:
    reads, feeds = os.pipe()
    drained, writes = os.pipe()
    transport = StdioTransport(reads, writes)
    transport.start(lambda _: None, lambda _: None)
    transport.send(b"last frame")
    transport.close()
    await settle()
    assert os.read(drained, 100) == b"last frame\n"
    assert os.read(drained, 100) == b""
    with pytest.raises(BrokenPipeError):
        os.write(feeds, b"nobody reads")
    os.close(feeds)
    os.close(drained)


async def test_a_transport_that_was_never_started_closes_its_descriptors() -> None:
    reads, feeds = os.pipe()
    drained, writes = os.pipe()
    StdioTransport(reads, writes).close()
    assert os.read(drained, 100) == b""
    os.close(feeds)
    os.close(drained)


def test_calls_streams_and_closing_work_under_uvloop() -> None:
    closed: list[bool] = []

    async def echo(data: Any) -> Any:
        return data

    async def numbers(count: int) -> AsyncGenerator[int, None]:
        try:
            for number in range(count):
                yield number
            await asyncio.Event().wait()
        finally:
            closed.append(True)

    async def flood(count: int) -> AsyncGenerator[str, None]:
        for _ in range(count):
            yield "x" * 50_000

    async def scenario() -> None:
        limits = WireLimits(frames_per_second=math.inf, bytes_per_second=math.inf)
        one, other = await open_pipes(limits, limits)
        left = Peer(one, Handlers(echo=echo), limits)
        right = Peer(other, Handlers(echo=echo, numbers=numbers, flood=flood), limits)
        left.start()
        right.start()
        calls = [peer.call("echo", number) for peer in (left, right) for number in range(500)]
        assert await within(asyncio.gather(*calls)) == [*range(500)] * 2
        assert len(await within(left.call("echo", "x" * 1_000_000))) == 1_000_000
        assert len([part async for part in left.stream("flood", 200)]) == 200
        stream = left.stream("numbers", 1000)
        assert [await within(anext(stream)) for _ in range(1000)] == list(range(1000))
        with pytest.raises(WireError, match="deadline_exceeded"):
            await within(left.call("numbers", 0, timeout=0.01))
        right.close("enough")
        with pytest.raises(ConnectionClosed):
            await within(stream.batch())
        assert "other side closed" in await within(left.wait_closed())
        await settle()
        assert closed

    async def slowed() -> None:
        limits = WireLimits(frames_per_second=1000, unary_calls=2000)
        one, other = await open_pipes(limits, limits)
        left, right = Peer(one, Handlers(), limits), Peer(other, Handlers(echo=echo), limits)
        left.start()
        right.start()
        assert await within(asyncio.gather(*(left.call("echo", number) for number in range(1100)))) == [*range(1100)]
        left.close()
        await within(right.wait_closed())
        await settle()

    with asyncio.Runner(loop_factory=uvloop.new_event_loop) as runner:
        runner.run(scenario())
        runner.run(slowed())
