"""Tests that writes of one loop iteration are sent together, in order, and before the connection closes."""

import asyncio
import socket
from contextlib import closing
from typing import Any, cast

import pytest
import uvicorn
from uvicorn.server import ServerState

from parlour.app.web.write_coalescing import FLUSH_BYTES, CoalescingHttpProtocol, CoalescingTransport

RESPONSE_BYTES = 50_000_000


class Recorded(asyncio.Transport):
    def __init__(self) -> None:
        super().__init__()
        self.writes: list[bytes] = []
        self.closed_after: int | None = None

    def write(self, data: Any) -> None:
        self.writes.append(bytes(data))

    def close(self) -> None:
        self.closed_after = len(self.writes)

    def is_closing(self) -> bool:
        return self.closed_after is not None

    def get_write_buffer_size(self) -> int:
        return 0


@pytest.fixture
def recorded() -> Recorded:
    return Recorded()


@pytest.fixture
async def coalescing(recorded: Recorded) -> CoalescingTransport:
    return CoalescingTransport(recorded, asyncio.get_running_loop())


async def next_iteration() -> None:
    """Waits until all callbacks that are already scheduled have run."""
    done = asyncio.get_running_loop().create_future()
    asyncio.get_running_loop().call_soon(done.set_result, None)
    await done


async def test_writes_of_one_loop_iteration_are_sent_together(
    coalescing: CoalescingTransport, recorded: Recorded
) -> None:
    for data in (b"head ", b"body"):
        coalescing.write(data)
    assert recorded.writes == []
    await next_iteration()
    coalescing.write(b"next")
    await next_iteration()
    assert recorded.writes == [b"head body", b"next"]


async def test_a_large_write_is_sent_at_once(coalescing: CoalescingTransport, recorded: Recorded) -> None:
    coalescing.write(b"a")
    coalescing.write(b"b" * FLUSH_BYTES)
    assert recorded.writes == [b"a" + b"b" * FLUSH_BYTES]
    coalescing.write(b"c")
    await next_iteration()
    assert recorded.writes[1:] == [b"c"]


async def test_pending_writes_are_sent_before_the_connection_closes(
    coalescing: CoalescingTransport, recorded: Recorded
) -> None:
    coalescing.write(b"last")
    coalescing.close()
    assert (recorded.writes, recorded.closed_after, coalescing.is_closing()) == ([b"last"], 1, True)
    await next_iteration()
    assert recorded.writes == [b"last"]


async def test_a_closed_connection_is_aborted_if_the_peer_does_not_read() -> None:
    lost = asyncio.Event()

    class LargeResponse(asyncio.Protocol):
        def connection_made(self, transport: asyncio.BaseTransport) -> None:
            coalescing = CoalescingTransport(
                cast(asyncio.Transport, transport), asyncio.get_running_loop(), unread_seconds=0.1
            )
            coalescing.write(b"x" * RESPONSE_BYTES)
            coalescing.close()

        def connection_lost(self, error: Exception | None) -> None:
            lost.set()

    async with asyncio.timeout(30):
        async with await asyncio.get_running_loop().create_server(LargeResponse, "127.0.0.1", 0) as server:
            with closing(socket.create_connection(server.sockets[0].getsockname())) as client:
                await lost.wait()
                client.settimeout(10)
                received = sum(iter(lambda: len(client.recv(1024 * 1024)), 0))
    assert received < RESPONSE_BYTES


async def application(scope: Any, receive: Any, send: Any) -> None:
    """Responds with the path of the request, in two chunks."""
    path = scope["path"].encode()
    await send({"type": "http.response.start", "status": 200, "headers": [(b"content-length", b"%d" % len(path))]})
    await send({"type": "http.response.body", "body": path[:1], "more_body": True})
    await send({"type": "http.response.body", "body": path[1:]})


async def test_pipelined_requests_are_answered_completely_and_in_order() -> None:
    config, state = uvicorn.Config(application, lifespan="off", log_config=None, access_log=False), ServerState()
    config.load()
    loop = asyncio.get_running_loop()
    head = b"HTTP/1.1\r\nhost: here\r\n"
    async with asyncio.timeout(30):
        async with await loop.create_server(
            lambda: CoalescingHttpProtocol(config, state, {}), "127.0.0.1", 0
        ) as server:
            reader, writer = await asyncio.open_connection(*server.sockets[0].getsockname())
            writer.write(b"GET /one %b\r\nGET /two %bconnection: close\r\n\r\n" % (head, head))
            answer = await reader.read()
            writer.close()
    assert [part.rpartition(b"\r\n\r\n")[2] for part in answer.split(b"HTTP/1.1 200 OK")][1:] == [b"/one", b"/two"]
