"""Opens the infrastructure of a Host in order and builds the Host; leaving the context closes it in reverse order."""

from collections.abc import AsyncIterator, Iterator, Sequence
from contextlib import AbstractAsyncContextManager, AsyncExitStack, asynccontextmanager, closing, contextmanager
from functools import partial

from parlour.core.actions.served_gate import ServedGate
from parlour.core.config.bots import PlatformCursors
from parlour.core.config.live_settings import Tuning
from parlour.core.journal import Insert, Journal, Select, Unit, where
from parlour.core.model.plugin_manager import Offer, PluginProblem
from parlour.core.model.ports import Ids
from parlour.core.model.providers import Providers
from parlour.core.observability.live_feed import Board
from parlour.core.observability.metrics import Measurements
from parlour.core.observability.observed_journal import ObservedJournal, Observer
from parlour.core.observability.statistics import Statistics
from parlour.core.observability.usage import UsageMeter
from parlour.core.pagination import Cursors
from parlour.core.plugin_hooks.components import Components
from parlour.core.plugin_hooks.replies import Replies
from parlour.core.redaction import REDACTOR, KnowingBox
from parlour.core.runs.runner_registry import Registry
from parlour.core.store.artifact_service import Sizes
from parlour.core.store.objects import ObjectStore
from parlour.core.store.redacted_journal import RedactedJournal
from parlour.core.store.storage import Storage
from parlour.core.store.tables import META, OUTBOX, RUNS
from parlour.core.system import SystemClock, SystemIds
from parlour.platforms._host.bots import Bots
from parlour.platforms._host.link import Doors
from parlour.platforms._host.status_file import BotStatusFile
from parlour.platforms.catalogue import Catalogue
from parlour.plugin_runtime.supervision.listener_cache import ListenerFile
from parlour.providers.http.link_client import LinkClient
from parlour.providers.http.webhook_client import HookClient
from parlour.providers.tools.registry import ToolRegistry
from parlour.stores.factory import opened
from parlour.stores.objects.factory import opened as opened_objects
from parlour.stores.objects.signature import Account
from parlour.stores.send_log_file import HandoverFile
from parlour.version import VERSION
from parlour_sdk.protocol.manifest import PluginPermissions

from .background import going_on
from .core import Ports, build_core
from .data_directory import DataDirectory
from .host import WRITE_SECONDS, Additions, Host, within
from .models import open_model_side
from .plugins import Plugins, open_plugin_side
from .runtime_settings import configured
from .secret_key import KeyFile
from .settings import ArtifactSettings, Settings, TelemetrySettings
from .tools import open_tool_side


@asynccontextmanager
async def open_host(settings: Settings, additions: Additions) -> AsyncIterator[Host]:
    """Opens a Host on its data directory. `Host.start` then starts plugins and bots and recovers unfinished work."""
    directory = DataDirectory(settings.data)
    clock, ids = SystemClock(), SystemIds()
    async with AsyncExitStack() as stack:
        stack.enter_context(directory.lock())
        key_file = KeyFile(directory.secret_key)
        key_file.check()
        additions.settle_in(settings)
        url = settings.database.url.get_secret_value()
        opened_journal = await stack.enter_async_context(opened(url, directory.database, alone=True))
        measurements, usage, board = Measurements(), UsageMeter(), Board(clock)
        redacted = RedactedJournal(opened_journal, REDACTOR)
        watching = stack.enter_context(_traced(settings.telemetry))
        journal = ObservedJournal(redacted, (measurements.look, usage.look, board.look, *watching))
        registries: list[Registry] = []
        components, listeners = Components(), ListenerFile(directory.plugin_listeners)
        side = await open_plugin_side(
            settings,
            directory,
            clock,
            VERSION,
            partial(_discovered, registries, components, listeners),
            partial(_removed, registries, components, listeners),
            Storage(journal, clock).forget,
        )
        if not settings.runtime.url:  # the plugins of a standalone runtime are known only when it is connected
            _recall(side.plugins, components, listeners)
        secrets = KnowingBox(key_file, REDACTOR)
        tools = ToolRegistry(settings.tools.call_seconds)
        catalogue = Catalogue()
        bots = Bots(catalogue, secrets, clock, BotStatusFile(directory.bot_status).write)
        models = await stack.enter_async_context(open_model_side(settings.models, journal, secrets, clock))
        handovers = stack.enter_context(closing(HandoverFile(directory.handovers, journal, ids)))
        ports = additions.wrap(
            Ports(
                journal=journal,
                plugins=side.runtime,
                components=components,
                cursors=Cursors(await _database_id(journal, ids)),
                clock=clock,
                ids=ids,
                bots=bots,
                handovers=handovers,
                providers=Providers(platforms=bots, tools=tools, models=models.models),
                objects=await stack.enter_async_context(_objects(settings.artifacts, directory)),
                sizes=Sizes(settings.artifacts.artifact_bytes, settings.artifacts.quota_bytes),
                plugin_grants=partial(_granted, side.plugins),
                plugin_list=side.plugins.all,
                concurrent_runs=settings.runs.concurrent,
                runs_per_person=settings.runs.per_person,
                runs_per_sender=settings.runs.per_sender_per_minute,
                runs_per_group=settings.runs.per_conversation_per_minute,
                listener_seconds=settings.plugins.listener_seconds,
                hook_sender=HookClient(settings.tools.allowed_addresses),
                fetcher=LinkClient(
                    settings.tools.allowed_addresses, settings.artifacts.link_bytes, settings.tools.fetch_seconds
                ),
                secrets=secrets,
                time_zone=settings.workspace.time_zone,
                record_model_calls=settings.model_calls.record,
                language=settings.workspace.language,
            )
        )
        core = build_core(ports)
        registries.append(core.registry)
        side.runtime.serve(ServedGate(core.gate))
        cursors = PlatformCursors(ports.journal, clock)
        doors = Doors(core.gateway, cursors, core.artifacts, core.names, settings.http.public_address)
        bots.serve(core.bots, Replies(ports.journal), doors)
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
        stack.push_async_callback(lambda: within(WRITE_SECONDS if host.wrote else 0, core.audit_log.close()))
        stack.push_async_callback(lambda: within(WRITE_SECONDS if host.wrote else 0, core.model_calls.close()))
        stack.push_async_callback(side.runtime.close)
        stack.push_async_callback(bots.close)
        await stack.enter_async_context(going_on(host))
        await stack.enter_async_context(additions.attach(host))
        yield host


