"""Streams the updates of a turn to a client: with a look at the beginning, and with lines that keep the connection
alive."""

import asyncio
import contextlib
from collections.abc import AsyncGenerator, AsyncIterator, Callable

from pydantic_core import to_json
from starlette.requests import Request
from starlette.responses import StreamingResponse
from starlette.types import Receive, Scope, Send

from ..errors import Problem
from .updates import ReasoningDelta, RunStarted, TurnEnd, TurnUpdate

KEEP_ALIVE_SECONDS = 15.0
KEEP_ALIVE = b": keep-alive\n\n"
_HEADERS = {"cache-control": "no-cache", "x-accel-buffering": "no"}


def sse_data(data: object, event: str = "") -> bytes:
    """Returns one server-sent event with JSON."""
    name = f"event: {event}\n".encode() if event else b""
    return name + b"data: " + to_json(data) + b"\n\n"


class UpdateStream:
    """The updates of a turn for one connection. `on_abandoned` is called if the client leaves before the end."""

    def __init__(self, updates: AsyncGenerator[TurnUpdate, None], on_abandoned: Callable[[], None]) -> None:
        self._updates = updates
        self._on_abandoned = on_abandoned
        self._buffered: list[TurnUpdate] = []
        self._pending: asyncio.Task[TurnUpdate] | None = None
        self._ended = False

    async def find_early_failure(self) -> TurnEnd | None:
        """Waits for the first output, but not longer than a client may wait for headers, and returns the end of a turn
        that failed before it."""
        loop = asyncio.get_running_loop()
        deadline = loop.time() + KEEP_ALIVE_SECONDS
        while (left := deadline - loop.time()) > 0:
            update = await self._next(left)
            if update is None:
                return None
            self._buffered.append(update)
            if isinstance(update, TurnEnd):
                return update if update.failed else None
            if not isinstance(update, RunStarted | ReasoningDelta):
                return None
        return None

    async def updates(self) -> AsyncGenerator[TurnUpdate | None, None]:
        """Yields the updates until the end, and None whenever there was none for a while."""
        while self._buffered:
            yield self._buffered.pop(0)
        while not self._ended:
            yield await self._next(KEEP_ALIVE_SECONDS)

    async def end(self, request: Request) -> TurnEnd:
        """Waits for the end of the turn. Raises Problem if the client leaves before it."""
        reading = asyncio.ensure_future(self._read_to_end())
        leaving = asyncio.ensure_future(_disconnected(request))
        try:
            await asyncio.wait({reading, leaving}, return_when=asyncio.FIRST_COMPLETED)
            if reading.done():
                return reading.result()
            raise Problem(499, "client_gone", "the client left before the answer")
        finally:
            for task in (reading, leaving):
                task.cancel()
            await asyncio.gather(reading, leaving, return_exceptions=True)
            await self.aclose()

    async def _read_to_end(self) -> TurnEnd:
        async for update in self.updates():
            if isinstance(update, TurnEnd):
                return update
        raise AssertionError

    async def aclose(self) -> None:
        """Stops following the turn."""
        if not self._ended:
            self._ended = True
            self._on_abandoned()
        if self._pending is not None:
            self._pending.cancel()
            with contextlib.suppress(asyncio.CancelledError, StopAsyncIteration):
                await self._pending
        await self._updates.aclose()

    async def _next(self, seconds: float) -> TurnUpdate | None:
        """Returns the next update; None if there is none within these seconds."""
        if self._pending is None:
            self._pending = asyncio.ensure_future(_advance(self._updates))
        done, _ = await asyncio.wait({self._pending}, timeout=seconds)
        if not done:
            return None
        update, self._pending = self._pending.result(), None
        self._ended = isinstance(update, TurnEnd)
        return update


class SseResponse(StreamingResponse):
    """Response with server-sent events about a turn. It stops following the turn when the client has gone."""

    def __init__(self, stream: UpdateStream, lines: AsyncIterator[bytes]) -> None:
        super().__init__(_non_empty(lines), media_type="text/event-stream", headers=_HEADERS)
        self._stream = stream

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        try:
            await super().__call__(scope, receive, send)
        finally:
            await self._stream.aclose()


async def _disconnected(request: Request) -> None:
    """Returns when the client has disconnected. The body must have been read."""
    while (await request.receive())["type"] != "http.disconnect":
        pass


async def _non_empty(lines: AsyncIterator[bytes]) -> AsyncIterator[bytes]:
    async for line in lines:
        if line:
            yield line


async def _advance(updates: AsyncGenerator[TurnUpdate, None]) -> TurnUpdate:
    return await anext(updates)
