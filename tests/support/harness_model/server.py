"""Runs the model service that real coding agents use in tests, on loopback, in the formats of four services."""

import json
from typing import Any

from aiohttp import web

from parlour.testing.model_server import ModelRequest, ModelServer

from . import anthropic, gemini, openai
from .script import Answer, Json, answer


class HarnessModel(ModelServer):
    """Answers by the orders in messages; `script.py` has them."""

    async def _serve(self, request: web.Request) -> web.StreamResponse:
        body = json.loads(await request.read() or b"null")
        self.requests.append(ModelRequest(request.path_qs, dict(request.headers), body))
        path = request.path
        if request.method != "POST":
            return web.json_response({"object": "list", "data": [{"id": "scripted", "object": "model"}]})
        if path.endswith("/chat/completions"):
            said = answer(*openai.read_chat(body))
            if not body.get("stream"):
                return web.json_response(openai.chat_whole(said))
            return await _stream(request, openai.chat_chunks(said), end=b"data: [DONE]\n\n")
        if path.endswith("/responses"):
            return await _stream(request, openai.responses_events(answer(*openai.read_responses(body))), named=True)
        if path.endswith("/count_tokens"):
            return web.json_response({"input_tokens": 10})
        if path.endswith("/messages"):
            said = answer(*anthropic.read_messages(body))
            if not body.get("stream"):
                return web.json_response(anthropic.messages_whole(said))
            return await _stream(request, anthropic.messages_events(said), named=True)
        if "enerateContent" in path:
            return await _generate(request, body)
        return web.json_response({"error": {"message": f"there is nothing at {path}"}}, status=404)


async def _generate(request: web.Request, body: Json) -> web.StreamResponse:
    wanted = gemini.wanted_json(body)
    said = answer(*gemini.read_contents(body)) if wanted is None else Answer(json.dumps(wanted))
    if "streamGenerateContent" in request.path:
        return await _stream(request, [gemini.content(said)])
    return web.json_response(gemini.content(said))


async def _stream(
    request: web.Request, events: list[Json], named: bool = False, end: bytes = b""
) -> web.StreamResponse:
    response = web.StreamResponse(headers={"Content-Type": "text/event-stream"})
    await response.prepare(request)
    for event in events:
        await response.write(_event(event, named))
    await response.write(end)
    await response.write_eof()
    return response


def _event(event: Any, named: bool) -> bytes:
    name = f"event: {event['type']}\n" if named else ""
    return f"{name}data: {json.dumps(event)}\n\n".encode()
