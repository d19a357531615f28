"""Exhausts resources: processes, memory, disk."""

import asyncio
import os
import time
from collections.abc import AsyncGenerator
from pathlib import Path

from parlour_sdk import results
from parlour_sdk.api import AgentRunAPI
from parlour_sdk.protocol.context import AgentRunContext
from parlour_sdk.results import Result

MEBIBYTE = 1024 * 1024
CHILD_COUNT = 20


def _hoard() -> Path:
    return Path(os.environ["PARLOUR_PLUGIN_DATA"]) / "hoard"


def delete_hoard() -> None:
    """Deletes the file with which an earlier process filled the disk, so that the plugin can be started again."""
    _hoard().unlink(missing_ok=True)


async def fork_children(ctx: AgentRunContext, api: AgentRunAPI) -> AsyncGenerator[Result, None]:
    """Forks children that leave their parent, process group and session and keep running; then exits."""
    for _ in range(CHILD_COUNT):
        if os.fork() == 0:
            os.setsid()
            if os.fork() == 0:
                time.sleep(3600)  # noqa: ASYNC251 - another process
            os._exit(0)
    yield results.delta(f"{CHILD_COUNT} children")
    await asyncio.sleep(0.1)
    os._exit(1)


async def leak_memory(ctx: AgentRunContext, api: AgentRunAPI) -> AsyncGenerator[Result, None]:
    hoard: list[bytearray] = []
    yield results.delta("more")
    while True:
        block = bytearray(16 * MEBIBYTE)
        block[::4096] = b"x" * len(block[::4096])  # untouched pages would not count as used memory
        hoard.append(block)
        await asyncio.sleep(0.02)


async def fill_disk(ctx: AgentRunContext, api: AgentRunAPI) -> AsyncGenerator[Result, None]:
    yield results.delta("more")
    with _hoard().open("wb") as hoard:
        while True:
            hoard.write(b"x" * 16 * MEBIBYTE)
            hoard.flush()
            await asyncio.sleep(0.02)
