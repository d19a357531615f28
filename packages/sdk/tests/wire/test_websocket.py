"""Tests the transport of text messages over an open WebSocket."""

import asyncio
import math
import socket
import struct
from collections.abc import AsyncGenerator
from select import select
from typing import Any

import pytest
import uvloop
from hypothesis import given, settings
from hypothesis import strategies as st
from websockets.frames import CloseCode, Opcode

from parlour_sdk.wire import ConnectionClosed, FrameTooLarge, MalformedFrame, Peer, WireError, WireLimits, WireStream

from .raw_websocket import RawWebSocket
from .support import Handlers, Raw, in_virtual_time, now, oversleep, settle, websocket_pair, within
from .websocket_ends import End, client_end, server_end


@pytest.fixture(params=[server_end, client_end])
def either_end(request: pytest.FixtureRequest) -> Any:
    return request.param


def reset(raw: RawWebSocket) -> None:
    """Resets the TCP connection."""
    connection: socket.socket = raw.writer.get_extra_info("socket")
    connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
    raw.writer.transport.abort()


async def test_a_frame_is_one_text_message_in_each_direction(either_end: Any) -> None:
    async with either_end() as (end, raw):
        raw.send_text("grüß dich".encode())
        assert await end.receive() == "grüß dich".encode()
        end.transport.send(b"dich auch\n")
        assert await raw.receive() == (Opcode.TEXT, b"dich auch\n")


messages = st.lists(st.lists(st.binary(max_size=40), min_size=1, max_size=4), max_size=10)


@settings(max_examples=30, deadline=None)
@given(messages, st.lists(st.integers(1, 50), max_size=10))
async def test_any_fragments_in_any_chunks_yield_the_same_frames(expected: list[list[bytes]], sizes: list[int]) -> None:
    async with server_end() as (end, raw):
        sent = b""
        for pieces in expected:
            for index, piece in enumerate(pieces):
                opcode = Opcode.TEXT if index == 0 else Opcode.CONT
                sent += raw.frame(opcode, piece, fin=index == len(pieces) - 1)
                sent += raw.frame(Opcode.PONG)
        for size in sizes:
            raw.writer.write(sent[:size])
            sent = sent[size:]
            await settle(3)
        raw.writer.write(sent)
        raw.send_close(1000, "")
        assert await end.ended() is None
        received = [end.frames.get_nowait() for _ in range(end.frames.qsize())]
        assert received == [b"".join(pieces) for pieces in expected]


async def test_frames_of_one_loop_iteration_are_sent_in_one_write() -> None:
    async with server_end() as (end, raw):
        for number in range(10):
            end.transport.send(b"%d" % number)
        assert select([raw.writer.get_extra_info("socket")], [], [], 0) == ([], [], [])
        assert await within(raw.reader.read(1000)) == b"".join(b"\x81\x01%d" % number for number in range(10))


async def test_frames_that_arrive_before_the_start_are_kept() -> None:
    async with server_end(start=False) as (end, raw):
        for number in range(1000):
            raw.send_text(b"%d" % number)
        raw.send_close(1000, "")
        await settle()
        assert end.frames.empty()
        end.start()
        assert await end.ended() is None
        assert [end.frames.get_nowait() for _ in range(1000)] == [b"%d" % number for number in range(1000)]


async def test_a_binary_message_closes_the_connection_with_a_reason(either_end: Any) -> None:
    async with either_end() as (end, raw):
        raw.send_text(b"good")
        raw.send(Opcode.BINARY, b"bad")
        raw.send_text(b"too late")
        error = await end.ended()
        assert isinstance(error, MalformedFrame)
        assert "a frame is a text message, and a binary one came" in str(error)
        assert (await end.receive(), end.frames.empty()) == (b"good", True)
        close_frame = await raw.close_frame()
        assert (close_frame.code, "text message" in close_frame.reason) == (CloseCode.UNSUPPORTED_DATA, True)


