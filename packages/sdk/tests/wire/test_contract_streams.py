"""Tests streams over every transport."""

import asyncio
import math
from collections.abc import AsyncGenerator
from contextlib import aclosing
from functools import partial
from typing import Any

import pytest

from parlour_sdk.wire import ConnectionClosed, WireError, WireLimits, WireStream

from .support import Handlers, Link, no_other_tasks, settle, within

UNLIMITED = WireLimits(frames_per_second=math.inf, bytes_per_second=math.inf)


class Counter:
    """Streams numbers, and records how many were produced and that it was closed."""

    def __init__(self) -> None:
        self.produced = 0
        self.closed = asyncio.Event()

    async def __call__(self, count: int) -> AsyncGenerator[int, None]:
        try:
            for number in range(count):
                self.produced += 1
                yield number
        finally:
            await asyncio.sleep(0)  # closing may take a while
            self.closed.set()


async def echo(data: Any) -> Any:
    return data


async def endless_wait(data: Any) -> AsyncGenerator[int, None]:
    yield 1
    await asyncio.Event().wait()


async def all_of(stream: WireStream) -> list[Any]:
    return [part async for part in stream]


async def test_parts_arrive_in_order_and_the_stream_ends(link: Link) -> None:
    counter = Counter()
    left, _ = await link.peers(right=Handlers(numbers=counter), limits=UNLIMITED)
    assert await within(all_of(left.stream("numbers", 1000))) == list(range(1000))
    assert counter.closed.is_set()


async def test_batches_hold_every_part_once_and_end_with_an_empty_one(link: Link) -> None:
    left, _ = await link.peers(right=Handlers(numbers=Counter()), limits=UNLIMITED)
    stream = left.stream("numbers", 1000)
    received: list[int] = []
    while batch := await within(stream.batch()):
        assert len(batch) <= UNLIMITED.window
        received += batch
    assert received == list(range(1000))
    assert await stream.batch() == []


async def test_parts_before_an_error_are_delivered_first(link: Link) -> None:
    async def breaks(data: Any) -> AsyncGenerator[int, None]:
        yield 1
        yield 2
        raise WireError("not_found", "the third is missing")

    left, _ = await link.peers(right=Handlers(breaks=breaks))
    stream = left.stream("breaks")
    assert [await within(anext(stream)), await within(anext(stream))] == [1, 2]
    with pytest.raises(WireError, match="the third is missing"):
        await within(stream.batch())


async def test_frames_of_a_stream_have_the_form_of_the_protocol(link: Link) -> None:
    _, raw = await link.peer_and_raw(Handlers(numbers=Counter()))
    raw.send(seq_id=4, action="numbers", data=1)
    assert await raw.receive() == {"seq_id": 4, "code": 0, "data": 0, "chunk_status": "continue"}
    assert await raw.receive() == {"seq_id": 4, "code": 0, "data": None, "chunk_status": "end"}


async def test_the_sender_waits_when_its_credit_is_used_up(link: Link) -> None:
    counter = Counter()
    _, raw = await link.peer_and_raw(Handlers(numbers=counter), WireLimits(window=4))
    raw.send(seq_id=1, action="numbers", data=100)
    assert [frame["data"] for frame in [await raw.receive() for _ in range(4)]] == [0, 1, 2, 3]
    await settle()
    assert await raw.round_trip() == []
    assert counter.produced == 5  # the fifth waits for credit
    raw.send(credit=1, n=2)
    assert [frame["data"] for frame in [await raw.receive() for _ in range(2)]] == [4, 5]
    assert await raw.round_trip() == []


async def test_credit_is_granted_in_batches_as_parts_are_taken(link: Link) -> None:
    peer, raw = await link.peer_and_raw(limits=WireLimits(window=8))
    stream = peer.stream("numbers")
    seq_id = (await raw.receive())["seq_id"]
    for number in range(8):
        raw.send(seq_id=seq_id, code=0, data=number, chunk_status="continue")
    assert await raw.round_trip() == []
    assert [await within(anext(stream)) for _ in range(3)] == [0, 1, 2]
    assert await raw.round_trip() == []
    assert await within(anext(stream)) == 3
    assert await raw.receive() == {"credit": seq_id, "n": 4}
    assert await within(stream.batch()) == [4, 5, 6, 7]
    assert await raw.receive() == {"credit": seq_id, "n": 4}


