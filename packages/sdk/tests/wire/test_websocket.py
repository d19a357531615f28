"""What only holds for text messages over an open WebSocket."""

import asyncio
import math
import socket
import struct
from collections.abc import AsyncGenerator, AsyncIterator
from contextlib import asynccontextmanager
from select import select
from typing import Any

import pytest
import uvloop
from hypothesis import given, settings
from hypothesis import strategies as st
from websockets.frames import CloseCode, Opcode

from parlour_sdk.wire import ConnectionClosed, FrameTooLarge, MalformedFrame, Peer, WireError, WireLimits, WireStream
from parlour_sdk.wire.websocket import WebSocketTransport, connect, serve

from .outsider import Outsider, accept, outside_client, outside_server
from .support import TOKEN, Handlers, Raw, in_virtual_time, now, oversleep, settle, websocket, within

USUAL = WireLimits()


class End:
    """What a transport hands over, and how it ends."""

    def __init__(self, transport: WebSocketTransport, start: bool = True) -> None:
        self.transport = transport
        self.frames: asyncio.Queue[bytes] = asyncio.Queue()
        self.error: asyncio.Future[BaseException | None] = asyncio.get_running_loop().create_future()
        if start:
            self.start()

    def start(self) -> None:
        self.transport.start(self.frames.put_nowait, self.error.set_result)

    async def receive(self) -> bytes:
        return await within(self.frames.get())

    async def ended(self) -> BaseException | None:
        return await within(self.error)


@asynccontextmanager
async def server_end(limits: WireLimits = USUAL, **options: Any) -> AsyncIterator[tuple[End, Outsider]]:
    """A server's transport, and a client that is driven by hand."""
    accepted: asyncio.Queue[WebSocketTransport] = asyncio.Queue()
    serving = serve("127.0.0.1", 0, TOKEN, lambda _, transport: accepted.put_nowait(transport), limits=limits)
    async with serving as port, outside_client(port) as outsider:
        yield End(await within(accepted.get()), **options), outsider


@asynccontextmanager
async def client_end(limits: WireLimits = USUAL) -> AsyncIterator[tuple[End, Outsider]]:
    """A client's transport, and a server that is driven by hand."""
    answered: asyncio.Queue[Outsider] = asyncio.Queue()

    async def answer(outsider: Outsider) -> None:
        await accept(outsider)
        answered.put_nowait(outsider)

    async with outside_server(answer) as port:
        end = End(await within(connect(f"ws://127.0.0.1:{port}/control", TOKEN, limits)))
        yield end, await within(answered.get())
        end.transport.close()
    await within(end.transport.wait_closed())


@pytest.fixture(params=[server_end, client_end])
def either_end(request: pytest.FixtureRequest) -> Any:
    return request.param


def reset(outsider: Outsider) -> None:
    """Break the TCP connection off without its usual end."""
    raw: socket.socket = outsider.writer.get_extra_info("socket")
    raw.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
    outsider.writer.transport.abort()


async def test_a_frame_is_one_text_message_in_each_direction(either_end: Any) -> None:
    async with either_end() as (end, outsider):
        outsider.send_text("grüß dich".encode())
        assert await end.receive() == "grüß dich".encode()
        end.transport.send(b"dich auch\n")
        assert await outsider.receive() == (Opcode.TEXT, b"dich auch\n")


messages = st.lists(st.lists(st.binary(max_size=40), min_size=1, max_size=4), max_size=10)


@settings(max_examples=30, deadline=None)
@given(messages, st.lists(st.integers(1, 50), max_size=10))
async def test_any_fragments_in_any_chunks_yield_the_same_frames(expected: list[list[bytes]], sizes: list[int]) -> None:
    async with server_end() as (end, outsider):
        sent = b""
        for pieces in expected:
            for index, piece in enumerate(pieces):
                opcode = Opcode.TEXT if index == 0 else Opcode.CONT
                sent += outsider.frame(opcode, piece, fin=index == len(pieces) - 1)
                sent += outsider.frame(Opcode.PONG)
        for size in sizes:
            outsider.writer.write(sent[:size])
            sent = sent[size:]
            await settle(3)
        outsider.writer.write(sent)
        outsider.send_close(1000, "")
        assert await end.ended() is None
        received = [end.frames.get_nowait() for _ in range(end.frames.qsize())]
        assert received == [b"".join(pieces) for pieces in expected]


