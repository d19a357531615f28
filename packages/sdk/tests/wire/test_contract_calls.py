"""Tests calls over every transport."""

import asyncio
import logging
from collections.abc import AsyncGenerator
from typing import Any

import pytest

from parlour_sdk.wire import ConnectionClosed, WireError, WireLimits

from .handlers import Gate, numbers
from .support import Handlers, Link, no_other_tasks, settle, within


async def echo(data: Any) -> Any:
    return data


async def quiet(data: Any) -> AsyncGenerator[None, None]:
    await asyncio.Event().wait()
    yield


async def test_concurrent_calls_of_both_sides_get_their_own_answers(link: Link) -> None:
    async def left_echo(data: Any) -> Any:
        return ["left", data]

    left, right = await link.peers(Handlers(echo=left_echo), Handlers(echo=echo))
    from_right = [left.call("echo", number) for number in range(300)]
    from_left = [right.call("echo", number) for number in range(300)]
    assert await within(asyncio.gather(*from_right)) == list(range(300))
    assert await within(asyncio.gather(*from_left)) == [["left", number] for number in range(300)]


async def test_a_large_payload_arrives_complete(link: Link) -> None:
    left, _ = await link.peers(right=Handlers(echo=echo))
    text = 'ü\n"\\' * 150_000
    assert await within(left.call("echo", text)) == text


async def test_a_handler_can_call_the_caller(link: Link) -> None:
    async def ask_back(data: Any) -> Any:
        return await right.call("echo", data)

    left, right = await link.peers(Handlers(echo=echo), Handlers(ask_back=ask_back))
    assert await within(left.call("ask_back", {"a": [1, None]})) == {"a": [1, None]}


async def test_an_unknown_action_is_answered_with_the_dispatchers_error(link: Link) -> None:
    left, _ = await link.peers()
    with pytest.raises(WireError, match="there is no action nothing") as raised:
        await within(left.call("nothing"))
    assert raised.value.code == "not_supported"


async def test_a_handlers_wire_error_reaches_the_caller_with_code_message_and_data(link: Link) -> None:
    async def refuse(data: Any) -> None:
        raise WireError("not_found", "no such thing", {"id": data})

    left, _ = await link.peers(right=Handlers(refuse=refuse))
    with pytest.raises(WireError) as raised:
        await within(left.call("refuse", 7))
    assert (raised.value.code, raised.value.message, raised.value.data) == ("not_found", "no such thing", {"id": 7})


async def test_a_crash_is_answered_without_its_text_and_logged(link: Link, caplog: pytest.LogCaptureFixture) -> None:
    async def crash(data: Any) -> None:
        raise ValueError("the password is swordfish")

    left, _ = await link.peers(right=Handlers(crash=crash))
    with caplog.at_level(logging.ERROR), pytest.raises(WireError) as raised:
        await within(left.call("crash"))
    assert raised.value.code == "runtime_error"
    assert "swordfish" not in str(raised.value)
    assert "swordfish" in caplog.text


async def test_a_crash_of_the_dispatcher_itself_is_answered(link: Link, caplog: pytest.LogCaptureFixture) -> None:
    def crash(data: Any) -> Any:
        raise KeyError("broken table")

    left, _ = await link.peers(right=Handlers(crash=crash))
    with pytest.raises(WireError, match="runtime_error"):
        await within(left.call("crash"))
    assert "broken table" in caplog.text


async def test_an_answer_that_is_not_json_is_a_runtime_error(link: Link, caplog: pytest.LogCaptureFixture) -> None:
    async def strange(data: Any) -> Any:
        return object()

    left, _ = await link.peers(right=Handlers(strange=strange))
    with pytest.raises(WireError, match="runtime_error"):
        await within(left.call("strange"))
    assert "can't be sent" in caplog.text


async def test_arguments_that_are_not_json_are_refused_before_anything_is_sent(link: Link) -> None:
    peer, raw = await link.peer_and_raw()
    with pytest.raises(WireError, match="invalid_argument"):
        await peer.call("echo", object())
    with pytest.raises(WireError, match="invalid_argument"):
        peer.stream("echo", "\ud800")
    assert await raw.round_trip() == []


async def test_a_request_over_the_frame_limit_fails_locally(link: Link) -> None:
    peer, raw = await link.peer_and_raw(limits=WireLimits(frame_bytes=1000))
    with pytest.raises(WireError, match="payload_too_large"):
        await peer.call("echo", "x" * 1000)
    assert await raw.round_trip() == []


async def test_a_response_over_the_frame_limit_becomes_an_error(link: Link) -> None:
    async def large(data: Any) -> str:
        return "x" * 1000

    async def large_error(data: Any) -> None:
        raise WireError("not_found", "x" * 1000)

    left, _ = await link.peers(
        right=Handlers(large=large, large_error=large_error), limits=WireLimits(frame_bytes=1000)
    )
    with pytest.raises(WireError, match="payload_too_large"):
        await within(left.call("large"))
    with pytest.raises(WireError, match="not_found"):
        await within(left.call("large_error"))


