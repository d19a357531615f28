"""Provides a model service with replies of the test, which can pause in the middle of a reply."""

import asyncio
import json
from collections import defaultdict, deque
from typing import Any

from aiohttp import web

from parlour.testing.model_server import Say, event, whole

HOLD_SECONDS = 60
USAGE = {"prompt_tokens": 420, "completion_tokens": 64, "total_tokens": 484}


class ScriptedModel:
    """Answers each request with the next reply: `{pieces, reasoning, tool_calls, gate, seconds, status}`.

    After the last reply it answers `pong`. With a status other than 200 the pieces are the error's message.
    """

    def __init__(self) -> None:
        self._replies: deque[dict[str, Any]] = deque()
        self._gates: defaultdict[str, asyncio.Event] = defaultdict(asyncio.Event)

    def will(self, replies: list[dict[str, Any]]) -> None:
        self._replies = deque(replies)

    def open_gate(self, gate: str) -> None:
        self._gates[gate].set()

    async def serve(self, request: web.Request) -> web.StreamResponse:
        body = json.loads(await request.read() or b"null")
        reply = self._replies.popleft() if self._replies else {"pieces": ["pong"]}
        if reply.get("status"):
            return web.json_response({"error": {"message": "".join(reply["pieces"])}}, status=reply["status"])
        if not body.get("stream"):
            calls = reply.get("tool_calls")
            return web.json_response(whole(Say("".join(reply.get("pieces", ())), tool_calls=calls, usage=USAGE)))
        response = web.StreamResponse(headers={"Content-Type": "text/event-stream"})
        await response.prepare(request)
        await self._stream(response, reply)
        await response.write_eof()
        return response

    async def _stream(self, response: web.StreamResponse, reply: dict[str, Any]) -> None:
        """Streams the reply after `seconds`. With a gate, all but the first piece wait until it is opened."""
        await asyncio.sleep(reply.get("seconds", 0))
        if reply.get("reasoning"):
            await response.write(event({"reasoning_content": reply["reasoning"]}))
        for at, piece in enumerate(reply.get("pieces", ())):
            if at == 1 and reply.get("gate"):
                await asyncio.wait_for(self._gates[reply["gate"]].wait(), HOLD_SECONDS)
            await response.write(event({"content": piece}))
        calls = reply.get("tool_calls", ())
        for call in calls:
            await response.write(event({"tool_calls": [call]}))
        await response.write(event({}, "tool_calls" if calls else "stop"))
        await response.write(b"data: " + json.dumps({"choices": [], "usage": USAGE}).encode() + b"\n\n")
        await response.write(b"data: [DONE]\n\n")
