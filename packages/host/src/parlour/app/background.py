"""Runs the background services of a Host: retention, schedules, statistics, the live feed and a new key."""

import asyncio
import logging
from collections.abc import AsyncIterator, Coroutine, Iterator
from contextlib import AsyncExitStack, asynccontextmanager
from functools import partial
from typing import Any

from parlour.core.cluster.parts import SWEEPS_DUTY
from parlour.core.journal.retry import retry_on_storage_failure
from parlour.core.observability.live_feed import ComponentState
from parlour.core.store.retention import Retention
from parlour.plugin_runtime.programs.service import CLEANUP_SECONDS

from .host import Host
from .runtime_settings import SettingsApplier, retention_periods
from .settings import RetentionSettings

logger = logging.getLogger(__name__)


@asynccontextmanager
async def run_background_services(host: Host) -> AsyncIterator[None]:
    """Runs the background services while the context is open."""
    async with AsyncExitStack() as stack:
        retention = await stack.enter_async_context(_run_retention(host, host.settings.retention))
        host.live_settings.subscribe(SettingsApplier(host.core, retention, host.settings.logs.level).apply)
        for work in (
            _run_scheduler(host),
            host.statistics.serve(),
            _run_secret_rotation(host),
            _clean_program_folders(host),
            host.live_feed.serve(partial(_component_states, host)),
        ):
            await stack.enter_async_context(_run_in_background(work))
        yield


@asynccontextmanager
async def _run_retention(host: Host, retention_settings: RetentionSettings) -> AsyncIterator[Retention]:
    """Deletes expired records periodically while the context is open."""
    retention = Retention(host.journal, host.core.artifacts, host.clock, retention_periods(host.live_settings.values()))
    seconds = (retention_settings.first_seconds, retention_settings.every_hours * 3600)
    work = asyncio.create_task(retention.serve(*seconds, partial(host.core.ownership.owns, SWEEPS_DUTY)))
    try:
        yield retention
    finally:
        work.cancel()
        await asyncio.wait([work])


def _component_states(host: Host) -> Iterator[ComponentState]:
    """Yields the current states of plugins, bots and MCP servers, which no stored record reports."""
    for plugin_id, supervisor in host.runtime.supervisors().items():
        yield ComponentState("plugin", plugin_id, supervisor.status)
    for bot in host.bots.bots():
        yield ComponentState("bot", bot.bot_id, bot.state)
    for server in host.tools.mcp_repository.all():
        yield ComponentState("mcp_server", server.server_id, host.tools.mcp_servers.status(server.server_id).state)


async def _run_scheduler(host: Host) -> None:
    """Runs the scheduler after unfinished work of an earlier process was recovered."""
    await host.recovered.wait()
    await host.core.scheduler.serve()


async def _run_secret_rotation(host: Host) -> None:
    """Completes a replacement of the secrets' key: one that an earlier process left, and each that is requested."""
    await host.recovered.wait()
    while True:
        try:
            await retry_on_storage_failure(host.secret_rotation.complete, "replacing the key of the secrets")
        except OSError:
            logger.exception("the key of the secrets could not be replaced; both keys are kept")
        await host.secret_rotation_requested.wait()
        host.secret_rotation_requested.clear()


async def _clean_program_folders(host: Host) -> None:
    """Deletes old folders of programs of plugins, also if none starts any more."""
    await host.recovered.wait()
    while True:
        host.programs.clean_up()
        await asyncio.sleep(CLEANUP_SECONDS)


@asynccontextmanager
async def _run_in_background(work: Coroutine[Any, Any, None]) -> AsyncIterator[None]:
    """Runs a coroutine as a task while the context is open."""
    task = asyncio.create_task(work)
    try:
        yield
    finally:
        task.cancel()
        await asyncio.wait([task])
