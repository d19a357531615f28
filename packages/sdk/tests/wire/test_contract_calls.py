"""What calls promise, over every transport."""

import asyncio
import logging
from collections.abc import AsyncGenerator
from typing import Any

import pytest

from parlour_sdk.wire import ConnectionClosed, WireError, WireLimits

from .support import Handlers, Link, no_other_tasks, settle, within


async def echo(data: Any) -> Any:
    return data


async def forever(data: Any) -> None:
    await asyncio.Event().wait()


async def numbers(count: int) -> AsyncGenerator[int, None]:
    for number in range(count):
        yield number


async def quiet(data: Any) -> AsyncGenerator[None, None]:
    await asyncio.Event().wait()
    yield


class Gate:
    """A handler that says when it started and answers when it is told."""

    def __init__(self) -> None:
        self.started: asyncio.Queue[Any] = asyncio.Queue()
        self.opened = asyncio.Event()
        self.cancelled = 0
        self.running = 0

    async def __call__(self, data: Any) -> Any:
        self.started.put_nowait(data)
        self.running += 1
        try:
            await self.opened.wait()
        except asyncio.CancelledError:
            self.cancelled += 1
            raise
        finally:
            self.running -= 1
        return data


async def test_both_sides_get_their_own_answers(link: Link) -> None:
    async def left_echo(data: Any) -> Any:
        return ["left", data]

    left, right = await link.peers(Handlers(echo=left_echo), Handlers(echo=echo))
    from_right = [left.call("echo", number) for number in range(300)]
    from_left = [right.call("echo", number) for number in range(300)]
    assert await within(asyncio.gather(*from_right)) == list(range(300))
    assert await within(asyncio.gather(*from_left)) == [["left", number] for number in range(300)]


async def test_a_large_payload_arrives_whole(link: Link) -> None:
    left, _ = await link.peers(right=Handlers(echo=echo))
    text = 'ü\n"\\' * 150_000
    assert await within(left.call("echo", text)) == text


async def test_a_handler_can_call_back_while_it_is_called(link: Link) -> None:
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


async def test_a_second_cancel_does_not_disturb_what_a_handler_still_has_to_do(link: Link) -> None:
    begun, tidying, tidied = asyncio.Event(), asyncio.Event(), asyncio.Event()

    async def work(data: Any) -> None:
        begun.set()
        try:
            await asyncio.Event().wait()
        finally:
            await tidying.wait()
            tidied.set()

    _, raw = await link.peer_and_raw(Handlers(work=work))
    raw.send(seq_id=1, action="work", data=None)
    await within(begun.wait())
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


async def test_a_waiting_call_that_is_cancelled_gives_its_turn_away(link: Link) -> None:
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


async def test_calling_an_action_that_streams_says_what_to_use(link: Link) -> None:
    left, right = await link.peers(right=Handlers(numbers=numbers))
    with pytest.raises(WireError, match="use stream instead"):
        await within(left.call("numbers", 500))
    with pytest.raises(WireError, match="use stream instead"):
        await within(left.call("numbers", 0))
    await within(left.call("ping"))
    assert not right.closed


async def test_ping_is_answered_by_the_peer_even_when_every_slot_is_taken(link: Link) -> None:
    gate = Gate()
    left, _ = await link.peers(right=Handlers(gate=gate), limits=WireLimits(unary_calls=1))
    busy = asyncio.create_task(left.call("gate"))
    await within(gate.started.get())
    assert await within(left.call("ping", timeout=5)) is None
    gate.opened.set()
    await within(busy)


async def test_ping_waits_for_no_congestion(link: Link) -> None:
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


async def test_answers_nobody_waits_for_are_ignored(link: Link) -> None:
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


async def test_a_frame_over_the_limit_closes_the_connection_and_says_so(link: Link) -> None:
    left, right = await link.peers(limits=WireLimits(), right_limits=WireLimits(frame_bytes=1000))
    with pytest.raises(ConnectionClosed):
        await within(left.call("echo", "x" * 5000))
    assert "at most 1000 bytes" in await within(right.wait_closed())


async def test_an_answer_that_cannot_be_read_fails_only_its_own_call(link: Link) -> None:
    peer, raw = await link.peer_and_raw()
    broken, sound = asyncio.create_task(peer.call("broken")), asyncio.create_task(peer.call("sound"))
    first, second = await raw.receive(), await raw.receive()
    raw.transport.send(b'{"seq_id":%d,"code":0,"data":nonsense' % first["seq_id"])
    raw.send(seq_id=second["seq_id"], code=0, data="fine")
    with pytest.raises(WireError, match="malformed_frame"):
        await within(broken)
    assert await within(sound) == "fine"


async def test_fields_nobody_knows_are_tolerated(link: Link) -> None:
    peer, raw = await link.peer_and_raw(Handlers(echo=echo))
    raw.send(seq_id=1, action="echo", data=3, colour="green")
    assert (await raw.receive())["data"] == 3
    call = asyncio.create_task(peer.call("ask"))
    raw.send(seq_id=(await raw.receive())["seq_id"], code=0, data=4, colour="green")
    assert await within(call) == 4


async def test_closing_fails_everything_pending_and_cancels_everything_served(link: Link) -> None:
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


async def test_what_was_sent_before_closing_still_arrives(link: Link) -> None:
    peer, raw = await link.peer_and_raw()
    call = asyncio.create_task(peer.call("last words"))
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


async def test_a_side_that_asks_without_reading_is_cut_off(link: Link) -> None:
    peer, raw = await link.peer_and_raw(limits=WireLimits(unread_answer_bytes=10_000))
    raw.transport.pause()
    for seq_id in range(20_000):
        raw.send(seq_id=seq_id, action="ping", data=None)
    assert "doesn't read" in await within(peer.wait_closed())


async def test_answers_for_a_side_that_does_not_read_are_not_hoarded(link: Link) -> None:
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
