"""Runs a model service on loopback that answers in OpenAI's format, or fails in a scripted way.

`with ModelServer() as server: server.will(Refuse(429), Say("hello"))`: each request takes the next scripted answer, and
without one it says `pong`. It runs in a thread of its own, so that a test may block beside it.
"""

import asyncio
import json
import threading
from collections import deque
from collections.abc import Awaitable, Callable
from dataclasses import field
from typing import Any

from aiohttp import web

from parlour_sdk.values import dataclass

WAIT_SECONDS = 30
USAGE = {"prompt_tokens": 10, "completion_tokens": 2, "total_tokens": 12}


@dataclass(frozen=True, slots=True)
class Say:
    """Answers with a text in as many chunks as it has words; `gap` is the time between them in seconds."""

    text: str = "pong"
    gap: float = 0
    reasoning: str = ""
    tool_calls: list[dict[str, Any]] = field(default_factory=list)
    """The tool calls as they are streamed: fragments with an index."""
    usage: dict[str, int] | None = field(default_factory=lambda: USAGE)
    finish_reason: str = "stop"
    """The reason of the end, unless there are tool calls."""


@dataclass(frozen=True, slots=True)
class Refuse:
    status: int
    message: str = "as told"
    headers: dict[str, str] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Raw:
    """Answers with these bytes and then the end, a cut or silence."""

    body: bytes
    content_type: str = "text/event-stream"
    then: str = "end"
    """The end of the answer: `end`, `cut` or `stall`."""


@dataclass(frozen=True, slots=True)
class Endless:
    """Answers without end, until the client disconnects."""


ScriptedAnswer = Say | Refuse | Raw | Endless


@dataclass(frozen=True, slots=True)
class ModelRequest:
    path: str
    headers: dict[str, str]
    body: Any


class ModelServer:
    """Records requests in `requests`, and in `abandoned` how many answers were abandoned before their end."""

    def __init__(self) -> None:
        self._script: deque[ScriptedAnswer] = deque()
        self._loop = asyncio.new_event_loop()
        self._thread = threading.Thread(target=self._loop.run_forever, daemon=True)
        self.requests: list[ModelRequest] = []
        self.abandoned = 0
        self.connections: set[int] = set()
        self.address = ""

    def will(self, *response: ScriptedAnswer) -> None:
        self._script.extend(response)

    def forget(self) -> None:
        self._script.clear()
        self.requests.clear()
        self.abandoned = 0

    def __enter__(self) -> "ModelServer":
        self._thread.start()
        asyncio.run_coroutine_threadsafe(self._start(), self._loop).result(WAIT_SECONDS)
        return self

    def __exit__(self, *_: object) -> None:
        asyncio.run_coroutine_threadsafe(self._runner.cleanup(), self._loop).result(WAIT_SECONDS)
        self._loop.call_soon_threadsafe(self._loop.stop)
        self._thread.join(WAIT_SECONDS)
        self._loop.close()

    async def _start(self) -> None:
        application = web.Application(client_max_size=64 * 2**20)
        application.router.add_route("*", "/{path:.*}", self._serve)
        self._runner = web.AppRunner(application, access_log=None, shutdown_timeout=0, handler_cancellation=True)
        await self._runner.setup()
        site = web.TCPSite(self._runner, "127.0.0.1", 0)
        await site.start()
        self.address = f"http://127.0.0.1:{self._runner.addresses[0][1]}"

    async def _serve(self, request: web.Request) -> web.StreamResponse:
        is_form = request.content_type == "application/x-www-form-urlencoded"
        body = dict(await request.post()) if is_form else json.loads(await request.read() or b"null")
        self.requests.append(ModelRequest(request.path_qs, dict(request.headers), body))
        self.connections.add(id(request.transport))
        response = self._script.popleft() if self._script else Say()
        try:
            return await self._answer(request, body, response)
        except (ConnectionResetError, asyncio.CancelledError):
            self.abandoned += 1
            raise

    async def _answer(self, request: web.Request, body: Any, response: ScriptedAnswer) -> web.StreamResponse:
        match response:
            case Refuse():
                error = {"error": {"message": response.message}}
                return web.json_response(error, status=response.status, headers=response.headers)
            case Say() if not body.get("stream"):
                return web.json_response(whole(response))
            case Say():
                return await self._streamed(request, lambda write: _write_words(write, response))
            case Raw():
                return await self._raw(request, response)
            case Endless():
                return await self._streamed(request, _endless)

    async def _streamed(
        self, request: web.Request, write_parts: Callable[[Callable[[bytes], Awaitable[None]]], Awaitable[None]]
    ) -> web.StreamResponse:
        response = web.StreamResponse(headers={"Content-Type": "text/event-stream"})
        await response.prepare(request)
        await write_parts(response.write)
        await response.write_eof()
        return response

    async def _raw(self, request: web.Request, raw: Raw) -> web.StreamResponse:
        response = web.StreamResponse(headers={"Content-Type": raw.content_type})
        await response.prepare(request)
        await response.write(raw.body)
        match raw.then:
            case "cut" if request.transport is not None:
                request.transport.close()
            case "stall":
                await asyncio.Event().wait()
            case _:
                await response.write_eof()
        return response


def event(delta: dict[str, Any], finish_reason: str | None = None, **fields: Any) -> bytes:
    choice = {"index": 0, "delta": delta, "finish_reason": finish_reason}
    return b"data: " + json.dumps({"choices": [choice], **fields}).encode() + b"\n\n"


def whole(response: Say) -> dict[str, Any]:
    message = {"role": "assistant", "content": response.text, "reasoning_content": response.reasoning}
    reason = "tool_calls" if response.tool_calls else response.finish_reason
    choice = {"index": 0, "message": {**message, "tool_calls": response.tool_calls}, "finish_reason": reason}
    return {"choices": [choice], "usage": response.usage}


async def _write_words(write: Callable[[bytes], Awaitable[None]], response: Say) -> None:
    await write(event({"role": "assistant", "content": ""}))
    if response.reasoning:
        await write(event({"reasoning_content": response.reasoning}))
    for index, word in enumerate(response.text.split(" ") if response.text else ()):
        if index and response.gap:
            await asyncio.sleep(response.gap)
        await write(event({"content": f" {word}" if index else word}))
    for call in response.tool_calls:
        await write(event({"tool_calls": [call]}))
    await write(event({}, "tool_calls" if response.tool_calls else response.finish_reason))
    if response.usage is not None:
        await write(b"data: " + json.dumps({"choices": [], "usage": response.usage}).encode() + b"\n\n")
    await write(b"data: [DONE]\n\n")


async def _endless(write: Callable[[bytes], Awaitable[None]]) -> None:
    while True:
        await write(event({"content": "and " * 100}))
        await asyncio.sleep(0)
