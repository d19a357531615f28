"""A running Host: starts it, reports what it is still waiting for, and stops it within a limited time."""

import asyncio
import logging
from collections.abc import AsyncIterator, Callable, Coroutine
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from dataclasses import field
from typing import TYPE_CHECKING, Any

from parlour.core.actions.processes import GrantedProcesses
from parlour.core.config.live_settings import LiveSettings
from parlour.core.journal import Journal
from parlour.core.model.ids import PluginId
from parlour.core.model.ports import Ids
from parlour.core.observability.live_feed import LiveFeed
from parlour.core.observability.metrics import Metrics
from parlour.core.observability.statistics import Statistics
from parlour.core.pagination import Cursors
from parlour.core.redaction import Redactor
from parlour.core.runs.recovery import INTERRUPTED
from parlour.core.secrets import SecretBox
from parlour.core.system import SystemClock
from parlour.platforms._host.bots import Bots
from parlour.platforms.catalogue import BuiltinAdapterCatalogue
from parlour.plugin_runtime.programs.deletion import ProgramFolderDeletion
from parlour_sdk.values import dataclass

from .box import BoxSubsystem
from .core import Core
from .core_ports import CorePorts
from .knowledge import KnowledgeSubsystem
from .models import ModelSubsystem
from .plugins import PluginRuntime, RefreshablePluginManager
from .secret_rotation import SecretRotation
from .seed import Seeder
from .settings import HostSettings
from .tools import ToolSubsystem

if TYPE_CHECKING:
    from .cluster.service import ClusterService

logger = logging.getLogger(__name__)

PLUGIN_START_DIVISOR = 3
"""Divisor of `plugins.start_seconds`: after a third of it, a plugin still starting delays only its own events."""
DRAIN_SECONDS = 3.0
"""Seconds for which active runs may continue after the Host was asked to stop."""
FINAL_WRITE_SECONDS = 2.0
"""Seconds to wait for the last database writes after that. Work that is not written stays pending, as after a crash."""


@asynccontextmanager
async def _no_service(host: "Host") -> AsyncIterator[None]:
    yield


@dataclass(frozen=True, slots=True)
class HostExtensions:
    """Extends a Host from outside: wraps its ports, and runs services beside it, such as a source of events."""

    wrap_ports: Callable[[CorePorts], CorePorts] = lambda ports: ports
    run_with: Callable[["Host"], AbstractAsyncContextManager[None]] = _no_service
    on_locked: Callable[[HostSettings], None] = lambda settings: None
    """Called when the data directory is locked by this Host."""


