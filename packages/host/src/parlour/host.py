"""A running Host: opens what it stands on in order, and closes it in reverse within its promised time."""

import asyncio
import logging
from collections.abc import AsyncIterator, Callable
from contextlib import AbstractAsyncContextManager, AsyncExitStack, asynccontextmanager
from dataclasses import dataclass
from typing import Any

from parlour_sdk.wire import Limits

from .app import VERSION, Core, Ports, build_core
from .config import Settings
from .core.agents.registry import Registry
from .core.cursors import Cursors
from .core.facts.tables import META, OUTBOX, RUNS
from .core.identity import SystemClock, SystemIds
from .core.journal import Insert, Journal, Select, Unit, where
from .core.ports import Ids
from .core.runs.recovery import INTERRUPTED
from .data_directory import DataDirectory
from .runtime.embedded import EmbeddedRuntime
from .runtime.folder import Installed, PluginFolder
from .runtime.launcher import PlainLauncher, Start
from .runtime.status import StatusFile
from .runtime.supervisor import RestartPolicy
from .stores import migrate
from .stores.sqlite import SqliteJournal

logger = logging.getLogger(__name__)

DRAIN_SECONDS = 3.0
"""How long active runs may go on after the Host was told to stop."""


@asynccontextmanager
async def _nothing(host: "Host") -> AsyncIterator[None]:
    yield


@dataclass(frozen=True, slots=True)
class Additions:
    """What is put around a Host from outside: wrappers of its ports, and whoever brings it events."""

    wrap: Callable[[Ports], Ports] = lambda ports: ports
    attach: Callable[["Host"], AbstractAsyncContextManager[None]] = _nothing


@dataclass(slots=True)
class Host:
    settings: Settings
    journal: Journal
    core: Core
    runtime: EmbeddedRuntime
    cursors: Cursors
    ids: Ids
    clock: SystemClock
    waiting_for: list[str]
    """The steps of the start that are not done yet."""
    was_ready: bool = False

    async def start(self) -> None:
        """Plugins first, so that owed work finds its runners."""
        await self.runtime.refresh()
        self.waiting_for.remove("plugins")
        await self.core.take_up()
        self.waiting_for.remove("owed work")

    def missing(self) -> list[str]:
        """What is still to come before it is ready: every plugin started or given up, owed work picked up.

        Once ready it stays so: a plugin that is installed or fails later shows in its own status.
        """
        if not self.was_ready:
            unproven = [name for name, plugin in self.runtime.supervisors().items() if not plugin.proven]
            missing = self.waiting_for + [f"plugin {name}" for name in unproven]
            self.was_ready = not missing
            return missing
        return []

    async def stop(self) -> None:
        """Takes nothing new, lets runs end for a moment, then cuts them off honestly: they stay owed."""
        core = self.core
        core.gateway.close()
        core.lanes.close()
        ends = [asyncio.ensure_future(session.ended.wait()) for session in core.sessions.all()]
        if ends:
            await asyncio.wait(ends, timeout=DRAIN_SECONDS)
        for end in ends:
            end.cancel()
        for session in core.sessions.all():
            session.stop(INTERRUPTED)
        await core.lanes.join()
        await core.outbox.close()


@asynccontextmanager
async def open_host(settings: Settings, additions: Additions) -> AsyncIterator[Host]:
    directory = DataDirectory(settings.data)
    clock, ids = SystemClock(), SystemIds()
    async with AsyncExitStack() as stack:
        stack.enter_context(directory.lock())
        migrate.ensure(directory.database)
        journal = await stack.enter_async_context(SqliteJournal(directory.database))
        registries: list[Registry] = []
        runtime = _runtime(settings, directory, registries)
        ports = additions.wrap(
            Ports(
                journal=journal,
                plugins=runtime,
                clock=clock,
                ids=ids,
                concurrent_runs=settings.runs.concurrent,
                runs_per_person=settings.runs.per_person,
            )
        )
        core = build_core(ports)
        registries.append(core.registry)
        runtime.serve(core.gate)
        core.feed.start_after(await _last_feed_seq(ports.journal))
        await core.load()
        host = Host(
            settings=settings,
            journal=ports.journal,
            core=core,
            runtime=runtime,
            cursors=Cursors(await _database_id(ports.journal, ids)),
            ids=ids,
            clock=clock,
            waiting_for=["plugins", "owed work"],
        )
        stack.push_async_callback(runtime.close)
        await stack.enter_async_context(additions.attach(host))
        yield host


def _runtime(settings: Settings, directory: DataDirectory, registries: list[Registry]) -> EmbeddedRuntime:
    plugins = settings.plugins

    def discovered(plugin: Installed, runners: list[Any]) -> None:
        registries[0].replace_plugin(plugin.plugin_id, plugin.version, runners)

    def removed(plugin_id: str) -> None:
        registries[0].remove_plugin(plugin_id)

    async def prepare(plugin: Installed) -> Start:
        data = directory.folder("plugin-data") / plugin.plugin_id
        data.mkdir(parents=True, exist_ok=True)
        return Start(plugin.plugin_id, plugin.folder, data)

    return EmbeddedRuntime(
        PluginFolder(directory.plugins),
        PlainLauncher(),
        prepare,
        VERSION,
        discovered,
        removed,
        StatusFile(directory.plugin_status),
        RestartPolicy(
            start_seconds=plugins.start_seconds,
            stop_seconds=plugins.stop_seconds,
            first_delay=plugins.first_restart_seconds,
            longest_delay=plugins.longest_restart_seconds,
            give_up_after=plugins.give_up_after,
            within_seconds=plugins.give_up_within_seconds,
        ),
        Limits(frames_per_second=plugins.frames_per_second, bytes_per_second=plugins.bytes_per_second),
    )


async def _database_id(journal: Journal, ids: Ids) -> str:
    """Made once per database; cursors are bound to it."""
    insert = Insert(META, {"name": "database_id", "value": ids.new()}, conflict="ignore")
    await journal.commit(Unit("database.name", (insert,)))
    rows = await journal.read(Select(META, where(name="database_id")))
    return str(rows[0]["value"])


async def _last_feed_seq(journal: Journal) -> int:
    """The highest number that was shown, as far as it takes to be sure."""
    latest = Select(OUTBOX, (), ("feed_seq",), order=("seq",), direction="descending", limit=100)
    ended = Select(RUNS, (), ("feed_seq",), order=("run_id",), direction="descending", limit=100)
    rows = [*await journal.read(latest), *await journal.read(ended)]
    return max((int(row["feed_seq"]) for row in rows), default=0)
