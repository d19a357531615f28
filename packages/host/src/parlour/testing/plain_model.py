"""A model service for load tests, as a process: it answers every question with one fixed text, in OpenAI's format.

`python -m parlour.testing.plain_model --port 8901 --text pong --chunks 3 --delay-ms 0 --chunk-delay-ms 0`. A mark such
as `[#12ab]` in the question is repeated at the end, so that an answer can be matched with its question. Intentional
faults are the task of `model_server`.
"""

import argparse
import asyncio
import re
from typing import Any

from aiohttp import web
from pydantic_core import from_json, to_json

from parlour_sdk.values import dataclass

MARK = re.compile(r"\[#[0-9A-Za-z_.-]+\]")
USAGE = {"prompt_tokens": 10, "completion_tokens": 2, "total_tokens": 12}


@dataclass(frozen=True, slots=True)
class Manner:
    text: str = "pong"
    chunks: int = 3
    delay: float = 0
    """Seconds before an answer begins."""
    chunk_delay: float = 0
    """Seconds after each chunk of it."""
    repeats_marks: bool = True


class PlainModel:
    def __init__(self, behaviour: Manner) -> None:
        self._behaviour = behaviour
        self._requests = 0

    def application(self) -> web.Application:
        application = web.Application(client_max_size=64 * 2**20)
        for prefix in ("", "/v1"):
            application.router.add_post(f"{prefix}/chat/completions", self.chat)
            application.router.add_get(f"{prefix}/models", self.models)
        application.router.add_get("/stats", self.stats)
        application.router.add_route("*", "/{path:.*}", self.nothing)
        return application

    async def chat(self, request: web.Request) -> web.StreamResponse:
        body = from_json(await request.read())
        self._requests += 1
        await asyncio.sleep(self._behaviour.delay)
        head = {"id": f"chatcmpl-{self._requests}", "created": 1, "model": body.get("model", "plain")}
        text = self._text(body.get("messages") or [])
        if body.get("stream"):
            return await self._streamed(request, {**head, "object": "chat.completion.chunk"}, text)
        choice = {"index": 0, "message": {"role": "assistant", "content": text}, "finish_reason": "stop"}
        return _json({**head, "object": "chat.completion", "choices": [choice], "usage": USAGE})

    async def models(self, request: web.Request) -> web.Response:
        return _json({"object": "list", "data": [{"id": "plain", "object": "model", "created": 1}]})

    async def stats(self, request: web.Request) -> web.Response:
        return _json({"requests": self._requests})

    async def nothing(self, request: web.Request) -> web.Response:
        return _json({"error": {"message": "not here"}}, status=404)

    def _text(self, messages: list[dict[str, Any]]) -> str:
        marks = MARK.findall(_last_text(messages)) if self._behaviour.repeats_marks else []
        return f"{self._behaviour.text} {marks[-1]}" if marks else self._behaviour.text

    async def _streamed(self, request: web.Request, head: dict[str, Any], text: str) -> web.StreamResponse:
        response = web.StreamResponse(headers={"Content-Type": "text/event-stream"})
        await response.prepare(request)
        first_event = _event(head, {"role": "assistant", "content": ""})
        size = max(1, -(-len(text) // max(1, self._behaviour.chunks)))
        for start in range(0, len(text), size):
            first_event += _event(head, {"content": text[start : start + size]})
            if self._behaviour.chunk_delay:
                await response.write(first_event)
                first_event = b""
                await asyncio.sleep(self._behaviour.chunk_delay)
        first_event += _event(head, {}, "stop") + _line({**head, "choices": [], "usage": USAGE}) + b"data: [DONE]\n\n"
        await response.write(first_event)
        await response.write_eof()
        return response


def _last_text(messages: list[dict[str, Any]]) -> str:
    content = next((each.get("content") for each in reversed(messages) if each.get("role") == "user"), None)
    return content if isinstance(content, str) else " ".join(part.get("text", "") for part in content or ())


def _event(head: dict[str, Any], delta: dict[str, str], finish_reason: str | None = None) -> bytes:
    return _line({**head, "choices": [{"index": 0, "delta": delta, "finish_reason": finish_reason}]})


def _line(content: Any) -> bytes:
    return b"data: " + to_json(content) + b"\n\n"


def _json(content: Any, status: int = 200) -> web.Response:
    return web.Response(body=to_json(content), content_type="application/json", status=status)


def main() -> None:
    options = argparse.ArgumentParser()
    options.add_argument("--host", default="127.0.0.1")
    options.add_argument("--port", type=int, default=8901)
    options.add_argument("--text", default="pong")
    options.add_argument("--chunks", type=int, default=3)
    options.add_argument("--delay-ms", type=float, default=0)
    options.add_argument("--chunk-delay-ms", type=float, default=0)
    options.add_argument("--no-echo", action="store_true")
    arguments = options.parse_args()
    behaviour = Manner(
        arguments.text,
        arguments.chunks,
        arguments.delay_ms / 1000,
        arguments.chunk_delay_ms / 1000,
        not arguments.no_echo,
    )
    application = PlainModel(behaviour).application()
    web.run_app(application, host=arguments.host, port=arguments.port, access_log=None, print=None)


if __name__ == "__main__":
    main()
