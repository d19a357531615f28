"""Waits until a whole crowd of runs is active; then each yields its own words, in turns with the other runs."""

import asyncio
from collections.abc import AsyncGenerator
from typing import Any

from parlour_sdk import plugin, results, runner

plugin("test/crowd-agent", version="0.1.0", limits={"max_runs": 1000})

WORDS = 20
_arrived = 0
_all_arrived = asyncio.Event()


@runner(capabilities=["streaming"], config=[{"name": "crowd", "type": "integer", "label": {"en_US": "Crowd"}}])
async def crowd(ctx: Any, api: Any) -> AsyncGenerator[results.Result, None]:
    global _arrived
    _arrived += 1
    if _arrived == ctx.config["crowd"]:
        _all_arrived.set()
    await _all_arrived.wait()
    for number in range(WORDS):
        yield results.delta(f"{ctx.input.text}/{number} ")
        await asyncio.sleep(0)
    yield results.completed(f"{ctx.input.text} is done")
    yield results.finished()
