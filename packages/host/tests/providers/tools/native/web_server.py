"""A local web server with pages of every kind."""

import asyncio
import gzip
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass, field

from aiohttp import web


@dataclass(slots=True)
class Web:
    port: int = 0
    requested_paths: list[str] = field(default_factory=list)
    left: asyncio.Event = field(default_factory=asyncio.Event)
    """Somebody who was being sent something without end has gone."""

    def url(self, path: str, host: str = "localhost") -> str:
        return f"http://{host}:{self.port}{path}"


@asynccontextmanager
async def serving() -> AsyncIterator[Web]:
    made = Web()

    async def page(request: web.Request) -> web.StreamResponse:
        made.requested_paths.append(request.path)
        return await _page(made, request)

    app = web.Application()
    app.router.add_get("/{name:.*}", page)
    runner = web.AppRunner(app, shutdown_timeout=0)
    await runner.setup()
    site = web.TCPSite(runner, "127.0.0.1", 0)
    await site.start()
    made.port = runner.addresses[0][1]
    yield made
    await runner.cleanup()


async def _page(made: Web, request: web.Request) -> web.StreamResponse:
    match request.path:
        case "/hello":
            return web.Response(text="<h1>Hello</h1><script>no</script><p>Wörld", content_type="text/html")
        case "/latin":
            return web.Response(body="Wörld".encode("latin-1"), headers={"Content-Type": "text/plain; charset=latin-1"})
        case "/unknown-charset":
            return web.Response(body="Wörld".encode(), headers={"Content-Type": "text/plain; charset=nonesuch"})
        case "/image":
            return web.Response(body=b"\x89PNG", content_type="image/png")
        case "/missing":
            raise web.HTTPNotFound
        case "/away":
            raise web.HTTPFound(made.url("/hello"))
        case "/inside":
            raise web.HTTPFound(made.url("/hello", "127.0.0.2"))
        case "/elsewhere":
            raise web.HTTPFound("file:///etc/passwd")
        case "/circle":
            raise web.HTTPFound("/circle")
        case "/bomb":
            body = gzip.compress(bytes(16 * 1024 * 1024))
            return web.Response(body=body, headers={"Content-Encoding": "gzip", "Content-Type": "text/plain"})
        case "/gigabyte":
            return await _endless(made, request, b"x" * 65536, str(1024**3))
        case "/endless":
            return await _endless(made, request, b"more and ", None)
        case "/silent":
            await made.left.wait()
            return web.Response()
        case _:
            return await _broken(request)


async def _endless(made: Web, request: web.Request, piece: bytes, length: str | None) -> web.StreamResponse:
    response = web.StreamResponse(headers={"Content-Type": "text/plain"})
    response.content_length = int(length) if length else None
    await response.prepare(request)
    try:
        while True:
            await response.write(piece)
            await asyncio.sleep(0 if length else 0.01)
    finally:
        made.left.set()


async def _broken(request: web.Request) -> web.StreamResponse:
    """Announces more bytes than it sends."""
    response = web.StreamResponse(headers={"Content-Type": "text/plain", "Content-Length": "100"})
    await response.prepare(request)
    await response.write(b"half of")
    assert request.transport is not None
    request.transport.close()
    return response