async def test_a_call_of_a_streaming_action_is_refused_with_the_remedy(link: Link) -> None:
    left, right = await link.peers(right=Handlers(numbers=numbers))
    with pytest.raises(WireError, match="use stream instead"):
        await within(left.call("numbers", 500))
    with pytest.raises(WireError, match="use stream instead"):
        await within(left.call("numbers", 0))
    await within(left.call("ping"))
    assert not right.closed


async def test_ping_is_answered_while_every_slot_is_taken(link: Link) -> None:
    gate = Gate()
    left, _ = await link.peers(right=Handlers(gate=gate), limits=WireLimits(unary_calls=1))
    busy = asyncio.create_task(left.call("gate"))
    await within(gate.started.get())
    assert await within(left.call("ping", timeout=5)) is None
    gate.opened.set()
    await within(busy)


async def test_ping_is_sent_despite_congestion(link: Link) -> None:
    peer, raw = await link.peer_and_raw()
    raw.transport.pause()
    large = []
    for _ in range(20):
        large.append(asyncio.create_task(peer.call("large", "x" * 1_000_000)))
        await settle()
    ping = asyncio.create_task(peer.call("ping"))
    late = asyncio.create_task(peer.call("late"))
    await settle()
    raw.transport.resume()
    actions = [(await raw.receive())["action"] for _ in range(22)]
    assert actions.index("ping") < actions.index("late")
    assert actions.index("ping") < 21 - actions[::-1].index("large")  # some large ones had to wait, and it did not
    for call in (*large, ping, late):
        call.cancel()


async def test_a_request_id_that_is_still_served_is_refused(link: Link) -> None:
    gate = Gate()
    _, raw = await link.peer_and_raw(Handlers(gate=gate))
    raw.send(seq_id=1, action="gate", data="first")
    raw.send(seq_id=1, action="gate", data="second")
    assert (await raw.receive())["code"] == "invalid_argument"
    gate.opened.set()
    assert (await raw.receive())["data"] == "first"


async def test_answers_to_unknown_requests_are_ignored(link: Link) -> None:
    peer, raw = await link.peer_and_raw()
    raw.send(seq_id=77, code=0, message="", data=None)
    raw.send(seq_id=77, code=0, data=1, chunk_status="continue")
    raw.send(seq_id=77, code=0, data=None, chunk_status="end")
    raw.send(seq_id=77, code="cancelled", message="late")
    raw.send(seq_id=77, code=5)
    assert await raw.round_trip() == []
    assert peer.ignored_frames == 5
    assert not peer.closed


async def test_a_malformed_request_with_an_id_is_answered(link: Link) -> None:
    peer, raw = await link.peer_and_raw()
    raw.send(seq_id=1, action=["not", "a", "name"])
    raw.transport.send(b'{"seq_id":2,"action":"echo","data":{broken')
    raw.transport.send(b'{"seq_id":3,"action":"echo","data":' + b"[" * 5000 + b"]" * 5000 + b"}")
    answers = [await raw.receive() for _ in range(3)]
    assert [(answer["seq_id"], answer["code"]) for answer in answers] == [(n, "malformed_frame") for n in (1, 2, 3)]
    assert not peer.closed


@pytest.mark.parametrize(
    "frame", [b"", b"null", b"{}", b'{"action":"echo"}', b'{"cancel":"x"}', b'{"seq_id":true,"action":"echo"}', b"\xff"]
)
async def test_a_malformed_frame_without_an_id_closes_the_connection(link: Link, frame: bytes) -> None:
    peer, raw = await link.peer_and_raw()
    raw.transport.send(frame)
    assert "malformed frame" in await within(peer.wait_closed())
    await within(raw.closed.wait())


async def test_a_frame_over_the_limit_closes_the_connection_with_the_limit(link: Link) -> None:
    left, right = await link.peers(limits=WireLimits(), right_limits=WireLimits(frame_bytes=1000))
    with pytest.raises(ConnectionClosed):
        await within(left.call("echo", "x" * 5000))
    assert "at most 1000 bytes" in await within(right.wait_closed())


async def test_an_unreadable_answer_fails_only_its_own_call(link: Link) -> None:
    peer, raw = await link.peer_and_raw()
    broken, sound = asyncio.create_task(peer.call("broken")), asyncio.create_task(peer.call("sound"))
    first, second = await raw.receive(), await raw.receive()
    raw.transport.send(b'{"seq_id":%d,"code":0,"data":nonsense' % first["seq_id"])
    raw.send(seq_id=second["seq_id"], code=0, data="fine")
    with pytest.raises(WireError, match="malformed_frame"):
        await within(broken)
    assert await within(sound) == "fine"


