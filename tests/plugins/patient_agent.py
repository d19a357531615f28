"""Begins to answer and then waits until it is cancelled."""

import asyncio
from collections.abc import AsyncGenerator
from typing import Any

from parlour_sdk import plugin, results, runner

plugin("test/patient-agent", version="0.1.0")


@runner(capabilities=["streaming", "interrupt", "steering"])
async def wait(ctx: Any, api: Any) -> AsyncGenerator[results.Result, None]:
    yield results.delta("I wait")
    await asyncio.sleep(24 * 3600)