async def test_frames_of_one_turn_leave_in_one_write() -> None:
    async with server_end() as (end, outsider):
        for number in range(10):
            end.transport.send(b"%d" % number)
        assert select([outsider.writer.get_extra_info("socket")], [], [], 0) == ([], [], [])
        assert await within(outsider.reader.read(1000)) == b"".join(b"\x81\x01%d" % number for number in range(10))


async def test_frames_that_come_before_the_start_are_kept() -> None:
    async with server_end(start=False) as (end, outsider):
        for number in range(1000):
            outsider.send_text(b"%d" % number)
        outsider.send_close(1000, "")
        await settle()
        assert end.frames.empty()
        end.start()
        assert await end.ended() is None
        assert [end.frames.get_nowait() for _ in range(1000)] == [b"%d" % number for number in range(1000)]


async def test_a_binary_message_closes_the_connection_with_a_sentence(either_end: Any) -> None:
    async with either_end() as (end, outsider):
        outsider.send_text(b"good")
        outsider.send(Opcode.BINARY, b"bad")
        outsider.send_text(b"too late")
        error = await end.ended()
        assert isinstance(error, MalformedFrame)
        assert "a frame is a text message, and a binary one came" in str(error)
        assert (await end.receive(), end.frames.empty()) == (b"good", True)
        goodbye = await outsider.goodbye()
        assert (goodbye.code, "text message" in goodbye.reason) == (CloseCode.UNSUPPORTED_DATA, True)


async def test_a_message_over_the_limit_is_refused_by_its_length_alone(either_end: Any) -> None:
    async with either_end(WireLimits(frame_bytes=1000)) as (end, outsider):
        outsider.send_text(b"x" * 1000)
        outsider.writer.write(outsider.frame(Opcode.TEXT, b"x" * 70_000)[:20])  # the rest never comes
        error = await end.ended()
        assert isinstance(error, FrameTooLarge)
        assert "at most 1000 bytes" in str(error)
        assert len(await end.receive()) == 1000
        assert (await outsider.goodbye()).code == CloseCode.MESSAGE_TOO_BIG


async def test_fragments_over_the_limit_are_refused_at_the_first_byte_too_many() -> None:
    async with server_end(WireLimits(frame_bytes=1000)) as (end, outsider):
        outsider.send(Opcode.TEXT, b"x" * 600, fin=False)
        outsider.send(Opcode.CONT, b"x" * 401, fin=False)
        assert isinstance(await end.ended(), FrameTooLarge)


async def test_a_broken_websocket_frame_closes_the_connection_and_says_so() -> None:
    async with server_end() as (end, outsider):
        outsider.writer.write(b"\x83\x80mask")
        assert "the other side broke the WebSocket protocol: invalid opcode" in str(await end.ended())
        assert (await outsider.goodbye()).code == CloseCode.PROTOCOL_ERROR


@pytest.mark.parametrize(("opcode", "fin"), [(Opcode.PING, True), (Opcode.PONG, True), (Opcode.CONT, False)])
async def test_a_flood_that_carries_no_frames_closes_the_connection(opcode: Opcode, fin: bool) -> None:
    async with server_end() as (end, outsider):
        outsider.send(Opcode.TEXT, b"", fin=fin)
        outsider.writer.write(outsider.frame(opcode, fin=fin) * 6000)
        assert "floods the connection with pings or fragments" in str(await end.ended())


async def test_a_side_that_pings_and_does_not_read_is_cut_off() -> None:
    limits = WireLimits(frames_per_second=math.inf, bytes_per_second=math.inf, unread_answer_bytes=1000)
    async with server_end(limits) as (end, outsider):
        outsider.writer.transport.pause_reading()
        while not end.transport.congested:
            end.transport.send(b"x" * 100_000)
            await settle()
        for _ in range(20):
            outsider.send(Opcode.PING, b"x" * 100)
        assert "keeps sending pings and doesn't read" in str(await end.ended())


