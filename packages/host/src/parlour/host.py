"""A running Host: opens what it stands on in order, and closes it in reverse within its promised time."""

import asyncio
import logging
from collections.abc import AsyncIterator, Callable, Coroutine, Iterator, Sequence
from contextlib import AbstractAsyncContextManager, AsyncExitStack, asynccontextmanager, contextmanager
from dataclasses import dataclass, field
from functools import partial
from typing import Any

from parlour_sdk.protocol.manifest import PluginPermissions

from .app import Core, Ports, build_core
from .config import ArtifactSettings, RetentionSettings, Settings, TelemetrySettings
from .core.access.served import ServedGate
from .core.agents.registry import Registry
from .core.components import Components
from .core.cursors import Cursors
from .core.facts.keeping import Sizes
from .core.facts.retention import Retention
from .core.facts.tables import META, OUTBOX, RUNS
from .core.identity import SystemClock, SystemIds
from .core.journal import Insert, Journal, Select, Unit, where
from .core.objects import ObjectStore
from .core.observing.board import Board, State
from .core.observing.journal import ObservedJournal, Observer
from .core.observing.measurements import Measurements
from .core.observing.statistics import Statistics
from .core.observing.usage import UsageMeter
from .core.platforms.book import PlatformCursors
from .core.platforms.replying import Replies
from .core.plugins import Offer, PluginProblem
from .core.ports import Ids
from .core.providers import Providers
from .core.redacted_journal import RedactedJournal
from .core.redaction import REDACTOR, KnowingBox
from .core.runs.recovery import INTERRUPTED
from .core.secrets import SecretBox
from .core.tuning import Tuning
from .data_directory import DataDirectory
from .fresh_install import FreshInstall
from .model_side import ModelSide, open_model_side
from .platforms.bots import Bots
from .platforms.catalogue import Catalogue
from .platforms.link import Doors
from .plugin_side import Plugins, Runtime, open_plugin_side
from .providers.hook_client import HookClient
from .providers.tools.registry import ToolRegistry
from .secret_key import KeyFile
from .stores.objects.opening import opened as opened_objects
from .stores.objects.signature import Account
from .stores.opening import opened
from .tool_side import ToolSide, open_tool_side
from .tuned import Tuned, configured, retention_terms
from .version import VERSION

logger = logging.getLogger(__name__)

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
        """Plugins first, so that owed work finds its runners."""
        await self.plugins.refresh()
        await self._fresh_install().furnish()
        self.waiting_for.remove("plugins")
        await self.core.take_up()
        await self.bots.start()
        await self.tools.mcp_servers.start()
        self.waiting_for.remove("owed work")
        self.taken_up.set()

    def _fresh_install(self) -> FreshInstall:
        bundled = self.settings.plugins.bundled
        return FreshInstall(self.journal, self.models.book, self.core.agents, self.plugins, self.ids, bundled)

    def missing(self) -> list[str]:
        """What is still to come before it is ready: every plugin started or given up, owed work picked up.

        Once ready it stays so: a plugin that is installed or fails later shows in its own status.
        """
        if not self.was_ready:
            unproven = [name for name, plugin in self.runtime.supervisors().items() if not plugin.proven]
            missing = [*filter(None, [self.trouble()]), *self.waiting_for, *(f"plugin {name}" for name in unproven)]
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
        self.wrote = await _within(WRITE_SECONDS, self._last_writes())
        await core.approvals.close()
        await core.gateway.rest()
        await core.outbox.close()
        await core.webhooks.close()
        await core.later.close()
        await self.bots.close()

    async def _last_writes(self) -> None:
        await self.core.lanes.join()
        await self.core.reruns.join()


