"""Runs the background services of a Host: retention, schedules, statistics and the live feed."""

import asyncio
from collections.abc import AsyncIterator, Coroutine, Iterator
from contextlib import AsyncExitStack, asynccontextmanager
from functools import partial
from typing import Any

from parlour.core.observability.live_feed import State
from parlour.core.store.retention import Retention

from .host import Host
from .runtime_settings import Tuned, retention_terms
from .settings import RetentionSettings


@asynccontextmanager
async def going_on(host: Host) -> AsyncIterator[None]:
    """Runs the background services while the context is open."""
    async with AsyncExitStack() as stack:
        retention = await stack.enter_async_context(_cleaning(host, host.settings.retention))
        host.tuning.follow(Tuned(host.core, retention, host.settings.logs.level).follow)
        for work in (_scheduled(host), host.statistics.serve(), host.board.serve(partial(_states, host))):
            await stack.enter_async_context(_meanwhile(work))
        yield


@asynccontextmanager
async def _cleaning(host: Host, kept: RetentionSettings) -> AsyncIterator[Retention]:
    """Deletes expired records periodically while the context is open."""
    retention = Retention(host.journal, host.core.artifacts, host.clock, retention_terms(host.tuning.values()))
    work = asyncio.create_task(retention.serve(kept.first_seconds, kept.every_hours * 3600))
    try:
        yield retention
    finally:
        work.cancel()
        await asyncio.wait([work])


def _states(host: Host) -> Iterator[State]:
    """Yields the current states of plugins, bots and MCP servers, which no stored record reports."""
    for plugin_id, supervisor in host.runtime.supervisors().items():
        yield State("plugin", plugin_id, supervisor.status)
    for bot in host.bots.bots():
        yield State("bot", bot.bot_id, bot.state)
    for server in host.tools.mcp_book.all():
        yield State("mcp_server", server.server_id, host.tools.mcp_servers.status(server.server_id).state)


async def _scheduled(host: Host) -> None:
    """Runs the scheduler after unfinished work of an earlier process was recovered."""
    await host.taken_up.wait()
    await host.core.scheduler.serve()


@asynccontextmanager
async def _meanwhile(work: Coroutine[Any, Any, None]) -> AsyncIterator[None]:
    """Runs a coroutine as a task while the context is open."""
    task = asyncio.create_task(work)
    try:
        yield
    finally:
        task.cancel()
        await asyncio.wait([task])