@pytest.mark.parametrize(
    ("code", "reason", "words"),
    [
        (1001, "restart at noon", "it is going away (1001: restart at noon)"),
        (1002, "", "this side broke the WebSocket protocol (1002)"),
        (1009, "", "a message was too large for it (1009)"),
        (1011, "", "something failed inside it (1011)"),
        (4321, "no such\x1b[31m plugin\n", "no other reason than the code (4321: no such [31m plugin)"),
    ],
)
async def test_a_close_code_is_reported_in_words(either_end: Any, code: int, reason: str, words: str) -> None:
    async with either_end() as (end, outsider):
        outsider.send_close(code, reason)
        error = await end.ended()
        assert str(error).startswith("the other side closed the connection: ")
        assert words in str(error)


@pytest.mark.parametrize("payload", [b"", b"\x03\xe8", b"\x03\xe8done"])
async def test_a_regular_goodbye_is_no_error(either_end: Any, payload: bytes) -> None:
    async with either_end() as (end, outsider):
        outsider.send(Opcode.CLOSE, payload)
        assert await end.ended() is None


async def test_a_connection_that_breaks_off_is_reported_after_what_came_before(either_end: Any) -> None:
    async with either_end() as (end, outsider):
        outsider.send_text(b"last words")
        outsider.writer.write_eof()
        assert "went away without closing it" in str(await end.ended())
        assert await end.receive() == b"last words"


async def test_a_reset_connection_is_reported(either_end: Any) -> None:
    async with either_end() as (end, outsider):
        reset(outsider)
        assert "the connection broke off: " in str(await end.ended())


async def test_nothing_is_sent_or_raised_once_the_other_side_has_gone(either_end: Any) -> None:
    async with either_end() as (end, outsider):
        end.transport.pause()
        outsider.send_close(1000, "")
        outsider.writer.write_eof()
        end.transport.resume()
        assert await end.ended() is None
        end.transport.send(b"too late")
        end.transport.close()
        await within(end.transport.drain())
        await within(end.transport.wait_closed())
        assert (await outsider.goodbye()).code == CloseCode.NORMAL_CLOSURE
        assert await outsider.end() == b""


async def test_closing_says_goodbye_after_everything_else_and_hears_nothing_more(either_end: Any) -> None:
    async with either_end() as (end, outsider):
        end.transport.send(b"x" * 1_000_000)
        end.transport.close()
        outsider.send_text(b"unheard")
        assert len((await outsider.receive())[1]) == 1_000_000
        assert (await outsider.goodbye()).code == CloseCode.NORMAL_CLOSURE
        outsider.send_close(1000, "")
        outsider.writer.write_eof()
        await within(end.transport.wait_closed())
        assert (end.frames.empty(), end.error.done()) == (True, False)


def test_a_side_that_vanishes_is_noticed_within_twenty_seconds() -> None:
    async def scenario(either_end: Any) -> None:
        async with either_end() as (end, outsider):
            outsider.send_text(b"I'm off to the mountains")
            await end.receive()
            heard = now()
            error = await within(end.error, 60)
            assert isinstance(error, TimeoutError)
            assert "has vanished: nothing came from it for" in str(error)
            assert 15 < now() - heard <= 20

    in_virtual_time(scenario(server_end))
    in_virtual_time(scenario(client_end))


def test_a_side_that_vanishes_while_much_is_owed_to_it_is_noticed_too() -> None:
    async def scenario() -> None:
        async with server_end() as (end, outsider):
            outsider.writer.transport.pause_reading()
            while not end.transport.congested:
                end.transport.send(b"x" * 100_000)
                await settle()
            started = now()
            await within(end.transport.drain(), 60)
            assert isinstance(await end.ended(), TimeoutError)
            assert now() - started <= 20

    in_virtual_time(scenario())


def test_a_side_that_never_reads_but_lives_is_kept_and_does_not_hinder_closing() -> None:
    async def scenario() -> None:
        async with server_end() as (end, outsider):
            outsider.writer.transport.pause_reading()
            while not end.transport.congested:
                end.transport.send(b"x" * 100_000)
                await settle()
            for _ in range(20):
                outsider.send(Opcode.PING)
                await asyncio.sleep(5)
            assert (end.transport.congested, end.error.done()) == (True, False)
            started = now()
            end.transport.close()
            await within(end.transport.drain(), 0)
            await within(end.transport.wait_closed())
            assert now() - started <= 2

    in_virtual_time(scenario())