@asynccontextmanager
async def open_host(settings: Settings, additions: Additions) -> AsyncIterator[Host]:
    directory = DataDirectory(settings.data)
    clock, ids = SystemClock(), SystemIds()
    async with AsyncExitStack() as stack:
        stack.enter_context(directory.lock())
        additions.settle_in(settings)
        url = settings.database.url.get_secret_value()
        opened_journal = await stack.enter_async_context(opened(url, directory.database, alone=True))
        measurements, usage, board = Measurements(), UsageMeter(), Board(clock)
        redacted = RedactedJournal(opened_journal, REDACTOR)
        watching = stack.enter_context(_traced(settings.telemetry))
        journal = ObservedJournal(redacted, (measurements.look, usage.look, board.look, *watching))
        registries: list[Registry] = []
        components = Components()
        side = await open_plugin_side(
            settings,
            directory,
            clock,
            VERSION,
            partial(_discovered, registries, components),
            partial(_removed, registries, components),
        )
        secrets = KnowingBox(KeyFile(directory.secret_key), REDACTOR)
        tools = ToolRegistry(settings.tools.call_seconds)
        catalogue = Catalogue()
        bots = Bots(catalogue, secrets, clock)
        models = await stack.enter_async_context(open_model_side(settings.models, journal, secrets, clock))
        ports = additions.wrap(
            Ports(
                journal=journal,
                plugins=side.runtime,
                components=components,
                cursors=Cursors(await _database_id(journal, ids)),
                clock=clock,
                ids=ids,
                bots=bots,
                providers=Providers(platforms=bots, tools=tools, models=models.models),
                objects=await stack.enter_async_context(_objects(settings.artifacts, directory)),
                sizes=Sizes(settings.artifacts.artifact_bytes, settings.artifacts.quota_bytes),
                plugin_grants=partial(_granted, side.plugins),
                plugin_list=side.plugins.all,
                concurrent_runs=settings.runs.concurrent,
                runs_per_person=settings.runs.per_person,
                runs_per_minute=settings.runs.per_conversation_per_minute,
                listener_seconds=settings.plugins.listener_seconds,
                hook_sender=HookClient(settings.tools.allowed_addresses),
                secrets=secrets,
                time_zone=settings.workspace.time_zone,
            )
        )
        core = build_core(ports)
        registries.append(core.registry)
        side.runtime.serve(ServedGate(core.gate))
        cursors = PlatformCursors(ports.journal, clock)
        bots.serve(core.bots, Replies(ports.journal), Doors(core.gateway, cursors, core.artifacts))
        core.feed.start_after(await _last_feed_seq(ports.journal))
        await core.load()
        tuning = Tuning(ports.journal, configured(settings))
        await tuning.load()
        host = Host(
            settings=settings,
            journal=ports.journal,
            core=core,
            runtime=side.runtime,
            plugins=side.plugins,
            catalogue=catalogue,
            bots=bots,
            tools=await stack.enter_async_context(open_tool_side(settings, tools, core, ports, secrets)),
            models=models,
            secrets=secrets,
            notice=side.notice,
            trouble=side.trouble,
            cursors=ports.cursors,
            ids=ids,
            clock=clock,
            measurements=measurements,
            board=board,
            statistics=Statistics(redacted, (measurements, usage), clock),
            tuning=tuning,
            waiting_for=["plugins", "owed work"],
        )
        stack.push_async_callback(lambda: _within(WRITE_SECONDS if host.wrote else 0, core.audit_log.close()))
        stack.push_async_callback(side.runtime.close)
        stack.push_async_callback(bots.close)
        retention = await stack.enter_async_context(_cleaning(host, settings.retention))
        host.tuning.follow(Tuned(core, retention, settings.logs.level).follow)
        await stack.enter_async_context(_meanwhile(_scheduled(host)))
        await stack.enter_async_context(_meanwhile(host.statistics.serve()))
        await stack.enter_async_context(_meanwhile(board.serve(partial(_states, host))))
        await stack.enter_async_context(additions.attach(host))
        yield host


async def _within(seconds: float, writing: Coroutine[Any, Any, None]) -> bool:
    """Whether it was done in that time; if not it is cancelled, and not waited for any more whatever it does."""
    task = asyncio.create_task(writing)
    await asyncio.wait({task}, timeout=seconds)
    if task.done():
        task.result()
        return True
    logger.warning("the database does not answer; what was not written stays owed")
    task.cancel()
    return False