def _granted(plugins: Plugins, plugin_id: str) -> PluginPermissions:
    """Returns the permissions of a plugin as they are stored now, so that a revoked one is refused immediately."""
    try:
        facts = plugins.get(plugin_id)
    except PluginProblem:
        facts = None  # the runtime is not connected, so none of its plugins can call either
    return PluginPermissions.model_validate(facts.granted) if facts is not None else PluginPermissions()


def _discovered(
    registries: list[Registry],
    components: Components,
    listeners: ListenerFile,
    plugin_id: str,
    version: str,
    offer: Offer,
) -> None:
    registries[0].replace_plugin(plugin_id, version, offer.runners)
    components.replace_plugin(plugin_id, version, offer.components)
    listeners.keep(plugin_id, components.listening(plugin_id))


def _recall(plugins: Plugins, components: Components, listeners: ListenerFile) -> None:
    for plugin in plugins.all():
        if plugin.enabled:
            components.recall(plugin.plugin_id, plugin.version, listeners.of(plugin.plugin_id))


def _removed(registries: list[Registry], components: Components, listeners: ListenerFile, plugin_id: str) -> None:
    registries[0].remove_plugin(plugin_id)
    components.remove_plugin(plugin_id)
    listeners.keep(plugin_id, [])


@contextmanager
def _traced(telemetry: TelemetrySettings) -> Iterator[Sequence[Observer]]:
    """Opens the export of traces and yields its observer; yields none if the settings name no address for traces."""
    if not telemetry.endpoint:
        yield ()
        return
    from parlour.providers import tracing

    with tracing.opened(telemetry.traces_url, telemetry.sent_headers, VERSION) as traces:
        yield (traces.look,)


def _objects(artifacts: ArtifactSettings, directory: DataDirectory) -> AbstractAsyncContextManager[ObjectStore]:
    folder = artifacts.folder or directory.folder("artifacts")
    s3 = artifacts.s3
    if artifacts.store == "folder" or s3 is None:
        return opened_objects(folder, None)
    secret = s3.secret_key.get_secret_value()
    return opened_objects(folder, Account(s3.endpoint, s3.bucket, s3.access_key, secret, s3.region, s3.prefix))


async def _database_id(journal: Journal, ids: Ids) -> str:
    """Returns the id of the database, which is created once. Cursors are bound to it."""
    insert = Insert(META, {"name": "database_id", "value": ids.new()}, conflict="ignore")
    await journal.commit(Unit("database.name", (insert,)))
    rows = await journal.read(Select(META, where(name="database_id")))
    return str(rows[0]["value"])


async def _last_feed_seq(journal: Journal) -> int:
    """Returns the highest feed number in use. The newest rows of outbox and runs are enough to find it."""
    latest = Select(OUTBOX, (), ("feed_seq",), order=("seq",), direction="descending", limit=100)
    own = where(rerun_of="")
    ended = Select(RUNS, own, ("feed_seq",), order=("run_id",), direction="descending", limit=100)
    rows = [*await journal.read(latest), *await journal.read(ended)]
    return max((int(row["feed_seq"]) for row in rows), default=0)