async def test_a_message_over_the_limit_is_refused_by_its_declared_length(either_end: Any) -> None:
    async with either_end(WireLimits(frame_bytes=1000)) as (end, raw):
        raw.send_text(b"x" * 1000)
        raw.writer.write(raw.frame(Opcode.TEXT, b"x" * 70_000)[:20])  # the rest never comes
        error = await end.ended()
        assert isinstance(error, FrameTooLarge)
        assert "at most 1000 bytes" in str(error)
        assert len(await end.receive()) == 1000
        assert (await raw.close_frame()).code == CloseCode.MESSAGE_TOO_BIG


async def test_fragments_over_the_limit_are_refused_at_the_first_byte_too_many() -> None:
    async with server_end(WireLimits(frame_bytes=1000)) as (end, raw):
        raw.send(Opcode.TEXT, b"x" * 600, fin=False)
        raw.send(Opcode.CONT, b"x" * 401, fin=False)
        assert isinstance(await end.ended(), FrameTooLarge)


async def test_an_invalid_websocket_frame_closes_the_connection_with_a_reason() -> None:
    async with server_end() as (end, raw):
        raw.writer.write(b"\x83\x80mask")
        assert "the other side broke the WebSocket protocol: invalid opcode" in str(await end.ended())
        assert (await raw.close_frame()).code == CloseCode.PROTOCOL_ERROR


@pytest.mark.parametrize(("opcode", "fin"), [(Opcode.PING, True), (Opcode.PONG, True), (Opcode.CONT, False)])
async def test_a_flood_of_pings_or_fragments_closes_the_connection(opcode: Opcode, fin: bool) -> None:
    async with server_end() as (end, raw):
        raw.send(Opcode.TEXT, b"", fin=fin)
        raw.writer.write(raw.frame(opcode, fin=fin) * 6000)
        assert "floods the connection with pings or fragments" in str(await end.ended())


async def test_a_side_that_pings_and_does_not_read_is_disconnected() -> None:
    limits = WireLimits(frames_per_second=math.inf, bytes_per_second=math.inf, unread_answer_bytes=1000)
    async with server_end(limits) as (end, raw):
        raw.writer.transport.pause_reading()
        while not end.transport.congested:
            end.transport.send(b"x" * 100_000)
            await settle()
        for _ in range(20):
            raw.send(Opcode.PING, b"x" * 100)
        assert "keeps sending pings and doesn't read" in str(await end.ended())


@pytest.mark.parametrize(
    ("code", "reason", "description"),
    [
        (1001, "restart at noon", "it is going away (1001: restart at noon)"),
        (1002, "", "this side broke the WebSocket protocol (1002)"),
        (1009, "", "a message was too large for it (1009)"),
        (1011, "", "something failed inside it (1011)"),
        (4321, "no such\x1b[31m plugin\n", "no other reason than the code (4321: no such [31m plugin)"),
    ],
)
async def test_a_close_code_is_reported_with_its_meaning(
    either_end: Any, code: int, reason: str, description: str
) -> None:
    async with either_end() as (end, raw):
        raw.send_close(code, reason)
        error = await end.ended()
        assert str(error).startswith("the other side closed the connection: ")
        assert description in str(error)


@pytest.mark.parametrize("payload", [b"", b"\x03\xe8", b"\x03\xe8done"])
async def test_a_normal_closure_is_not_an_error(either_end: Any, payload: bytes) -> None:
    async with either_end() as (end, raw):
        raw.send(Opcode.CLOSE, payload)
        assert await end.ended() is None


async def test_a_connection_without_a_close_frame_is_reported_after_its_frames(either_end: Any) -> None:
    async with either_end() as (end, raw):
        raw.send_text(b"last frame")
        raw.writer.write_eof()
        assert "went away without closing it" in str(await end.ended())
        assert await end.receive() == b"last frame"


async def test_a_reset_connection_is_reported(either_end: Any) -> None:
    async with either_end() as (end, raw):
        reset(raw)
        assert "the connection broke off: " in str(await end.ended())


async def test_sends_after_the_other_side_closed_are_ignored(either_end: Any) -> None:
    async with either_end() as (end, raw):
        end.transport.pause()
        raw.send_close(1000, "")
        raw.writer.write_eof()
        end.transport.resume()
        assert await end.ended() is None
        end.transport.send(b"too late")
        end.transport.close()
        await within(end.transport.drain())
        await within(end.transport.wait_closed())
        assert (await raw.close_frame()).code == CloseCode.NORMAL_CLOSURE
        assert await raw.end() == b""


