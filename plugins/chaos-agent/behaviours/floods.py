"""Floods the Host with deltas, calls and oversized frames."""

import asyncio
import time
from collections.abc import AsyncGenerator

from parlour_sdk import results
from parlour_sdk.api import AgentRunAPI
from parlour_sdk.protocol.context import AgentRunContext
from parlour_sdk.protocol.errors import AgentAPIException
from parlour_sdk.results import Result

from . import wire

DELTA_COUNT = 15_000
SECONDS_OF_CALLS = 2.0
CONCURRENT_CALLS = 100
MEBIBYTE = 1024 * 1024


async def deltas(ctx: AgentRunContext, api: AgentRunAPI) -> AsyncGenerator[Result, None]:
    for _ in range(DELTA_COUNT):
        yield results.delta(".")
    yield results.completed(f"{DELTA_COUNT} fragments")
    yield results.finished()


async def calls(ctx: AgentRunContext, api: AgentRunAPI) -> AsyncGenerator[Result, None]:
    """Makes many concurrent calls, as fast as they are answered."""
    call_count = refused_count = 0
    end_at = time.monotonic() + SECONDS_OF_CALLS

    async def call_on() -> None:
        nonlocal call_count, refused_count
        while time.monotonic() < end_at:
            call_count += 1
            try:
                await api.state.get("conversation", "nothing")
            except AgentAPIException:
                refused_count += 1

    await asyncio.gather(*(call_on() for _ in range(CONCURRENT_CALLS)))
    yield results.completed(f"{refused_count} of {call_count} calls were refused")


async def big_frame(ctx: AgentRunContext, api: AgentRunAPI) -> AsyncGenerator[Result, None]:
    """Sends a frame slightly above the size limit."""
    wire.frame({"seq_id": 1_000_001, "action": "state_get", "data": {"filler": "x" * (2 * MEBIBYTE)}})
    yield results.completed("nobody minded")


async def huge_frame(ctx: AgentRunContext, api: AgentRunAPI) -> AsyncGenerator[Result, None]:
    """Sends a frame that is cheap to send and expensive to parse: millions of small values."""
    wire.write(b'{"seq_id": 1000002, "action": "state_get", "data": [' + b"{}," * (16 * MEBIBYTE // 3) + b"{}]}\n")
    yield results.completed("nobody minded")
