"""Handles files as the message says, `{verb: arguments}` as JSON, and answers with the outcome as JSON."""

import asyncio
import hashlib
import json
from collections.abc import AsyncGenerator, AsyncIterator
from pathlib import Path
from typing import Any

from parlour_sdk import results
from parlour_sdk.api import AgentAPIException, AgentRunAPI
from parlour_sdk.components import AgentRunner
from parlour_sdk.protocol.context import AgentRunContext
from parlour_sdk.results import Result

BLOCK = bytes(range(256)) * 4096


class Filer(AgentRunner):
    async def run(self, ctx: AgentRunContext, api: AgentRunAPI) -> AsyncGenerator[Result, None]:
        request = json.loads(ctx.input.text or '{"seen": {}}')
        [(verb, arguments)] = request.items()
        if verb == "show":
            for each in arguments["files"]:
                yield results.artifact_created("file", each["content"].encode(), name=each["name"])
            yield results.completed("shown")
            return
        if verb == "give_back":
            for each in ctx.input.attachments:
                yield results.artifact_created("image", artifact_id=each.artifact_id)
            yield results.completed("Here it is.")
            return
        try:
            answer = await DEEDS[verb](ctx, api, **arguments)
        except AgentAPIException as refusal:
            answer = {"refused": refusal.error.code, "message": refusal.error.message}
        yield results.completed(json.dumps(answer))


async def seen(ctx: AgentRunContext, api: AgentRunAPI) -> Any:
    return ctx.input.model_dump()


async def make(ctx: AgentRunContext, api: AgentRunAPI, text: str, **described: Any) -> Any:
    return (await api.artifacts.create(text.encode(), **described)).model_dump()


async def make_large(ctx: AgentRunContext, api: AgentRunAPI, mebibytes: int) -> Any:
    async def blocks() -> AsyncIterator[bytes]:
        for _ in range(mebibytes):
            yield BLOCK

    return (await api.artifacts.create(blocks(), name="large.bin")).model_dump()


async def look(ctx: AgentRunContext, api: AgentRunAPI, artifact_id: str) -> Any:
    return (await api.artifacts.metadata(artifact_id)).model_dump()


async def read(ctx: AgentRunContext, api: AgentRunAPI, artifact_id: str, **range: int) -> Any:
    chunk = await api.artifacts.read(artifact_id, **range)
    return {"text": chunk.content.decode(), "has_more": chunk.has_more, "size_bytes": chunk.size_bytes}


async def digest(ctx: AgentRunContext, api: AgentRunAPI, artifact_id: str) -> Any:
    found = hashlib.sha256()
    async for piece in api.artifacts.stream(artifact_id):
        found.update(piece)
    return found.hexdigest()


async def begin_and_wait(ctx: AgentRunContext, api: AgentRunAPI, file: str) -> Any:
    """Sends pieces and never the last one."""

    async def blocks() -> AsyncIterator[bytes]:
        yield BLOCK
        yield BLOCK
        await asyncio.to_thread(Path(file).touch)
        await asyncio.sleep(60)

    return (await api.artifacts.create(blocks())).model_dump()


DEEDS = {
    "seen": seen,
    "make": make,
    "make_large": make_large,
    "look": look,
    "read": read,
    "digest": digest,
    "begin_and_wait": begin_and_wait,
}
