"""Provides the helpers of the wire tests: transports by name, a dispatcher of functions, and a raw peer."""

import asyncio
import json
import os
import ssl
from collections.abc import AsyncGenerator, AsyncIterator, Awaitable, Callable, Coroutine
from contextlib import AbstractAsyncContextManager, AsyncExitStack, asynccontextmanager
from selectors import DefaultSelector, SelectorKey
from typing import Any, TypeVar

from parlour_sdk.wire import Peer, StdioTransport, Transport, WireError, WireLimits, memory_pair
from parlour_sdk.wire.websocket import WebSocketTransport, connect, serve

T = TypeVar("T")
Handler = Callable[[Any], Coroutine[Any, Any, Any] | AsyncGenerator[Any, None]]
OpenPair = Callable[[WireLimits, WireLimits], AbstractAsyncContextManager[tuple[Transport, Transport]]]

TOKEN = "open-sesame"


@asynccontextmanager
async def memory(left: WireLimits, right: WireLimits) -> AsyncIterator[tuple[Transport, Transport]]:
    yield memory_pair()


async def open_pipes(left: WireLimits, right: WireLimits) -> tuple[Transport, Transport]:
    left_reads, right_writes = os.pipe()
    right_reads, left_writes = os.pipe()
    return StdioTransport(left_reads, left_writes, left), StdioTransport(right_reads, right_writes, right)


@asynccontextmanager
async def pipes(left: WireLimits, right: WireLimits) -> AsyncIterator[tuple[Transport, Transport]]:
    yield await open_pipes(left, right)


@asynccontextmanager
async def websocket_pair(
    left: WireLimits,
    right: WireLimits,
    *,
    patience: float = 20.0,
    server_tls: ssl.SSLContext | None = None,
    client_tls: ssl.SSLContext | None = None,
) -> AsyncIterator[tuple[WebSocketTransport, WebSocketTransport]]:
    """Connects a client, on the left, with a server, on the right."""
    accepted: asyncio.Queue[WebSocketTransport] = asyncio.Queue()
    serving = serve(
        "127.0.0.1",
        0,
        TOKEN,
        lambda path, transport: accepted.put_nowait(transport),
        limits=right,
        patience=patience,
        tls=server_tls,
    )
    async with serving as port:
        url = f"{'ws' if server_tls is None else 'wss'}://127.0.0.1:{port}/control"
        client = await connect(url, TOKEN, left, patience=patience, tls=client_tls)
        yield client, await within(accepted.get())
        client.close()
        await within(client.wait_closed())


@asynccontextmanager
async def websocket_server(left: WireLimits, right: WireLimits) -> AsyncIterator[tuple[Transport, Transport]]:
    async with websocket_pair(right, left) as (client, server):
        yield server, client


TRANSPORTS: dict[str, OpenPair] = {
    "memory": memory,
    "stdio": pipes,
    "websocket client": websocket_pair,
    "websocket server": websocket_server,
}


async def within(awaitable: Awaitable[T], seconds: float = 30.0) -> T:
    async with asyncio.timeout(seconds):
        return await awaitable


async def settle(turns: int = 20) -> None:
    """Waits some iterations of the event loop, so that scheduled callbacks run."""
    for _ in range(turns):
        await asyncio.sleep(0)


def now() -> float:
    return asyncio.get_running_loop().time()


class _JumpingSelector(DefaultSelector):
    """Moves the clock to the next timer instead of waiting for it, when no socket is ready."""

    now = 0.0

    def select(self, timeout: float | None = None) -> list[tuple[SelectorKey, int]]:
        events = super().select(min(timeout, 0.01) if self._has_sockets() and timeout else 0)
        if not events:
            self.now += timeout or 0.0
        return events

    def _has_sockets(self) -> bool:
        return len(self.get_map()) > 1  # one is the loop's own


class _VirtualLoop(asyncio.SelectorEventLoop):
    def __init__(self) -> None:
        self._jumping = _JumpingSelector()
        super().__init__(self._jumping)

    def time(self) -> float:
        return self._jumping.now

    def oversleep(self, seconds: float) -> None:
        self._jumping.now += seconds


def in_virtual_time(scenario: Coroutine[Any, Any, T]) -> T:
    with asyncio.Runner(loop_factory=_VirtualLoop) as runner:
        return runner.run(scenario)


def oversleep(seconds: float) -> None:
    """Advances virtual time as if the whole process was stopped."""
    loop = asyncio.get_running_loop()
    assert isinstance(loop, _VirtualLoop)
    loop.oversleep(seconds)


async def no_other_tasks() -> None:
    """Waits until the task of the test is the only one."""
    others = asyncio.all_tasks() - {asyncio.current_task()}
    if others:
        await asyncio.wait(others)


class Handlers:
    """Dispatches actions to functions."""

    def __init__(self, **handlers: Handler) -> None:
        self.handlers = handlers

    def dispatch(self, action: str, data: Any) -> Coroutine[Any, Any, Any] | AsyncGenerator[Any, None]:
        if action not in self.handlers:
            raise WireError("not_supported", f"there is no action {action}")
        return self.handlers[action](data)


class Raw:
    """Is the other side of a peer, which a test controls frame by frame."""

    def __init__(self, transport: Transport) -> None:
        self.transport = transport
        self._received: asyncio.Queue[dict[str, Any]] = asyncio.Queue()
        self.closed = asyncio.Event()
        transport.start(lambda frame: self._received.put_nowait(json.loads(frame)), lambda _: self.closed.set())

    def send(self, **fields: Any) -> None:
        self.transport.send(json.dumps(fields).encode())

    async def receive(self) -> dict[str, Any]:
        return await within(self._received.get())

    async def round_trip(self) -> list[dict[str, Any]]:
        """Returns the frames that the peer sent before its answer to a ping."""
        self.send(seq_id=999_999, action="ping", data=None)
        frames = []
        while (frame := await self.receive()).get("seq_id") != 999_999:
            frames.append(frame)
        return frames


class Link:
    """Opens connected transports for one test, and closes them after it."""

    def __init__(self, open_pair: OpenPair) -> None:
        self._open_pair = open_pair
        self._opened = AsyncExitStack()
        self._transports: list[Transport] = []

    async def transports(self, left: WireLimits, right: WireLimits) -> tuple[Transport, Transport]:
        pair = await self._opened.enter_async_context(self._open_pair(left, right))
        self._transports += pair
        return pair

    async def peers(
        self,
        left: Handlers | None = None,
        right: Handlers | None = None,
        limits: WireLimits | None = None,
        right_limits: WireLimits | None = None,
    ) -> tuple[Peer, Peer]:
        limits = limits or WireLimits()
        right_limits = right_limits or limits
        one, other = await self.transports(limits, right_limits)
        left_peer = Peer(one, left or Handlers(), limits, name="left")
        right_peer = Peer(other, right or Handlers(), right_limits, name="right")
        left_peer.start()
        right_peer.start()
        return left_peer, right_peer

    async def peer_and_raw(
        self, handlers: Handlers | None = None, limits: WireLimits | None = None
    ) -> tuple[Peer, Raw]:
        limits = limits or WireLimits()
        one, other = await self.transports(limits, WireLimits(frame_bytes=2**26))
        peer = Peer(one, handlers or Handlers(), limits, name="peer")
        peer.start()
        return peer, Raw(other)

    async def close(self) -> None:
        for transport in self._transports:
            transport.close()
        await settle()
        await self._opened.aclose()