async def test_a_sender_that_overruns_its_credit_fails_only_its_stream(link: Link) -> None:
    peer, raw = await link.peer_and_raw(limits=WireLimits(window=4))
    stream, other = peer.stream("greedy"), peer.stream("modest")
    greedy, modest = (await raw.receive())["seq_id"], (await raw.receive())["seq_id"]
    for number in range(50):
        raw.send(seq_id=greedy, code=0, data=number, chunk_status="continue")
    raw.send(seq_id=modest, code=0, data="fine", chunk_status="continue")
    assert await within(anext(other)) == "fine"
    assert await raw.round_trip() == [{"cancel": greedy}]
    with pytest.raises(WireError, match="credit_exceeded"):
        await within(stream.batch())
    assert not peer.closed


async def test_a_stopped_consumer_does_not_delay_another_stream_or_use_memory(link: Link) -> None:
    stopped_counter, running_counter = Counter(), Counter()
    handlers = Handlers(stopped=stopped_counter, running=running_counter, echo=echo)
    left, _ = await link.peers(right=handlers, limits=UNLIMITED)
    stopped, running = left.stream("stopped", 100_000), left.stream("running", 100_000)
    received = 0
    while batch := await within(running.batch()):
        assert batch[0] == received
        received += len(batch)
        ahead = running_counter.produced - received
        assert ahead <= UNLIMITED.window + 1
        if received % 100 == 0:
            assert await within(left.call("echo", received)) == received
    assert received == 100_000
    assert stopped_counter.produced <= UNLIMITED.window + 1
    stopped.abort()
    await within(stopped_counter.closed.wait())


async def test_aborting_wakes_the_reader_at_once_and_closes_the_producer(link: Link) -> None:
    closed = asyncio.Event()

    async def quiet(data: Any) -> AsyncGenerator[int, None]:
        try:
            yield 1
            await asyncio.Event().wait()
        finally:
            closed.set()

    left, _ = await link.peers(right=Handlers(quiet=quiet))
    stream = left.stream("quiet")
    assert await within(stream.batch()) == [1]
    waiting = asyncio.create_task(stream.batch())
    await settle()
    stream.abort(RuntimeError("the run was stopped"))
    with pytest.raises(RuntimeError, match="the run was stopped"):
        await within(waiting)
    await within(closed.wait())


async def test_aborting_twice_sends_one_cancel_and_drops_later_parts(link: Link) -> None:
    peer, raw = await link.peer_and_raw()
    stream = peer.stream("numbers")
    seq_id = (await raw.receive())["seq_id"]
    raw.send(seq_id=seq_id, code=0, data=1, chunk_status="continue")
    await raw.round_trip()
    stream.abort()
    stream.abort(RuntimeError("late"))
    await stream.aclose()
    raw.send(seq_id=seq_id, code=0, data=2, chunk_status="continue")
    raw.send(seq_id=seq_id, code="cancelled", message="")
    assert await raw.round_trip() == [{"cancel": seq_id}]
    with pytest.raises(WireError, match="cancelled"):
        await stream.batch()
    assert peer.ignored_frames == 0


async def test_the_ended_callback_runs_once_when_a_late_end_arrives(link: Link) -> None:
    peer, raw = await link.peer_and_raw(limits=WireLimits(cancel_grace=0.01))
    calls: list[str] = []
    stream = peer.stream("numbers", ended=lambda: calls.append("ended"))
    seq_id = (await raw.receive())["seq_id"]
    stream.abort()
    await asyncio.sleep(0.05)  # well after the grace
    raw.send(seq_id=seq_id, code=0, data=2, chunk_status="continue")
    await raw.round_trip()
    assert calls == []
    raw.send(seq_id=seq_id, code="cancelled", message="")
    raw.send(seq_id=seq_id, code="cancelled", message="")
    await raw.round_trip()
    assert calls == ["ended"]
    assert peer.ignored_frames == 2  # the part that came too late, and the second end


@pytest.mark.parametrize("ending", [{"chunk_status": "end", "code": 0}, {"code": "runtime_error", "message": ""}])
async def test_the_ended_callback_runs_for_every_kind_of_end(link: Link, ending: dict[str, Any]) -> None:
    peer, raw = await link.peer_and_raw()
    calls: list[str] = []
    peer.stream("numbers", ended=lambda: calls.append("ended"))
    raw.send(seq_id=(await raw.receive())["seq_id"], data=None, **ending)
    await raw.round_trip()
    assert calls == ["ended"]


