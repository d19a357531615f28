"""Writes what it is told, word by word: `{"text", "piece", "pause", "stop"}`.

With `stop`, its first attempt writes so many characters and then waits for its end; a later one writes all.
"""

import asyncio
import json
from collections.abc import AsyncGenerator
from typing import Any

from parlour_sdk import plugin, results, runner

plugin("test/writing-agent", version="0.1.0")


@runner(capabilities=["streaming"])
async def write(ctx: Any, api: Any) -> AsyncGenerator[results.Result, None]:
    told = json.loads(ctx.input.text)
    text, piece, pause = told["text"], told.get("piece", 40), told.get("pause", 0.0)
    stop = told.get("stop", 0) if ctx.runtime.attempt == 1 else 0
    for place in range(0, len(text), piece):
        if stop and place >= stop:
            await asyncio.sleep(120)
        yield results.delta(text[place : place + piece])
        await asyncio.sleep(pause)
    yield results.completed(text)
