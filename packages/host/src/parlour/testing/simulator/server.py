"""Serves HTTP and WebSockets of a simulated platform on the loopback interface, and breaks its connections."""

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager

from aiohttp import WSMsgType, web
from aiohttp.typedefs import Handler

from .base import NEVER_SECONDS, Outcome
from .faults import Refusal

MAX_BODY_BYTES = 64 * 1024 * 1024
SHUTDOWN_SECONDS = 0.1


class SimulatorSocket:
    """Represents one WebSocket connection of the bot."""

    def __init__(self, request: web.Request, response: web.WebSocketResponse) -> None:
        self.request = request
        self._response = response

    async def send(self, frame: str | bytes) -> None:
        """Sends a frame. Raises ConnectionResetError if the connection is closed."""
        if isinstance(frame, str):
            await self._response.send_str(frame)
        else:
            await self._response.send_bytes(frame)

    async def frames(self) -> AsyncIterator[str | bytes]:
        """Yields the bot's frames until the connection ends."""
        async for message in self._response:
            if message.type in (WSMsgType.TEXT, WSMsgType.BINARY):
                yield message.data

    async def close(self, code: int = 1000, reason: str = "") -> None:
        await self._response.close(code=code, message=reason.encode())

    def abort(self) -> None:
        """Breaks the connection as a network does, without a close frame."""
        abort(self.request)


SocketHandler = Callable[[SimulatorSocket], Awaitable[None]]


class SimulatorServer:
    def __init__(self) -> None:
        self.up = True
        """False for a platform that is down; it cuts every connection."""
        self.turned_away = 0
        """Number of the next requests that are answered with 503."""
        self._transports: set[asyncio.Transport] = set()
        self._app = web.Application(client_max_size=MAX_BODY_BYTES, middlewares=[self._guard])

    def route(self, method: str, path: str, handler: Handler) -> None:
        self._app.router.add_route(method, path, handler)

    def route_socket(self, path: str, handler: SocketHandler) -> None:
        """Serves a WebSocket at this path; the handler talks until the connection ends."""

        async def talk(request: web.Request) -> web.StreamResponse:
            response = web.WebSocketResponse(max_msg_size=0)
            await response.prepare(request)
            await handler(SimulatorSocket(request, response))
            return response

        self._app.router.add_get(path, talk)

    @asynccontextmanager
    async def listening(self, port: int = 0) -> AsyncIterator[str]:
        """Yields the address, without a slash at its end."""
        runner = web.AppRunner(self._app, access_log=None, handler_cancellation=True, shutdown_timeout=SHUTDOWN_SECONDS)
        await runner.setup()
        await web.TCPSite(runner, "127.0.0.1", port).start()
        try:
            yield f"http://127.0.0.1:{runner.addresses[0][1]}"
        finally:
            await runner.cleanup()

    def cut(self) -> None:
        """Breaks every open connection as a network does."""
        for transport in list(self._transports):
            transport.abort()

    @web.middleware
    async def _guard(self, request: web.Request, handler: Handler) -> web.StreamResponse:
        if not self.up:
            abort(request)
            return web.Response()
        if self.turned_away:
            self.turned_away -= 1
            return web.Response(status=503, text="not now\n")
        assert request.transport is not None
        self._transports.add(request.transport)
        try:
            return await handler(request)
        finally:
            self._transports = {each for each in self._transports if not each.is_closing()}


async def answer_call(
    request: web.Request,
    outcome: Outcome[Refusal],
    answer: Callable[[Outcome[Refusal]], web.Response],
    notify: Callable[[], Awaitable[None]],
) -> web.Response:
    """Answers a call, cuts the connection, or stays silent, as the outcome says."""
    if outcome.cuts:
        abort(request)
    await notify()
    if not outcome.answers and not outcome.cuts:
        await asyncio.sleep(NEVER_SECONDS)
    return answer(outcome)


def abort(request: web.Request) -> None:
    if request.transport is not None:
        request.transport.abort()
