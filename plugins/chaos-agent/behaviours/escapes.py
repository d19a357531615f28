"""Tries to access resources outside the sandbox, and reports how far it got."""

import asyncio
import os
import signal
from collections.abc import AsyncGenerator
from pathlib import Path

from parlour_sdk import results
from parlour_sdk.api import AgentRunAPI
from parlour_sdk.protocol.context import AgentRunContext
from parlour_sdk.results import Result


def _host_data() -> Path:
    """Returns the Host's data folder, three levels above the plugin's own folder."""
    return Path(os.environ["PARLOUR_PLUGIN_DATA"]).parents[2]


def _try_read(path: Path) -> str:
    try:
        if path.is_dir():
            return f"reached: {path} holds {len(list(path.iterdir()))} entries"
        with path.open("rb") as file:
            return f"reached: {path} begins with {len(file.read(64))} bytes"
    except OSError as error:
        return f"not reached: {path}: {error.strerror}"


async def read_host_database(ctx: AgentRunContext, api: AgentRunAPI) -> AsyncGenerator[Result, None]:
    yield results.completed(_try_read(Path(ctx.config.get("target") or _host_data() / "parlour.db")))


async def read_other_plugin(ctx: AgentRunContext, api: AgentRunAPI) -> AsyncGenerator[Result, None]:
    yield results.completed(
        _try_read(Path(ctx.config.get("target") or _host_data() / "plugins" / "parlour" / "echo-agent"))
    )


async def connect_out(ctx: AgentRunContext, api: AgentRunAPI) -> AsyncGenerator[Result, None]:
    host, _, port = (ctx.config.get("target") or "127.0.0.1:5300").rpartition(":")
    try:
        _, writer = await asyncio.wait_for(asyncio.open_connection(host, int(port)), 5)
    except (OSError, TimeoutError) as error:
        yield results.completed(f"not reached: {host}:{port}: {error}")
    else:
        writer.close()
        yield results.completed(f"reached: {host}:{port}")


async def kill_parent(ctx: AgentRunContext, api: AgentRunAPI) -> AsyncGenerator[Result, None]:
    """Kills the parent process: the Host, or in a sandbox its first process, which no signal from inside can end."""
    yield results.delta("goodbye")
    await asyncio.sleep(0.1)
    try:
        os.kill(os.getppid(), signal.SIGKILL)
    except OSError as error:
        yield results.completed(f"not reached: the parent: {error.strerror}")
    else:
        yield results.completed("reached: the parent was signalled")
