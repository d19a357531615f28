"""Tests time-outs, cancellation and slots of calls over every transport."""

import asyncio
from typing import Any

import pytest

from parlour_sdk.wire import WireError, WireLimits

from .handlers import Gate, numbers
from .support import Handlers, Link, settle, within


async def forever(data: Any) -> None:
    await asyncio.Event().wait()


async def test_cancelling_the_waiting_task_cancels_the_handler_once(link: Link) -> None:
    gate = Gate()
    left, right = await link.peers(right=Handlers(gate=gate))
    task = asyncio.create_task(left.call("gate", 1))
    await within(gate.started.get())
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
    assert await within(left.call("ping")) is None
    await settle()
    assert (gate.cancelled, gate.running) == (1, 0)
    assert not right.closed


async def test_a_time_out_raises_deadline_exceeded_and_sends_one_cancel(link: Link) -> None:
    peer, raw = await link.peer_and_raw()
    with pytest.raises(WireError, match="deadline_exceeded"):
        await within(peer.call("slow", timeout=0.01))
    request = await raw.receive()
    assert await raw.round_trip() == [{"cancel": request["seq_id"]}]


async def test_a_time_out_covers_the_wait_for_a_slot(link: Link) -> None:
    peer, raw = await link.peer_and_raw(limits=WireLimits(unary_calls=1))
    first = asyncio.create_task(peer.call("first"))
    request = await raw.receive()
    with pytest.raises(WireError, match="deadline_exceeded"):
        await within(peer.call("second", timeout=0.01))
    assert await raw.round_trip() == []
    raw.send(seq_id=request["seq_id"], code=0, message="", data="done")
    assert await within(first) == "done"


async def test_an_answer_in_time_leaves_no_cancel_behind(link: Link) -> None:
    peer, raw = await link.peer_and_raw()
    call = asyncio.create_task(peer.call("fast", timeout=60))
    request = await raw.receive()
    raw.send(seq_id=request["seq_id"], code=0, data=5)
    assert await within(call) == 5
    assert await raw.round_trip() == []


async def test_a_cancelled_call_is_always_answered_by_a_terminal_frame(link: Link) -> None:
    gate = Gate()
    _, raw = await link.peer_and_raw(Handlers(gate=gate))
    raw.send(seq_id=1, action="gate", data=None)
    await within(gate.started.get())
    raw.send(cancel=1)
    raw.send(cancel=1)
    answer = await raw.receive()
    assert (answer["seq_id"], answer["code"]) == (1, "cancelled")
    raw.send(cancel=1)
    assert await raw.round_trip() == []
    assert gate.cancelled == 1


async def test_a_second_cancel_does_not_interrupt_the_cleanup_of_a_handler(link: Link) -> None:
    started, tidying, tidied = asyncio.Event(), asyncio.Event(), asyncio.Event()

    async def work(data: Any) -> None:
        started.set()
        try:
            await asyncio.Event().wait()
        finally:
            await tidying.wait()
            tidied.set()

    _, raw = await link.peer_and_raw(Handlers(work=work))
    raw.send(seq_id=1, action="work", data=None)
    await within(started.wait())
    for _ in range(3):
        raw.send(cancel=1)
        assert await raw.round_trip() == []
    tidying.set()
    assert (await raw.receive())["code"] == "cancelled"
    assert tidied.is_set()


async def test_a_call_cancelled_before_its_handler_starts_is_answered(link: Link) -> None:
    _, raw = await link.peer_and_raw(Handlers(forever=forever, numbers=numbers))
    raw.send(seq_id=1, action="forever", data=None)
    raw.send(cancel=1)
    raw.send(seq_id=2, action="numbers", data=5)
    raw.send(cancel=2)
    answers = [await raw.receive(), await raw.receive()]
    assert [(answer["seq_id"], answer["code"]) for answer in answers] == [(1, "cancelled"), (2, "cancelled")]


async def test_a_handler_faster_than_its_cancel_answers_normally(link: Link) -> None:
    async def stubborn(data: Any) -> str:
        started.set()
        try:
            await asyncio.Event().wait()
        except asyncio.CancelledError:
            return "finished anyway"
        return "never"

    started = asyncio.Event()
    _, raw = await link.peer_and_raw(Handlers(stubborn=stubborn))
    raw.send(seq_id=1, action="stubborn", data=None)
    await within(started.wait())
    raw.send(cancel=1)
    assert await raw.receive() == {"seq_id": 1, "code": 0, "message": "", "data": "finished anyway"}


async def test_cancels_and_credits_for_unknown_requests_are_harmless(link: Link) -> None:
    peer, raw = await link.peer_and_raw()
    raw.send(cancel=12345)
    raw.send(credit=12345, n=3)
    assert await raw.round_trip() == []
    assert not peer.closed


async def test_a_cancelled_call_keeps_its_slot_until_it_is_answered(link: Link) -> None:
    peer, raw = await link.peer_and_raw(limits=WireLimits(unary_calls=1, cancel_grace=60))
    first = asyncio.create_task(peer.call("first"))
    request = await raw.receive()
    first.cancel()
    second = asyncio.create_task(peer.call("second"))
    assert await raw.round_trip() == [{"cancel": request["seq_id"]}]
    raw.send(seq_id=request["seq_id"], code="cancelled", message="")
    assert (await raw.receive())["action"] == "second"
    second.cancel()


async def test_a_cancelled_call_that_is_never_answered_frees_its_slot_after_the_grace(link: Link) -> None:
    peer, raw = await link.peer_and_raw(limits=WireLimits(unary_calls=1, cancel_grace=0.01))
    with pytest.raises(WireError, match="deadline_exceeded"):
        await within(peer.call("first", timeout=0.01))
    second = asyncio.create_task(peer.call("second"))
    assert [(await raw.receive()).get("action") for _ in range(3)] == ["first", None, "second"]
    second.cancel()


async def test_calls_over_the_limit_wait_in_order(link: Link) -> None:
    peer, raw = await link.peer_and_raw(limits=WireLimits(unary_calls=2))
    calls = [asyncio.create_task(peer.call("number", number)) for number in range(6)]
    requests = [await raw.receive(), await raw.receive()]
    for answered in range(4):
        assert await raw.round_trip() == []
        raw.send(seq_id=requests[answered]["seq_id"], code=0, data=None)
        requests.append(await raw.receive())
    assert [request["data"] for request in requests] == list(range(6))
    peer.close()
    await asyncio.gather(*calls, return_exceptions=True)


async def test_a_cancelled_waiting_call_does_not_use_a_slot(link: Link) -> None:
    peer, raw = await link.peer_and_raw(limits=WireLimits(unary_calls=1))
    calls = [asyncio.create_task(peer.call("number", number)) for number in range(3)]
    request = await raw.receive()
    calls[1].cancel()
    raw.send(seq_id=request["seq_id"], code=0, data=None)
    assert (await raw.receive())["data"] == 2
    calls[2].cancel()


async def test_incoming_calls_over_the_limit_are_rate_limited(link: Link) -> None:
    gate = Gate()
    _, raw = await link.peer_and_raw(Handlers(gate=gate), WireLimits(unary_calls=2))
    for seq_id in range(3):
        raw.send(seq_id=seq_id, action="gate", data=None)
    answer = await raw.receive()
    assert (answer["seq_id"], answer["code"]) == (2, "rate_limited")
    gate.opened.set()
    assert [(await raw.receive())["code"] for _ in range(2)] == [0, 0]