async def test_closing_sends_pending_frames_before_the_close_frame(either_end: Any) -> None:
    async with either_end() as (end, raw):
        end.transport.send(b"x" * 1_000_000)
        end.transport.close()
        raw.send_text(b"unheard")
        assert len((await raw.receive())[1]) == 1_000_000
        assert (await raw.close_frame()).code == CloseCode.NORMAL_CLOSURE
        raw.send_close(1000, "")
        raw.writer.write_eof()
        await within(end.transport.wait_closed())
        assert (end.frames.empty(), end.error.done()) == (True, False)


def test_a_silent_side_is_disconnected_within_twenty_seconds() -> None:
    async def scenario(either_end: Any) -> None:
        async with either_end() as (end, raw):
            raw.send_text(b"last frame")
            await end.receive()
            received_at = now()
            error = await within(end.error, 60)
            assert isinstance(error, TimeoutError)
            assert "has vanished: nothing came from it for" in str(error)
            assert 15 < now() - received_at <= 20

    in_virtual_time(scenario(server_end))
    in_virtual_time(scenario(client_end))


def test_a_silent_side_is_disconnected_while_frames_wait_for_it() -> None:
    async def scenario() -> None:
        async with server_end() as (end, raw):
            raw.writer.transport.pause_reading()
            while not end.transport.congested:
                end.transport.send(b"x" * 100_000)
                await settle()
            started = now()
            await within(end.transport.drain(), 60)
            assert isinstance(await end.ended(), TimeoutError)
            assert now() - started <= 20

    in_virtual_time(scenario())


def test_a_side_that_sends_pings_but_never_reads_stays_and_does_not_delay_closing() -> None:
    async def scenario() -> None:
        async with server_end() as (end, raw):
            raw.writer.transport.pause_reading()
            while not end.transport.congested:
                end.transport.send(b"x" * 100_000)
                await settle()
            for _ in range(20):
                raw.send(Opcode.PING)
                await asyncio.sleep(5)
            assert (end.transport.congested, end.error.done()) == (True, False)
            started = now()
            end.transport.close()
            await within(end.transport.drain(), 0)
            await within(end.transport.wait_closed())
            assert now() - started <= 2

    in_virtual_time(scenario())


async def test_a_reset_before_the_start_ends_a_drain() -> None:
    async with server_end(start=False) as (end, raw):
        raw.writer.transport.pause_reading()
        while not end.transport.congested:
            end.transport.send(b"x" * 100_000)
            await settle()
        reset(raw)
        await within(end.transport.drain())
        end.transport.send(b"too late")
        end.start()
        assert "the connection broke off: " in str(await end.ended())


def test_a_transport_that_was_not_started_closes_without_delay_or_log(caplog: pytest.LogCaptureFixture) -> None:
    async def scenario() -> None:
        async with websocket_pair(WireLimits(), WireLimits()) as (client, server):
            End(client)
            server.close()
            await within(asyncio.gather(client.wait_closed(), server.wait_closed()))
            assert now() < 1
            await asyncio.sleep(60)

    in_virtual_time(scenario())
    assert caplog.records == []


def test_idle_and_paused_connections_stay_open() -> None:
    async def scenario() -> None:
        async with websocket_pair(WireLimits(), WireLimits()) as (client, server):
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


def test_a_slowed_flood_is_not_disconnected_while_its_pings_wait() -> None:
    async def scenario() -> None:
        limits = WireLimits(frames_per_second=1)
        async with websocket_pair(WireLimits(), limits) as (client, server):
            Peer(server, Handlers(), limits).start()
            flood = Raw(client)
            for seq_id in range(100):
                flood.send(seq_id=seq_id, action="unknown", data=None)
            answers = [await flood.receive() for _ in range(100)]
            assert [answer["seq_id"] for answer in answers] == list(range(100))
            assert 95 < now() < 105
            flood.send(seq_id=100, action="unknown", data=None)  # the pings of all that time come before it
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
        async with websocket_pair(limits, limits) as (client, server):
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
        async with websocket_pair(limits, limits) as (client, server):
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