def _granted(plugins: Plugins, plugin_id: str) -> PluginPermissions:
    """As the record says at this moment: what is taken away is refused from the next call on."""
    try:
        facts = plugins.get(plugin_id)
    except PluginProblem:
        facts = None  # the runtime is away, and with it whoever could ask
    return PluginPermissions.model_validate(facts.granted) if facts is not None else PluginPermissions()


def _discovered(registries: list[Registry], components: Components, plugin_id: str, version: str, offer: Offer) -> None:
    registries[0].replace_plugin(plugin_id, version, offer.runners)
    components.replace_plugin(plugin_id, version, offer.components)


def _removed(registries: list[Registry], components: Components, plugin_id: str) -> None:
    registries[0].remove_plugin(plugin_id)
    components.remove_plugin(plugin_id)


@asynccontextmanager
async def _cleaning(host: Host, kept: RetentionSettings) -> AsyncIterator[Retention]:
    """Takes away what is too old, until the Host stops."""
    retention = Retention(host.journal, host.core.artifacts, host.clock, retention_terms(host.tuning.values()))
    work = asyncio.create_task(retention.serve(kept.first_seconds, kept.every_hours * 3600))
    try:
        yield retention
    finally:
        work.cancel()
        await asyncio.wait([work])


@contextmanager
def _traced(telemetry: TelemetrySettings) -> Iterator[Sequence[Observer]]:
    """Nobody unless the settings name an address for traces."""
    if not telemetry.endpoint:
        yield ()
        return
    from .providers import tracing

    pairs = (pair.partition("=") for pair in telemetry.headers.get_secret_value().split(",") if pair)
    headers = {name.strip(): value.strip() for name, _, value in pairs}
    with tracing.opened(telemetry.endpoint, headers, VERSION) as traces:
        yield (traces.look,)


def _states(host: Host) -> Iterator[State]:
    """How things are at this moment that no fact tells of."""
    for plugin_id, supervisor in host.runtime.supervisors().items():
        yield State("plugin", plugin_id, supervisor.status)
    for bot in host.bots.bots():
        yield State("bot", bot.bot_id, bot.state)
    for server in host.tools.mcp_book.all():
        yield State("mcp_server", server.server_id, host.tools.mcp_servers.status(server.server_id).state)


async def _scheduled(host: Host) -> None:
    """What is owed comes first, then what is due."""
    await host.taken_up.wait()
    await host.core.scheduler.serve()


@asynccontextmanager
async def _meanwhile(work: Coroutine[Any, Any, None]) -> AsyncIterator[None]:
    """Goes on until the Host stops."""
    task = asyncio.create_task(work)
    try:
        yield
    finally:
        task.cancel()
        await asyncio.wait([task])


def _objects(artifacts: ArtifactSettings, directory: DataDirectory) -> AbstractAsyncContextManager[ObjectStore]:
    folder = artifacts.folder or directory.folder("artifacts")
    s3 = artifacts.s3
    if artifacts.store == "folder" or s3 is None:
        return opened_objects(folder, None)
    secret = s3.secret_key.get_secret_value()
    return opened_objects(folder, Account(s3.endpoint, s3.bucket, s3.access_key, secret, s3.region, s3.prefix))


async def _database_id(journal: Journal, ids: Ids) -> str:
    """Made once per database; cursors are bound to it."""
    insert = Insert(META, {"name": "database_id", "value": ids.new()}, conflict="ignore")
    await journal.commit(Unit("database.name", (insert,)))
    rows = await journal.read(Select(META, where(name="database_id")))
    return str(rows[0]["value"])


async def _last_feed_seq(journal: Journal) -> int:
    """The highest number that was shown, as far as it takes to be sure."""
    latest = Select(OUTBOX, (), ("feed_seq",), order=("seq",), direction="descending", limit=100)
    own = where(rerun_of="")
    ended = Select(RUNS, own, ("feed_seq",), order=("run_id",), direction="descending", limit=100)
    rows = [*await journal.read(latest), *await journal.read(ended)]
    return max((int(row["feed_seq"]) for row in rows), default=0)