async def test_the_ended_callback_runs_when_the_connection_closes(link: Link) -> None:
    peer, raw = await link.peer_and_raw()
    calls: list[str] = []
    for name in ("read", "aborted"):
        stream = peer.stream(name, ended=partial(calls.append, name))
        await raw.receive()
    stream.abort()
    peer.close()
    assert calls == ["read", "aborted"]


async def test_closing_a_stream_early_closes_a_producer_that_waits_for_credit(link: Link) -> None:
    counter = Counter()
    left, _ = await link.peers(right=Handlers(numbers=counter), limits=WireLimits(window=4))
    async with aclosing(left.stream("numbers", 100)) as stream:
        async for part in stream:
            if part == 2:
                break
    await within(counter.closed.wait())
    assert counter.produced < 20


async def test_a_cancelled_wait_leaves_the_stream_usable(link: Link) -> None:
    peer, raw = await link.peer_and_raw()
    stream = peer.stream("numbers")
    seq_id = (await raw.receive())["seq_id"]
    waiting = asyncio.create_task(stream.batch())
    await settle()
    waiting.cancel()
    await asyncio.gather(waiting, return_exceptions=True)
    raw.send(seq_id=seq_id, code=0, data="later", chunk_status="continue")
    assert await within(anext(stream)) == "later"


async def test_closing_the_connection_closes_producers_and_fails_readers(link: Link) -> None:
    counter = Counter()
    left, right = await link.peers(right=Handlers(numbers=counter, wait=endless_wait), limits=WireLimits(window=4))
    unread, waiting = left.stream("numbers", 100), left.stream("wait")
    assert await within(anext(waiting)) == 1
    reader = asyncio.create_task(waiting.batch())
    await within(left.call("ping"))
    right.close("plugin stopped")
    with pytest.raises(ConnectionClosed):
        await within(reader)
    with pytest.raises(ConnectionClosed):
        await within(all_of(unread))
    await within(counter.closed.wait())
    await within(no_other_tasks())


async def test_streams_over_the_limit_are_rate_limited(link: Link) -> None:
    left, _ = await link.peers(right=Handlers(wait=endless_wait), limits=WireLimits(streams=2))
    streams = [left.stream("wait") for _ in range(3)]
    assert [await within(anext(stream)) for stream in streams[:2]] == [1, 1]
    with pytest.raises(WireError, match="rate_limited"):
        await within(anext(streams[2]))
    streams[0].abort()
    await within(left.call("ping"))
    await settle()
    assert await within(anext(left.stream("wait"))) == 1


async def test_a_part_over_the_frame_limit_fails_its_stream(link: Link) -> None:
    async def grows(data: Any) -> AsyncGenerator[str, None]:
        try:
            yield "small"
            yield "x" * 1000
            yield "never"
        finally:
            closed.set()

    closed = asyncio.Event()
    left, _ = await link.peers(right=Handlers(grows=grows), limits=WireLimits(frame_bytes=500))
    stream = left.stream("grows")
    assert await within(anext(stream)) == "small"
    with pytest.raises(WireError, match="payload_too_large"):
        await within(anext(stream))
    assert closed.is_set()


async def test_a_stream_of_a_unary_action_is_refused_with_the_remedy(link: Link) -> None:
    left, _ = await link.peers(right=Handlers(echo=echo))
    with pytest.raises(WireError, match="use call instead"):
        await within(left.stream("echo", 1).batch())


async def test_an_invalid_part_fails_only_its_stream(link: Link) -> None:
    peer, raw = await link.peer_and_raw()
    stream = peer.stream("numbers")
    seq_id = (await raw.receive())["seq_id"]
    raw.send(seq_id=seq_id, code=0, data=1, chunk_status="sideways")
    with pytest.raises(WireError, match="chunk_status"):
        await within(stream.batch())
    assert await raw.round_trip() == [{"cancel": seq_id}]
    assert not peer.closed


async def test_a_second_reader_of_one_stream_is_refused(link: Link) -> None:
    left, _ = await link.peers(right=Handlers(wait=endless_wait))
    stream = left.stream("wait")
    await within(anext(stream))
    first = asyncio.create_task(stream.batch())
    await settle()
    with pytest.raises(RuntimeError, match="one consumer"):
        await stream.batch()
    stream.abort()
    await asyncio.gather(first, return_exceptions=True)