@dataclass(slots=True)
class Host:
    """A Host with all its subsystems."""

    settings: HostSettings
    journal: Journal
    core: Core
    runtime: PluginRuntime
    plugins: RefreshablePluginManager
    programs: GrantedProcesses
    program_folders: ProgramFolderDeletion
    catalogue: BuiltinAdapterCatalogue
    bots: Bots
    tools: ToolSubsystem
    box: BoxSubsystem
    models: ModelSubsystem
    knowledge: KnowledgeSubsystem
    secrets: SecretBox
    secret_rotation: SecretRotation
    redactor: Redactor
    notice: str
    """Message for the operator at the start; empty if there is none."""
    unavailable_reason: Callable[[], str]
    """Returns why no plugin can be reached at the moment; empty if they can."""
    cursors: Cursors
    ids: Ids
    clock: SystemClock
    metrics: Metrics
    live_feed: LiveFeed
    statistics: Statistics
    live_settings: LiveSettings
    waiting_for: list[str]
    """Steps of the start that are not finished yet."""
    recovered: asyncio.Event = field(default_factory=asyncio.Event)
    """Set when unfinished work of an earlier process was recovered."""
    secret_rotation_requested: asyncio.Event = field(default_factory=asyncio.Event)
    """Set when the files of the secrets' key may have changed."""
    cluster: "ClusterService | None" = None
    """Set if this Host shares its database with others."""
    was_ready: bool = False
    final_writes_done: bool = True
    """False if the last writes of `stop` were not finished in time."""

    async def start(self) -> None:
        """Starts plugins, recovers unfinished work, and starts bots and MCP servers.

        Plugins come first, so that recovered events find their runners. If a plugin takes long to start, only its own
        events wait for it.
        """
        plugins = asyncio.create_task(self._start_plugins())
        try:
            finished, unfinished = await asyncio.wait({plugins}, timeout=self._plugin_start_timeout())
            for task in finished:
                task.result()
            with self.core.registry.mark_starting(self._not_ready_plugins() if unfinished else ()):
                await self.box.prepare(*self.core.agents.all())
                await self._start_work()
                await self.tools.mcp_servers.start()
                self.waiting_for.remove("owed work")
                self.recovered.set()
                await plugins
        finally:
            plugins.cancel()

    async def _start_work(self) -> None:
        """Recovers unfinished work and connects the bots; in a cluster, those of the parts that this Host takes."""
        if self.cluster is not None:
            self.core.lanes.open([])
            await self.cluster.start()
            return
        await self.core.recover()
        await self.knowledge.recover()
        await self.bots.start()

    async def _start_plugins(self) -> None:
        await self.plugins.refresh()
        await self._seeder().seed()
        self.waiting_for.remove("plugins")

    def _plugin_start_timeout(self) -> float | None:
        """Returns the seconds to wait for plugins, or None to wait without a limit.

        The plugins of a standalone runtime are not known before it is connected, so the start waits for that.
        """
        return None if self.settings.runtime.url else self.settings.plugins.start_seconds / PLUGIN_START_DIVISOR

    def _not_ready_plugins(self) -> list[PluginId]:
        return [name for name, plugin in self.runtime.supervisors().items() if not plugin.is_ready]

    def _seeder(self) -> Seeder:
        bundled = self.settings.plugins.bundled
        is_sole = self.cluster is None
        return Seeder(self.journal, self.models.repository, self.core.agents, self.plugins, self.ids, bundled, is_sole)

    def pending_start_steps(self) -> list[str]:
        """Returns what the Host is still waiting for: plugins that have neither started nor failed, and recovery.

        A Host that was ready stays ready: a plugin that is installed or fails later shows in its own status.
        """
        if not self.was_ready:
            unproven = (f"plugin {name}" for name in self._not_ready_plugins())
            missing = [*filter(None, [self.unavailable_reason()]), *self.waiting_for, *unproven]
            self.was_ready = not missing
            return missing
        return []

    async def stop(self) -> None:
        """Stops accepting events, lets runs continue for a few seconds, and then interrupts them.

        The events of interrupted runs stay pending.
        """
        core = self.core
        core.gateway.stop_accepting()
        if self.cluster is not None:
            await self.cluster.leave()
        core.lanes.close()
        local_sessions = [session for session in core.sessions.all() if not session.remote]
        ends = [asyncio.ensure_future(session.ended.wait()) for session in local_sessions]
        if ends:
            await asyncio.wait(ends, timeout=DRAIN_SECONDS)
        for ending in ends:
            ending.cancel()
        for session in core.sessions.all():
            if not session.remote:
                session.stop(INTERRUPTED)
        core.audit_log.pause()
        self.final_writes_done = await finish_within(FINAL_WRITE_SECONDS, self._finish_writes())
        await core.approvals.close()
        await core.gateway.aclose()
        await core.outbox.close()
        await core.jobs.close()
        await core.names.close()
        await self.bots.close()

    async def _finish_writes(self) -> None:
        await self.core.lanes.join()
        await self.core.reruns.join()


async def finish_within(seconds: float, writing: Coroutine[Any, Any, None]) -> bool:
    """Returns whether the coroutine finished in time. Otherwise it is cancelled and not waited for any longer."""
    task = asyncio.create_task(writing)
    await asyncio.wait({task}, timeout=seconds)
    if task.done():
        task.result()
        return True
    logger.warning("the database does not answer; unwritten work stays pending")
    task.cancel()
    return False
