"""What the server writes in one turn of the loop leaves together, in order, and before the connection ends."""

import asyncio
import socket
from contextlib import closing
from typing import Any, cast

import pytest
import uvicorn
from uvicorn.server import ServerState

from parlour.app.web.write_coalescing import FLUSH_BYTES, CoalescingHttpProtocol, CoalescingTransport


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
async def joined(recorded: Recorded) -> CoalescingTransport:
    return CoalescingTransport(recorded, asyncio.get_running_loop())


async def turn() -> None:
    """Whatever was called soon before is done after it."""
    done = asyncio.get_running_loop().create_future()
    asyncio.get_running_loop().call_soon(done.set_result, None)
    await done


async def test_writes_of_one_turn_leave_together_and_those_of_two_apart(
    joined: CoalescingTransport, recorded: Recorded
) -> None:
    for data in (b"head ", b"body"):
        joined.write(data)
    assert recorded.writes == []
    await turn()
    joined.write(b"next")
    await turn()
    assert recorded.writes == [b"head body", b"next"]


async def test_much_is_not_held_back(joined: CoalescingTransport, recorded: Recorded) -> None:
    joined.write(b"a")
    joined.write(b"b" * FLUSH_BYTES)
    assert recorded.writes == [b"a" + b"b" * FLUSH_BYTES]
    joined.write(b"c")
    await turn()
    assert recorded.writes[1:] == [b"c"]


async def test_what_was_written_leaves_before_the_end(joined: CoalescingTransport, recorded: Recorded) -> None:
    joined.write(b"goodbye")
    joined.close()
    assert (recorded.writes, recorded.closed_after, joined.is_closing()) == ([b"goodbye"], 1, True)
    await turn()
    assert recorded.writes == [b"goodbye"]


async def test_a_peer_that_never_reads_the_rest_is_cut_off_after_the_end() -> None:
    lost = asyncio.Event()

    class Much(asyncio.Protocol):
        def connection_made(self, transport: asyncio.BaseTransport) -> None:
            joined = CoalescingTransport(
                cast(asyncio.Transport, transport), asyncio.get_running_loop(), unread_seconds=0.1
            )
            joined.write(b"x" * 50_000_000)
            joined.close()

        def connection_lost(self, error: Exception | None) -> None:
            lost.set()

    async with asyncio.timeout(30):
        async with await asyncio.get_running_loop().create_server(Much, "127.0.0.1", 0) as server:
            with closing(socket.create_connection(server.sockets[0].getsockname())):
                await lost.wait()


async def application(scope: Any, receive: Any, send: Any) -> None:
    """Says where it was asked, in two pieces."""
    path = scope["path"].encode()
    await send({"type": "http.response.start", "status": 200, "headers": [(b"content-length", b"%d" % len(path))]})
    await send({"type": "http.response.body", "body": path[:1], "more_body": True})
    await send({"type": "http.response.body", "body": path[1:]})


async def test_answers_to_requests_that_came_together_are_whole_and_in_order() -> None:
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
