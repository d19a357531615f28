"""The toy platform itself: a server on loopback that a test controls."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from itertools import count
from typing import Any

from aiohttp import WSCloseCode, web

TOKEN = "toy-s3cr3t-token"


class ToySimulator:
    """Accepts one WebSocket per bot, reports payloads to it, and records what bots send."""

    def __init__(self) -> None:
        self.sent: list[dict[str, Any]] = []
        self.refusals = 0
        """Number of connections that are refused next."""
        self._sockets: set[web.WebSocketResponse] = set()
        self._connected = asyncio.Event()
        self._numbers = count(1)

    @asynccontextmanager
    async def listening(self) -> AsyncIterator[str]:
        app = web.Application()
        app.router.add_get("/socket", self._socket)
        app.router.add_post("/send", self._send)
        runner = web.AppRunner(app, shutdown_timeout=0.1, handler_cancellation=True)
        await runner.setup()
        await web.TCPSite(runner, "127.0.0.1", 0).start()
        try:
            yield f"http://127.0.0.1:{runner.addresses[0][1]}"
        finally:
            await self.cut()
            await runner.cleanup()

    def message(self, text: str, sender: str = "ann", chat: str = "1") -> dict[str, Any]:
        number = next(self._numbers)
        return {"id": f"m{number}", "from": sender, "chat": chat, "text": text, "time": 1_760_000_000_000 + number}

    async def report(self, payload: Any) -> None:
        """Reports a payload to the connected bots, as soon as there is one."""
        await self._connected.wait()
        for socket in list(self._sockets):
            await (socket.send_str(payload) if isinstance(payload, str) else socket.send_json(payload))

    async def cut(self) -> None:
        self._connected.clear()
        for socket in list(self._sockets):
            await socket.close(code=WSCloseCode.GOING_AWAY)

    async def _socket(self, request: web.Request) -> web.StreamResponse:
        if self.refusals:
            self.refusals -= 1
            raise web.HTTPServiceUnavailable
        socket = web.WebSocketResponse()
        await socket.prepare(request)
        if request.headers.get("Authorization") != f"Bearer {TOKEN}":
            await socket.close(code=4004)
            return socket
        self._sockets.add(socket)
        self._connected.set()
        async for _ in socket:
            pass
        self._sockets.discard(socket)
        return socket

    async def _send(self, request: web.Request) -> web.Response:
        if request.headers.get("Authorization") != f"Bearer {TOKEN}":
            return web.json_response({"error": "the token is wrong"}, status=401)
        body = await request.json()
        self.sent.append(body)
        return web.json_response({"id": f"m{next(self._numbers)}"})
