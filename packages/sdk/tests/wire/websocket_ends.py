"""Connects a WebSocket transport with an endpoint that a test controls frame by frame."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

from parlour_sdk.wire import WireLimits
from parlour_sdk.wire.websocket import WebSocketTransport, connect, serve

from .raw_websocket import RawWebSocket, accept, raw_client, raw_server
from .support import TOKEN, within

USUAL = WireLimits()


class End:
    """Records the frames and the end of a transport."""

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
async def server_end(limits: WireLimits = USUAL, **options: Any) -> AsyncIterator[tuple[End, RawWebSocket]]:
    """Yields a server's transport, and a client that the test controls frame by frame."""
    accepted: asyncio.Queue[WebSocketTransport] = asyncio.Queue()
    serving = serve("127.0.0.1", 0, TOKEN, lambda _, transport: accepted.put_nowait(transport), limits=limits)
    async with serving as port, raw_client(port) as raw:
        yield End(await within(accepted.get()), **options), raw


@asynccontextmanager
async def client_end(limits: WireLimits = USUAL) -> AsyncIterator[tuple[End, RawWebSocket]]:
    """Yields a client's transport, and a server that the test controls frame by frame."""
    answered: asyncio.Queue[RawWebSocket] = asyncio.Queue()

    async def answer(raw: RawWebSocket) -> None:
        await accept(raw)
        answered.put_nowait(raw)

    async with raw_server(answer) as port:
        end = End(await within(connect(f"ws://127.0.0.1:{port}/control", TOKEN, limits)))
        yield end, await within(answered.get())
        end.transport.close()
    await within(end.transport.wait_closed())
