"""What the wire tests share: transports by name, a dispatcher made of functions, and a hand-driven other side."""

import asyncio
import json
import os
from collections.abc import AsyncGenerator, Awaitable, Callable, Coroutine
from typing import Any, TypeVar

from parlour_sdk.wire import Limits, Peer, StdioTransport, Transport, WireError, memory_pair

T = TypeVar("T")
Handler = Callable[[Any], Coroutine[Any, Any, Any] | AsyncGenerator[Any, None]]
OpenPair = Callable[[Limits, Limits], Awaitable[tuple[Transport, Transport]]]


async def open_memory(left: Limits, right: Limits) -> tuple[Transport, Transport]:
    return memory_pair()


async def open_pipes(left: Limits, right: Limits) -> tuple[Transport, Transport]:
    left_reads, right_writes = os.pipe()
    right_reads, left_writes = os.pipe()
    return StdioTransport(left_reads, left_writes, left), StdioTransport(right_reads, right_writes, right)


TRANSPORTS: dict[str, OpenPair] = {"memory": open_memory, "stdio": open_pipes}


async def within(awaitable: Awaitable[T], seconds: float = 5.0) -> T:
    async with asyncio.timeout(seconds):
        return await awaitable


async def settle(turns: int = 20) -> None:
    """Let everything that is already under way in this loop happen."""
    for _ in range(turns):
        await asyncio.sleep(0)


async def no_other_tasks() -> None:
    """Return when this test's task is the only one left."""
    others = asyncio.all_tasks() - {asyncio.current_task()}
    if others:
        await asyncio.wait(others)


class Handlers:
    """A dispatcher made of functions."""

    def __init__(self, **handlers: Handler) -> None:
        self.handlers = handlers

    def dispatch(self, action: str, data: Any) -> Coroutine[Any, Any, Any] | AsyncGenerator[Any, None]:
        if action not in self.handlers:
            raise WireError("not_supported", f"there is no action {action}")
        return self.handlers[action](data)


class Raw:
    """The other side of a peer, driven frame by frame."""

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
        """Everything the peer had to say up to now: what comes before the answer to a ping."""
        self.send(seq_id=999_999, action="ping", data=None)
        frames = []
        while (frame := await self.receive()).get("seq_id") != 999_999:
            frames.append(frame)
        return frames


class Link:
    """Makes connected ends for one test, and closes them after it."""

    def __init__(self, open_pair: OpenPair) -> None:
        self._open_pair = open_pair
        self._transports: list[Transport] = []

    async def transports(self, left: Limits, right: Limits) -> tuple[Transport, Transport]:
        pair = await self._open_pair(left, right)
        self._transports += pair
        return pair

    async def peers(
        self,
        left: Handlers | None = None,
        right: Handlers | None = None,
        limits: Limits | None = None,
        right_limits: Limits | None = None,
    ) -> tuple[Peer, Peer]:
        limits = limits or Limits()
        right_limits = right_limits or limits
        one, other = await self.transports(limits, right_limits)
        left_peer = Peer(one, left or Handlers(), limits, name="left")
        right_peer = Peer(other, right or Handlers(), right_limits, name="right")
        left_peer.start()
        right_peer.start()
        return left_peer, right_peer

    async def peer_and_raw(self, handlers: Handlers | None = None, limits: Limits | None = None) -> tuple[Peer, Raw]:
        limits = limits or Limits()
        one, other = await self.transports(limits, Limits(frame_bytes=2**26))
        peer = Peer(one, handlers or Handlers(), limits, name="peer")
        peer.start()
        return peer, Raw(other)

    async def close(self) -> None:
        for transport in self._transports:
            transport.close()
        await settle()
