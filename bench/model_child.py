"""A model server that answers immediately, in three fragments: `pong` and the last word of the question. Run as a file.

Prints its port. It implements as much of the OpenAI API as the Host uses.
"""

import asyncio
import sys
from typing import Any

from aiohttp import web
from pydantic_core import from_json, to_json

USAGE = {"prompt_tokens": 10, "completion_tokens": 2, "total_tokens": 12}


async def chat(request: web.Request) -> web.StreamResponse:
    body = from_json(await request.read())
    parts = ("po", "ng ", _last_text(body["messages"]).split()[-1])
    if not body.get("stream"):
        message = {"role": "assistant", "content": "".join(parts)}
        answer = {"choices": [{"index": 0, "message": message, "finish_reason": "stop"}], "usage": USAGE}
        return web.Response(body=to_json(answer), content_type="application/json")
    response = web.StreamResponse(headers={"Content-Type": "text/event-stream"})
    await response.prepare(request)
    lines = [_chunk({"content": part}) for part in parts]
    lines += [_chunk({}, "stop"), _line({"choices": [], "usage": USAGE}), b"data: [DONE]\n\n"]
    await response.write(b"".join(lines))
    await response.write_eof()
    return response


def _last_text(messages: list[dict[str, Any]]) -> str:
    content = next(message["content"] for message in reversed(messages) if message["role"] == "user")
    return content if isinstance(content, str) else " ".join(part.get("text", "") for part in content)


def _chunk(delta: dict[str, str], finish_reason: str | None = None) -> bytes:
    return _line({"choices": [{"index": 0, "delta": delta, "finish_reason": finish_reason}]})


def _line(content: Any) -> bytes:
    return b"data: " + to_json(content) + b"\n\n"


async def serve() -> None:
    application = web.Application(client_max_size=2**26)
    application.router.add_post("/v1/chat/completions", chat)
    runner = web.AppRunner(application, access_log=None)
    await runner.setup()
    await web.TCPSite(runner, "127.0.0.1", 0).start()
    print(runner.addresses[0][1], flush=True)
    await asyncio.get_running_loop().run_in_executor(None, sys.stdin.read)  # until the parent process exits
    await runner.cleanup()


if __name__ == "__main__":
    asyncio.run(serve())
