"""Streams the text of its message piece by piece: `{"text", "piece", "pause", "stop"}`.

The option `stop` makes its first attempt write this many characters and then wait for its end; a
later attempt writes all.
"""

import asyncio
import json
from collections.abc import AsyncGenerator
from typing import Any

from parlour_sdk import plugin, results, runner

plugin("test/writing-agent", version="0.1.0")


@runner(capabilities=["streaming"])
async def write(ctx: Any, api: Any) -> AsyncGenerator[results.Result, None]:
    options = json.loads(ctx.input.text)
    text, piece, pause = options["text"], options.get("piece", 40), options.get("pause", 0.0)
    stop = options.get("stop", 0) if ctx.runtime.attempt == 1 else 0
    for place in range(0, len(text), piece):
        if stop and place >= stop:
            await asyncio.sleep(120)
        yield results.delta(text[place : place + piece])
        await asyncio.sleep(pause)
    yield results.completed(text)