async def test_unknown_fields_are_ignored(link: Link) -> None:
    peer, raw = await link.peer_and_raw(Handlers(echo=echo))
    raw.send(seq_id=1, action="echo", data=3, colour="green")
    assert (await raw.receive())["data"] == 3
    call = asyncio.create_task(peer.call("ask"))
    raw.send(seq_id=(await raw.receive())["seq_id"], code=0, data=4, colour="green")
    assert await within(call) == 4


async def test_closing_fails_pending_calls_and_cancels_active_handlers(link: Link) -> None:
    gate = Gate()
    handlers = Handlers(gate=gate, quiet=quiet)
    left, right = await link.peers(handlers, handlers, WireLimits(unary_calls=2))
    calls = [asyncio.create_task(peer.call("gate", 0)) for peer in (left, right) for _ in range(5)]
    stream = left.stream("quiet")
    for _ in range(4):
        await within(gate.started.get())
    left.close("maintenance")
    left.close("a second time")
    outcomes = await within(asyncio.gather(*calls, return_exceptions=True))
    assert all(isinstance(outcome, ConnectionClosed) for outcome in outcomes)
    with pytest.raises(ConnectionClosed, match="maintenance"):
        await stream.batch()
    assert await within(left.wait_closed()) == "maintenance"
    assert "other side closed" in await within(right.wait_closed())
    await within(no_other_tasks())
    assert gate.running == 0
    assert gate.cancelled == 4


async def test_aclose_waits_until_every_handler_has_ended(link: Link) -> None:
    async def tidy(data: Any) -> None:
        try:
            started.set()
            await asyncio.Event().wait()
        finally:
            await settle()
            ended.set()

    started, ended = asyncio.Event(), asyncio.Event()
    left, right = await link.peers(right=Handlers(tidy=tidy))
    call = asyncio.create_task(left.call("tidy"))
    await within(started.wait())
    await within(right.aclose("the plugin stops"))
    assert ended.is_set()
    with pytest.raises(ConnectionClosed):
        await within(call)


async def test_a_closed_peer_refuses_new_work(link: Link) -> None:
    left, _ = await link.peers()
    left.close("done")
    assert left.closed
    with pytest.raises(ConnectionClosed, match="done") as raised:
        await left.call("echo")
    assert (raised.value.code, raised.value.reason) == ("connection_closed", "done")
    with pytest.raises(ConnectionClosed):
        left.stream("echo")


async def test_a_handler_can_close_its_own_connection(link: Link) -> None:
    async def hang_up(data: Any) -> None:
        right.close("enough")
        await asyncio.Event().wait()

    left, right = await link.peers(right=Handlers(hang_up=hang_up))
    with pytest.raises(ConnectionClosed):
        await within(left.call("hang_up"))
    await within(no_other_tasks())


async def test_frames_sent_before_closing_arrive(link: Link) -> None:
    peer, raw = await link.peer_and_raw()
    call = asyncio.create_task(peer.call("last call"))
    request = await raw.receive()
    raw.send(seq_id=request["seq_id"], code=0, data="x" * 500_000)
    raw.transport.close()
    assert len(await within(call)) == 500_000
    assert "other side closed" in await within(peer.wait_closed())


async def test_a_flood_is_slowed_and_nothing_is_lost(link: Link) -> None:
    limits = WireLimits(frames_per_second=1000, unary_calls=2000)
    _, raw = await link.peer_and_raw(Handlers(echo=echo), limits)
    loop = asyncio.get_running_loop()
    started = loop.time()
    for seq_id in range(1100):
        raw.send(seq_id=seq_id, action="echo", data=None)
    assert [(await raw.receive())["seq_id"] for _ in range(1100)] == list(range(1100))
    assert loop.time() - started >= 0.09  # the burst is a second's worth, the rest waits


async def test_a_side_that_sends_requests_without_reading_is_disconnected(link: Link) -> None:
    peer, raw = await link.peer_and_raw(limits=WireLimits(unread_answer_bytes=10_000))
    raw.transport.pause()
    for seq_id in range(20_000):
        raw.send(seq_id=seq_id, action="ping", data=None)
    assert "doesn't read" in await within(peer.wait_closed())


async def test_answers_for_a_side_that_does_not_read_are_bounded(link: Link) -> None:
    async def large(data: Any) -> str:
        nonlocal served
        served += 1
        return "x" * 100_000

    served = 0
    peer, raw = await link.peer_and_raw(Handlers(large=large), WireLimits(unary_calls=10))
    raw.transport.pause()
    answered = 0
    for seq_id in range(200):
        raw.send(seq_id=seq_id, action="large", data=None)
    await settle(500)
    assert served < 30  # what pipe and buffer hold, and the ten that keep their places
    raw.transport.resume()
    for _ in range(200):
        answered += (await raw.receive())["code"] == 0
    assert answered == served
    assert not peer.closed
