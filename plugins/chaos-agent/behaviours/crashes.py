"""Crashes, hangs, or ignores cancellation."""

import asyncio
import os
import time
from collections.abc import AsyncGenerator
from pathlib import Path

from parlour_sdk import results
from parlour_sdk.api import AgentRunAPI
from parlour_sdk.protocol.context import AgentRunContext
from parlour_sdk.results import Result

STARTS_TO_CRASH = 1
"""Starts that crash after such a run. A run with two attempts then fails four times, one less than the limit after
which a plugin is no longer restarted."""
STUBBORN_SECONDS = 120.0


def _marker() -> Path:
    return Path(os.environ["PARLOUR_PLUGIN_DATA"]) / "crash-at-start"


def crash_if_marked() -> None:
    """Crashes this start if the marker file of an earlier run asks for it, and counts the marker down."""
    crashes_left = int(_marker().read_text()) if _marker().exists() else 0
    if crashes_left > 0:
        _marker().write_text(str(crashes_left - 1))
        os.abort()


async def at_start(ctx: AgentRunContext, api: AgentRunAPI) -> AsyncGenerator[Result, None]:
    _marker().write_text(str(STARTS_TO_CRASH))
    os.abort()
    yield results.silent()


async def mid_run(ctx: AgentRunContext, api: AgentRunAPI) -> AsyncGenerator[Result, None]:
    yield results.delta("this will never be ")
    await asyncio.sleep(0.1)  # so that the delta has been sent
    os.abort()


async def exit_mid_run(ctx: AgentRunContext, api: AgentRunAPI) -> AsyncGenerator[Result, None]:
    yield results.delta("good")
    await asyncio.sleep(0.1)
    os._exit(0)


async def hang(ctx: AgentRunContext, api: AgentRunAPI) -> AsyncGenerator[Result, None]:
    yield results.delta("wait")
    await asyncio.sleep(0.1)
    while True:
        time.sleep(1)  # noqa: ASYNC251 - blocking is the purpose


async def ignore_cancel(ctx: AgentRunContext, api: AgentRunAPI) -> AsyncGenerator[Result, None]:
    yield results.delta("you can't stop me")
    end_at = time.monotonic() + STUBBORN_SECONDS
    while time.monotonic() < end_at:
        try:
            await asyncio.sleep(1)
        except (asyncio.CancelledError, GeneratorExit):
            continue
    yield results.finished()
