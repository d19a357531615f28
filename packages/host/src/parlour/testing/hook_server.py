"""Serves the hook of an adapter over HTTP on the loopback interface, for tests without a Host."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

from aiohttp import web

from parlour.core.platforms.hooks import HookCall, HookReceiver

MAX_BODY_BYTES = 16 * 1024 * 1024


@asynccontextmanager
async def hooks_served(adapter: HookReceiver) -> AsyncIterator[str]:
    """Yields the address at which a platform calls the adapter."""

    async def call(request: web.Request) -> web.Response:
        headers = {name.lower(): value for name, value in request.headers.items()}
        query = dict(reversed(list(request.query.items())))
        method = "GET" if request.method == "GET" else "POST"
        answer = await adapter.hook(HookCall(await request.read(), headers, query, method))  # type: ignore[arg-type]
        body = answer.content or answer.text.encode()
        return web.Response(body=body, status=answer.status, content_type=answer.content_type)

    app = web.Application(client_max_size=MAX_BODY_BYTES)
    app.router.add_route("GET", "/hooks/bot", call)
    app.router.add_route("POST", "/hooks/bot", call)
    runner = web.AppRunner(app, access_log=None, shutdown_timeout=0.1, handler_cancellation=True)
    await runner.setup()
    await web.TCPSite(runner, "127.0.0.1", 0).start()
    try:
        yield f"http://127.0.0.1:{runner.addresses[0][1]}/hooks/bot"
    finally:
        await runner.cleanup()
