"""Tests connections of the server: TCP keepalive is on, and only sockets that do not answer pings are closed."""

import asyncio
import base64
import os
import socket
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from functools import partial
from typing import Any, cast

import uvicorn
from uvicorn.server import ServerState
from websockets.asyncio.client import connect

from parlour.app.web.bounded_protocol import BoundedProtocol
from parlour.app.web.connection_limits import ConnectionLimiter, ConnectionQuota
from parlour.http.client_address import TrustedProxies

PING_SECONDS = 0.2


@asynccontextmanager
async def serving(application: Any) -> AsyncIterator[tuple[int, ConnectionLimiter, list[asyncio.Transport]]]:
    """Yields the port, the limits, and the server's side of each connection."""
    limits = ConnectionLimiter(ConnectionQuota(100, 100, 30, 30), TrustedProxies(()), lambda reason: None)
    made: list[asyncio.Transport] = []

    class Recorded(BoundedProtocol):
        def connection_made(self, transport: asyncio.BaseTransport) -> None:
            made.append(cast(asyncio.Transport, transport))
            super().connection_made(transport)

    config = uvicorn.Config(
        application,
        http=cast(Any, partial(Recorded, limits)),
        ws="websockets-sansio",
        ws_ping_interval=PING_SECONDS,
        ws_ping_timeout=PING_SECONDS,
        lifespan="off",
        log_config=None,
    )
    config.load()
    protocol = cast(Callable[..., asyncio.Protocol], config.http_protocol_class)
    loop, state = asyncio.get_running_loop(), ServerState()
    async with asyncio.timeout(30):
        async with await loop.create_server(lambda: protocol(config, state, {}), "127.0.0.1", 0) as server:
            yield server.sockets[0].getsockname()[1], limits, made


async def wait_for_ping_timeout(port: int) -> None:
    """Opens a socket that never answers a ping, and returns when the server has ended it."""
    reader, writer = await asyncio.open_connection("127.0.0.1", port)
    key = base64.b64encode(os.urandom(16)).decode()
    lines = ("GET / HTTP/1.1", "Host: here", "Connection: Upgrade", "Upgrade: websocket", "Sec-WebSocket-Version: 13")
    writer.write("".join(f"{line}\r\n" for line in (*lines, f"Sec-WebSocket-Key: {key}", "")).encode())
    assert b"101" in await reader.readuntil(b"\r\n\r\n")
    await reader.read()
    writer.close()


async def test_a_socket_that_answers_pings_stays_open_while_its_messages_wait() -> None:
    released = asyncio.Event()

    async def application(scope: Any, receive: Any, send: Any) -> None:
        await receive()
        await send({"type": "websocket.accept"})
        if scope["path"] == "/patient":
            await released.wait()
        while (message := await receive())["type"] == "websocket.receive":
            await send({"type": "websocket.send", "text": message["text"]})

    async with serving(application) as (port, limits, _):
        async with connect(f"ws://127.0.0.1:{port}/patient", close_timeout=1) as client:
            for text in ("one", "two"):
                await client.send(text)
            for _ in range(4):  # long enough for four ping time-outs
                await wait_for_ping_timeout(port)
            released.set()
            assert [await client.recv(), await client.recv()] == ["one", "two"]
            assert limits.open == 1
        await wait_for_ping_timeout(port)
        assert limits.open == 0


async def test_connections_use_tcp_keepalive() -> None:
    async def application(scope: Any, receive: Any, send: Any) -> None:
        await send({"type": "http.response.start", "status": 200, "headers": [(b"content-length", b"0")]})
        await send({"type": "http.response.body"})

    async with serving(application) as (port, _, made):
        reader, writer = await asyncio.open_connection("127.0.0.1", port)
        writer.write(b"GET / HTTP/1.1\r\nHost: here\r\n\r\n")
        await reader.readuntil(b"\r\n\r\n")
        [connection] = [transport.get_extra_info("socket") for transport in made]
        options = (socket.TCP_KEEPIDLE, socket.TCP_KEEPINTVL, socket.TCP_KEEPCNT)
        assert connection.getsockopt(socket.SOL_SOCKET, socket.SO_KEEPALIVE) == 1
        assert [connection.getsockopt(socket.IPPROTO_TCP, each) for each in options] == [30, 10, 3]
        writer.close()