async def test_a_side_that_is_reset_while_nobody_reads_it_keeps_no_one_waiting() -> None:
    async with server_end(start=False) as (end, outsider):
        outsider.writer.transport.pause_reading()
        while not end.transport.congested:
            end.transport.send(b"x" * 100_000)
            await settle()
        reset(outsider)
        await within(end.transport.drain())
        end.transport.send(b"too late")
        end.start()
        assert "the connection broke off: " in str(await end.ended())


def test_a_side_that_does_not_listen_closes_without_delay_and_rests_in_peace(caplog: pytest.LogCaptureFixture) -> None:
    async def scenario() -> None:
        async with websocket(WireLimits(), WireLimits()) as (client, server):
            End(client)
            server.close()
            await within(asyncio.gather(client.wait_closed(), server.wait_closed()))
            assert now() < 1
            await asyncio.sleep(60)

    in_virtual_time(scenario())
    assert caplog.records == []


def test_two_idle_sides_stay_connected_and_so_do_paused_ones() -> None:
    async def scenario() -> None:
        async with websocket(WireLimits(), WireLimits()) as (client, server):
            left, right = End(client), End(server)
            await asyncio.sleep(60)
            oversleep(60)
            await asyncio.sleep(60)
            client.pause()
            await asyncio.sleep(60)
            server.pause()
            await asyncio.sleep(60)
            client.send(b"still here")
            client.resume()
            await asyncio.sleep(60)
            server.resume()
            assert await right.receive() == b"still here"
            await asyncio.sleep(60)
            assert not left.error.done()
            assert not right.error.done()

    in_virtual_time(scenario())


def test_a_flood_slows_itself_only_even_if_its_pings_wait_for_minutes() -> None:
    async def scenario() -> None:
        limits = WireLimits(frames_per_second=1)
        async with websocket(WireLimits(), limits) as (client, server):
            Peer(server, Handlers(), limits).start()
            flood = Raw(client)
            for seq_id in range(100):
                flood.send(seq_id=seq_id, action="unknown", data=None)
            answers = [await flood.receive() for _ in range(100)]
            assert [answer["seq_id"] for answer in answers] == list(range(100))
            assert 95 < now() < 105
            flood.send(seq_id=100, action="unknown", data=None)  # it is behind the pings of all that time
            assert (await flood.receive())["seq_id"] == 100

    in_virtual_time(scenario())


def test_calls_streams_and_closing_work_under_uvloop() -> None:
    async def echo(data: Any) -> Any:
        return data

    async def flood(count: int) -> AsyncGenerator[str, None]:
        for _ in range(count):
            yield "x" * 50_000

    async def all_of(stream: WireStream) -> list[str]:
        return [part async for part in stream]

    async def scenario() -> None:
        limits = WireLimits(frames_per_second=math.inf, bytes_per_second=math.inf)
        async with websocket(limits, limits) as (client, server):
            handlers = Handlers(echo=echo, flood=flood)
            left, right = Peer(client, handlers, limits), Peer(server, handlers, limits)
            left.start()
            right.start()
            calls = [peer.call("echo", number) for peer in (left, right) for number in range(500)]
            assert await within(asyncio.gather(*calls)) == [*range(500)] * 2
            assert len(await within(left.call("echo", "x" * 1_000_000))) == 1_000_000
            assert len(await within(all_of(left.stream("flood", 200)))) == 200
            with pytest.raises(WireError, match="use stream instead"):
                await within(right.call("flood", 1))
            stream = left.stream("flood", 1000)
            right.close("enough")
            with pytest.raises(ConnectionClosed):
                await within(all_of(stream))
            assert "other side closed" in await within(left.wait_closed())

    async def slowed_and_shut_down() -> None:
        limits = WireLimits(frames_per_second=1000, unary_calls=2000)
        async with websocket(limits, limits) as (client, server):
            left, right = Peer(client, Handlers(), limits), Peer(server, Handlers(echo=echo), limits)
            left.start()
            right.start()
            answers = await within(asyncio.gather(*(left.call("echo", number) for number in range(1100))))
            assert answers == [*range(1100)]
            server.shut_down("enough")
            assert "going away (1001: enough)" in await within(left.wait_closed())
            assert await within(right.wait_closed()) == "enough"

    with asyncio.Runner(loop_factory=uvloop.new_event_loop) as runner:
        runner.run(scenario())
        runner.run(slowed_and_shut_down())
