"""A running Host: how it starts, what it still waits for, and how it stops within its promised time."""

import asyncio
import logging
from collections.abc import AsyncIterator, Callable, Coroutine
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from dataclasses import field
from typing import Any

from parlour.core.config.live_settings import Tuning
from parlour.core.journal import Journal
from parlour.core.model.ports import Ids
from parlour.core.observability.live_feed import Board
from parlour.core.observability.metrics import Measurements
from parlour.core.observability.statistics import Statistics
from parlour.core.pagination import Cursors
from parlour.core.runs.recovery import INTERRUPTED
from parlour.core.secrets import SecretBox
from parlour.core.system import SystemClock
from parlour.platforms._host.bots import Bots
from parlour.platforms.catalogue import Catalogue
from parlour_sdk.values import dataclass

from .core import Core, Ports
from .models import ModelSide
from .plugins import Plugins, Runtime
from .seed import FreshInstall
from .settings import Settings
from .tools import ToolSide

logger = logging.getLogger(__name__)

PLUGINS_SHARE = 3
"""A third of the time that a plugin may take to start: one that takes longer holds up nobody but its own events."""
DRAIN_SECONDS = 3.0
"""How long active runs may go on after the Host was told to stop."""
WRITE_SECONDS = 2.0
"""How long the end may then wait for the database. What it does not take stays owed, as after a crash."""


@asynccontextmanager
async def _nothing(host: "Host") -> AsyncIterator[None]:
    yield


@dataclass(frozen=True, slots=True)
class Additions:
    """What is put around a Host from outside: wrappers of its ports, and whoever brings it events."""

    wrap: Callable[[Ports], Ports] = lambda ports: ports
    attach: Callable[["Host"], AbstractAsyncContextManager[None]] = _nothing
    settle_in: Callable[[Settings], None] = lambda settings: None
    """Called once the data directory is this Host's alone."""


@dataclass(slots=True)
class Host:
    settings: Settings
    journal: Journal
    core: Core
    runtime: Runtime
    plugins: Plugins
    catalogue: Catalogue
    bots: Bots
    tools: ToolSide
    models: ModelSide
    secrets: SecretBox
    notice: str
    """What whoever starts it should know."""
    trouble: Callable[[], str]
    """Why plugins can't be reached at all at this moment."""
    cursors: Cursors
    ids: Ids
    clock: SystemClock
    measurements: Measurements
    board: Board
    statistics: Statistics
    tuning: Tuning
    waiting_for: list[str]
    """The steps of the start that are not done yet."""
    taken_up: asyncio.Event = field(default_factory=asyncio.Event)
    """What is owed was picked up."""
    was_ready: bool = False
    wrote: bool = True
    """The database has taken what there was to write at the end."""

    async def start(self) -> None:
        """Plugins first, so that owed work finds its runners; one that takes long is waited for by its own events."""
        plugins = asyncio.create_task(self._bring_plugins())
        try:
            done, late = await asyncio.wait({plugins}, timeout=self._patience())
            for task in done:
                task.result()
            with self.core.registry.expecting(self._unproven() if late else ()):
                await self.core.take_up()
                await self.bots.start()
                await self.tools.mcp_servers.start()
                self.waiting_for.remove("owed work")
                self.taken_up.set()
                await plugins
        finally:
            plugins.cancel()

    async def _bring_plugins(self) -> None:
        await self.plugins.refresh()
        await self._fresh_install().furnish()
        self.waiting_for.remove("plugins")

    def _patience(self) -> float | None:
        """What a standalone runtime has is not known before it is connected, so that is waited for."""
        return None if self.settings.runtime.url else self.settings.plugins.start_seconds / PLUGINS_SHARE

    def _unproven(self) -> list[str]:
        return [name for name, plugin in self.runtime.supervisors().items() if not plugin.proven]

    def _fresh_install(self) -> FreshInstall:
        bundled = self.settings.plugins.bundled
        return FreshInstall(self.journal, self.models.book, self.core.agents, self.plugins, self.ids, bundled)

    def missing(self) -> list[str]:
        """What is still to come before it is ready: every plugin started or given up, owed work picked up.

        Once ready it stays so: a plugin that is installed or fails later shows in its own status.
        """
        if not self.was_ready:
            unproven = (f"plugin {name}" for name in self._unproven())
            missing = [*filter(None, [self.trouble()]), *self.waiting_for, *unproven]
            self.was_ready = not missing
            return missing
        return []

    async def stop(self) -> None:
        """Takes nothing new, lets runs end for a moment, then cuts them off honestly: they stay owed."""
        core = self.core
        core.gateway.close()
        core.lanes.close()
        here = [session for session in core.sessions.all() if not session.remote]
        ends = [asyncio.ensure_future(session.ended.wait()) for session in here]
        if ends:
            await asyncio.wait(ends, timeout=DRAIN_SECONDS)
        for end in ends:
            end.cancel()
        for session in core.sessions.all():
            if not session.remote:
                session.stop(INTERRUPTED)
        core.audit_log.rest()
        self.wrote = await within(WRITE_SECONDS, self._last_writes())
        await core.approvals.close()
        await core.gateway.rest()
        await core.outbox.close()
        await core.webhooks.close()
        await core.later.close()
        await core.names.close()
        await self.bots.close()

    async def _last_writes(self) -> None:
        await self.core.lanes.join()
        await self.core.reruns.join()


async def within(seconds: float, writing: Coroutine[Any, Any, None]) -> bool:
    """Whether it was done in that time; if not it is cancelled, and not waited for any more whatever it does."""
    task = asyncio.create_task(writing)
    await asyncio.wait({task}, timeout=seconds)
    if task.done():
        task.result()
        return True
    logger.warning("the database does not answer; what was not written stays owed")
    task.cancel()
    return False
