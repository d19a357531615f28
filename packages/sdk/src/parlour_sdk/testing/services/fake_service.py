"""A scripted HTTP service. A subclass implements `handle` by the service's documentation, not by the runner's code."""

import asyncio
import json
from abc import ABC, abstractmethod
from collections import deque
from collections.abc import AsyncGenerator, Callable, Sequence
from dataclasses import field
from typing import Any, Literal, TypeAlias

from aiohttp import web

from parlour_sdk.values import dataclass

from .faults import OVERSIZED_BYTES, ServiceFault

MAX_REQUEST_BYTES = 64 * 1024 * 1024


@dataclass(frozen=True, slots=True)
class UploadedPart:
    """A file of a multipart request."""

    field: str
    name: str
    content: bytes
    mime_type: str


@dataclass(frozen=True, slots=True)
class RecordedRequest:
    """A request that the service received."""

    method: str
    path: str
    query: dict[str, str]
    headers: dict[str, str]
    """Header names are in lower case."""
    body: bytes = b""
    fields: dict[str, str] = field(default_factory=dict)
    """Text fields of a form."""
    files: tuple[UploadedPart, ...] = ()

    @property
    def json(self) -> Any:
        return json.loads(self.body)


@dataclass(frozen=True, slots=True)
class JsonReply:
    """An answer in one piece; a body of bytes is sent as it is."""

    body: Any = None
    status: int = 200
    headers: dict[str, str] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class StreamReply:
    """A stream of events: a value is sent as JSON, a pair also has the name of the event, bytes are sent as they are.

    An `asyncio.Event` is waited for, and so is an `asyncio.Future`, whose result is the list of further events.

    `sse` is server-sent events, `lines` one JSON text per line.
    """

    events: Sequence[Any]
    format: Literal["sse", "lines"] = "sse"
    headers: dict[str, str] = field(default_factory=dict)

    def encode(self, event: Any) -> bytes:
        if isinstance(event, bytes):
            return event
        name, value = event if isinstance(event, tuple) else ("", event)
        text = json.dumps(value, ensure_ascii=False)
        if self.format == "lines":
            return f"{text}\n".encode()
        return (f"event: {name}\n" if name else "").encode() + f"data: {text}\n\n".encode()


ServiceReply: TypeAlias = JsonReply | StreamReply


class FakeService(ABC):
    """Serves on a free port of this machine: `async with ToyService() as service`, then `service.url`."""

    def __init__(self) -> None:
        self.requests: list[RecordedRequest] = []
        self.pieces: list[str] = ["Hello", " there"]
        """The text of the answers, as `handle` is to stream it; empty for an answer without text."""
        self.disconnects = 0
        """Streams that the client left before their end."""
        self.url = ""
        self._faults: deque[ServiceFault] = deque()
        self._changed = asyncio.Event()
        self._server: web.AppRunner | None = None

    @abstractmethod
    async def handle(self, request: RecordedRequest) -> ServiceReply:
        """Answers a request; a fault that is planned then replaces or damages an answer that is a stream."""

    def fail(self, fault: ServiceFault, times: int = 1) -> None:
        """Plans a fault for the next answers."""
        self._faults.extend([fault] * times)

    @property
    def planned_faults(self) -> int:
        """Faults that no answer has had yet."""
        return len(self._faults)

    async def until(self, condition: Callable[["FakeService"], Any]) -> None:
        """Waits until the condition holds; it is checked at each request and at each stream that is left."""
        while not condition(self):
            await self._changed.wait()

    async def __aenter__(self) -> "FakeService":
        app = web.Application(client_max_size=MAX_REQUEST_BYTES)
        app.router.add_route("*", "/{path:.*}", self._serve)
        self._server = web.AppRunner(app, handler_cancellation=True, access_log=None, shutdown_timeout=0.1)
        await self._server.setup()
        site = web.TCPSite(self._server, "127.0.0.1", 0, backlog=4096)
        await site.start()
        self.url = f"http://127.0.0.1:{self._server.addresses[0][1]}"
        return self

    async def __aexit__(self, *_: object) -> None:
        if self._server is not None:
            await self._server.cleanup()

    async def _serve(self, raw: web.Request) -> web.StreamResponse:
        request = await _record(raw)
        self.requests.append(request)
        self._notify()
        reply = await self.handle(request)
        if isinstance(reply, JsonReply):
            return _json_response(reply)
        fault = self._faults.popleft() if self._faults else None
        if fault is not None and fault.kind == "status":
            return _json_response(JsonReply(fault.body, fault.code, fault.headers))
        try:
            if fault is not None and fault.kind == "delay":
                await asyncio.sleep(fault.seconds)
            return await self._stream(raw, reply, fault)
        except (asyncio.CancelledError, ConnectionError):
            self.disconnects += 1
            self._notify()
            raise

    async def _stream(self, raw: web.Request, reply: StreamReply, fault: ServiceFault | None) -> web.StreamResponse:
        kind = "text/event-stream" if reply.format == "sse" else "application/x-ndjson"
        response = web.StreamResponse(headers={"Content-Type": kind, **reply.headers})
        await response.prepare(raw)
        is_due = fault is not None and not fault.after
        async for event in _events(reply.events):
            if fault is not None and is_due:
                await self._damage(raw, response, reply, fault)
                fault = None
            encoded = reply.encode(event)
            await response.write(encoded)
            is_due = fault is not None and fault.after in encoded.decode(errors="replace")
        if fault is not None and is_due:
            await self._damage(raw, response, reply, fault)
        await response.write_eof()
        return response

    async def _damage(
        self, raw: web.Request, response: web.StreamResponse, reply: StreamReply, fault: ServiceFault
    ) -> None:
        match fault.kind:
            case "cut":
                assert raw.transport is not None
                raw.transport.abort()
                raise ConnectionResetError("the fake service cuts the stream")
            case "stall":
                await asyncio.Event().wait()
            case "malformed":
                await response.write(b'data: {"broken\n\n' if reply.format == "sse" else b'{"broken\n')
            case "oversized":
                await response.write(reply.encode("x" * OVERSIZED_BYTES))

    def _notify(self) -> None:
        self._changed.set()
        self._changed = asyncio.Event()


async def _events(events: Sequence[Any]) -> AsyncGenerator[Any, None]:
    """Yields the events of a stream. An empty piece lets faults happen before something is waited for."""
    for event in events:
        if isinstance(event, asyncio.Future):
            yield b""
            for later in await event:
                yield later
        elif isinstance(event, asyncio.Event):
            yield b""
            await event.wait()
        else:
            yield event


async def _record(raw: web.Request) -> RecordedRequest:
    fields: dict[str, str] = {}
    files: list[UploadedPart] = []
    headers = {name.lower(): value for name, value in raw.headers.items()}
    if raw.content_type.startswith("multipart/"):
        for name, value in (await raw.post()).items():
            if isinstance(value, web.FileField):
                files.append(UploadedPart(name, value.filename, value.file.read(), value.content_type))
            else:
                fields[name] = str(value)
        return RecordedRequest(raw.method, raw.path, dict(raw.query), headers, b"", fields, tuple(files))
    return RecordedRequest(raw.method, raw.path, dict(raw.query), headers, await raw.read())


def _json_response(reply: JsonReply) -> web.Response:
    if isinstance(reply.body, bytes | str):
        return web.Response(body=reply.body, status=reply.status, headers=reply.headers)
    if reply.body is None:
        return web.Response(status=reply.status, headers=reply.headers)
    return web.json_response(reply.body, status=reply.status, headers=reply.headers)
