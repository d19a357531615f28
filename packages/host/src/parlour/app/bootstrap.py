"""Opens the infrastructure of a Host in order and builds the Host; leaving the context closes it in reverse order."""

import asyncio
from collections.abc import AsyncIterator, Iterator, Mapping, Sequence
from contextlib import AbstractAsyncContextManager, AsyncExitStack, asynccontextmanager, closing, contextmanager
from functools import partial
from typing import TYPE_CHECKING

from parlour.core.actions.served_gate import WireGate
from parlour.core.config.bots import PlatformCursors
from parlour.core.config.change_watcher import Reload
from parlour.core.config.live_settings import LiveSettings
from parlour.core.journal import Insert, Journal, Select, Unit, where
from parlour.core.model.ids import PluginId
from parlour.core.model.plugin_manager import PluginError, PluginManifestReport
from parlour.core.model.ports import Ids
from parlour.core.model.providers import Providers
from parlour.core.observability.live_feed import LiveFeed
from parlour.core.observability.metrics import Metrics
from parlour.core.observability.observed_journal import ObservedJournal, Observer
from parlour.core.observability.statistics import Statistics
from parlour.core.observability.usage import UsageTotals
from parlour.core.pagination import Cursors
from parlour.core.plugin_hooks.components import ComponentRegistry
from parlour.core.plugin_hooks.replies import PluginReplies
from parlour.core.redaction import RedactingSecretBox, Redactor
from parlour.core.runs.runner_registry import RunnerRegistry
from parlour.core.store.artifact_service import ArtifactLimits
from parlour.core.store.objects import ObjectStore
from parlour.core.store.redacted_journal import RedactedJournal
from parlour.core.store.storage import Storage
from parlour.core.store.tables import META, OUTBOX, RUNS
from parlour.core.system import SystemClock, SystemIds
from parlour.platforms._host.bots import Bots
from parlour.platforms._host.link import CoreAccess
from parlour.platforms._host.status_file import BotStatusFile
from parlour.platforms.catalogue import BuiltinAdapterCatalogue
from parlour.plugin_runtime.programs.deletion import ProgramFolderDeletion
from parlour.plugin_runtime.supervision.listener_cache import ListenerCache
from parlour.providers.http.link_client import LinkClient
from parlour.providers.http.webhook_client import AiohttpWebhookClient
from parlour.providers.tools.registry import ToolRegistry
from parlour.stores.factory import open_journal
from parlour.stores.objects.factory import open_object_store as opened_objects
from parlour.stores.objects.signature import S3Account
from parlour.stores.send_log_file import SendLogFile
from parlour.version import VERSION
from parlour_sdk.protocol.manifest import PluginPermissions
from parlour_sdk.protocol.rules.process_permissions import from_lists

from .artifact_settings import ArtifactSettings
from .background import run_background_services
from .box import open_box
from .config_changes import config_reloads
from .core import build_core
from .core_ports import CorePorts
from .data_directory import DataDirectory
from .documents import MessageDocuments, open_documents
from .host import FINAL_WRITE_SECONDS, Host, HostExtensions, finish_within
from .knowledge import KnowledgeSubsystem
from .models import open_models
from .plugins import RefreshablePluginManager, open_plugins
from .release_record import record_release
from .runtime_settings import defaults_from_config
from .secret_key import FileSecretBox
from .secret_rotation import SETTLE_SECONDS, SecretRotation
from .settings import HostSettings, TelemetrySettings
from .skills import SkillSubsystem
from .text_pictures import LazyTextPictures
from .tools import open_tools

if TYPE_CHECKING:
    from .cluster.membership import Membership


@asynccontextmanager
async def open_host(settings: HostSettings, additions: HostExtensions, redactor: Redactor) -> AsyncIterator[Host]:
    """Opens a Host on its data directory. `Host.start` then starts plugins and bots and recovers unfinished work."""
    directory = DataDirectory(settings.data)
    clock, ids = SystemClock(), SystemIds()
    async with AsyncExitStack() as stack:
        stack.enter_context(directory.lock())
        record_release(directory, VERSION)
        key_file = FileSecretBox(directory.secret_key)
        key_file.check()
        additions.on_locked(settings)
        membership = await stack.enter_async_context(_membership(settings, ids))
        opened_journal = await stack.enter_async_context(_journal(settings, directory, key_file, membership))
        measurements, usage, board = Metrics(), UsageTotals(), LiveFeed(clock)
        redacted = RedactedJournal(opened_journal, redactor)
        watching = stack.enter_context(_tracing_observers(settings.telemetry))
        journal = ObservedJournal(redacted, (measurements.on_commit, usage.on_commit, board.on_commit, *watching))
        runners, components = RunnerRegistry(), ComponentRegistry()
        listeners = ListenerCache(directory.plugin_listeners)
        side = await open_plugins(
            settings,
            directory,
            clock,
            VERSION,
            redactor,
            partial(_on_plugin_discovered, runners, components, listeners),
            partial(_on_plugin_removed, runners, components, listeners),
            Storage(journal, clock).delete_plugin_data,
        )
        if not settings.runtime.url:  # the plugins of a standalone runtime are known only when it is connected
            _restore_listeners(side.plugins, components, listeners)
        secrets = RedactingSecretBox(key_file, redactor)
        tools = ToolRegistry(settings.tools.call_seconds)
        catalogue = BuiltinAdapterCatalogue(settings.platforms.external)
        bots = Bots(
            catalogue,
            secrets,
            clock,
            BotStatusFile(directory.bot_status).write,
            membership.ownership if membership else None,
            measurements.count,
        )
        models = await stack.enter_async_context(open_models(settings.models, journal, secrets, clock))
        knowledge, skills = KnowledgeSubsystem(models.models, components, settings, measurements), SkillSubsystem()
        send_log = stack.enter_context(closing(SendLogFile(directory.send_log, journal, ids)))
        ports = additions.wrap_ports(
            CorePorts(
                journal=journal,
                plugins=side.runtime,
                components=components,
                runners=runners,
                cursors=Cursors(await _database_id(journal, ids)),
                clock=clock,
                ids=ids,
                bots=bots,
                send_log=send_log,
                providers=Providers(
                    platforms=bots,
                    tools=tools,
                    models=models.models,
                    knowledge=knowledge,
                    skills=skills,
                    documents=MessageDocuments(partial(open_documents, settings, directory.folder)),
                ),
                objects=await stack.enter_async_context(_objects(settings.artifacts, directory)),
                sizes=ArtifactLimits(settings.artifacts.artifact_bytes, settings.artifacts.quota_bytes),
                plugin_grants=partial(_plugin_permissions, side.plugins),
                plugin_list=side.plugins.all,
                processes=side.programs,
                pictures=LazyTextPictures(),
                concurrent_runs=settings.runs.concurrent,
                runs_per_person=settings.runs.per_person,
                runs_per_sender=settings.runs.per_sender_per_minute,
                runs_per_group=settings.runs.per_conversation_per_minute,
                listener_seconds=settings.plugins.listener_seconds,
                hook_sender=AiohttpWebhookClient(settings.tools.allowed_addresses),
                fetcher=LinkClient(
                    settings.tools.allowed_addresses, settings.artifacts.link_bytes, settings.tools.fetch_seconds
                ),
                secrets=secrets,
                redactor=redactor,
                time_zone=settings.workspace.time_zone,
                record_model_calls=settings.model_calls.record,
                language=settings.workspace.language,
            )
        )
        if membership is not None:
            from .cluster.assembly import open_cluster, shared_ports

            ports = shared_ports(ports, membership)
        core = build_core(ports)
        side.runtime.serve(WireGate(core.gate))
        cursors = PlatformCursors(ports.journal, ports.ownership, clock)
        doors = CoreAccess(
            core.gateway,
            cursors,
            core.artifacts,
            core.names,
            core.held_replies,
            core.directory,
            clock,
            settings.http.public_address,
        )
        bots.serve(core.bots, PluginReplies(ports.journal, core.reply_policy), doors)
        core.feed.start_after(await _last_feed_seq(ports.journal))
        await core.load()
        await knowledge.open(ports, core, directory.folder)
        tuning = LiveSettings(ports.journal, defaults_from_config(settings))
        await tuning.load()
        box = await stack.enter_async_context(open_box(settings, directory, core, ports, skills, measurements))
        program_folders = ProgramFolderDeletion(side.programs, core.jobs)
        core.jobs.register(program_folders)
        open_tool_services = await stack.enter_async_context(open_tools(settings, tools, core, ports, secrets, box))
        reloads = config_reloads(
            core, models.repository, open_tool_services.mcp_repository, skills.parts.repository, tuning
        )
        host = Host(
            settings=settings,
            journal=ports.journal,
            core=core,
            runtime=side.runtime,
            plugins=side.plugins,
            programs=side.programs,
            program_folders=program_folders,
            catalogue=catalogue,
            bots=bots,
            tools=open_tool_services,
            box=box,
            models=models,
            knowledge=knowledge,
            secrets=secrets,
            secret_rotation=SecretRotation(
                opened_journal, clock, key_file, partial(_reload_all, reloads), partial(asyncio.sleep, SETTLE_SECONDS)
            ),
            redactor=redactor,
            notice=side.notice,
            unavailable_reason=side.unavailable_reason,
            cursors=ports.cursors,
            ids=ids,
            clock=clock,
            metrics=measurements,
            live_feed=board,
            statistics=Statistics(redacted, (measurements, usage), clock),
            live_settings=tuning,
            waiting_for=["plugins", "owed work"],
        )
        stack.push_async_callback(
            lambda: finish_within(FINAL_WRITE_SECONDS if host.final_writes_done else 0, core.audit_log.close())
        )
        stack.push_async_callback(
            lambda: finish_within(FINAL_WRITE_SECONDS if host.final_writes_done else 0, core.model_calls.close())
        )
        stack.push_async_callback(knowledge.close)
        stack.push_async_callback(side.close_programs)
        stack.push_async_callback(side.runtime.close)
        stack.push_async_callback(bots.close)
        if membership is not None:
            await stack.enter_async_context(open_cluster(host, membership, reloads))
        await stack.enter_async_context(run_background_services(host))
        await stack.enter_async_context(additions.run_with(host))
        yield host


@asynccontextmanager
async def _membership(settings: HostSettings, ids: Ids) -> "AsyncIterator[Membership | None]":
    """Joins the cluster if the settings say so; yields None for a Host that has its database to itself."""
    if not settings.cluster.enabled:
        yield None
        return
    from .cluster.membership import join_cluster

    async with join_cluster(settings, ids) as membership:
        yield membership


@asynccontextmanager
async def _journal(
    settings: HostSettings, directory: DataDirectory, key_file: FileSecretBox, membership: "Membership | None"
) -> AsyncIterator[Journal]:
    url = settings.database.url.get_secret_value()
    member = membership.member if membership else None
    async with open_journal(url, directory.database, exclusive=True, member=member) as journal:
        if membership is None:
            yield journal
            return
        from .cluster.assembly import shared_journal
        from .cluster.requirements import require_same_key

        await require_same_key(journal, key_file)
        yield shared_journal(journal)


def _plugin_permissions(plugins: RefreshablePluginManager, plugin_id: PluginId) -> PluginPermissions:
    """Returns the permissions of a plugin as they are stored now, so that a revoked one is refused immediately."""
    try:
        facts = plugins.get(plugin_id)
    except PluginError:
        facts = None  # the runtime is not connected, so none of its plugins can call either
    return from_lists(facts.granted) if facts is not None else PluginPermissions()


def _on_plugin_discovered(
    runners: RunnerRegistry,
    components: ComponentRegistry,
    listeners: ListenerCache,
    plugin_id: PluginId,
    version: str,
    offer: PluginManifestReport,
) -> None:
    runners.replace_plugin(plugin_id, version, offer.runners)
    components.replace_plugin(plugin_id, version, offer.components)
    listeners.store(plugin_id, components.listener_snapshot(plugin_id))


def _restore_listeners(
    plugins: RefreshablePluginManager, components: ComponentRegistry, listeners: ListenerCache
) -> None:
    for plugin in plugins.all():
        if plugin.enabled:
            components.restore_listeners(plugin.plugin_id, plugin.version, listeners.get(plugin.plugin_id))


def _on_plugin_removed(
    runners: RunnerRegistry, components: ComponentRegistry, listeners: ListenerCache, plugin_id: PluginId
) -> None:
    runners.remove_plugin(plugin_id)
    components.remove_plugin(plugin_id)
    listeners.store(plugin_id, [])


@contextmanager
def _tracing_observers(telemetry: TelemetrySettings) -> Iterator[Sequence[Observer]]:
    """Opens the export of traces and yields its observer; yields none if the settings name no address for traces."""
    if not telemetry.endpoint:
        yield ()
        return
    from parlour.providers import tracing

    with tracing.export_traces(telemetry.traces_url, telemetry.sent_headers, VERSION) as traces:
        yield (traces.on_commit,)


def _objects(artifacts: ArtifactSettings, directory: DataDirectory) -> AbstractAsyncContextManager[ObjectStore]:
    folder = artifacts.folder or directory.folder("artifacts")
    s3 = artifacts.s3
    if artifacts.store == "folder" or s3 is None:
        return opened_objects(folder, None)
    secret = s3.secret_key.get_secret_value()
    return opened_objects(folder, S3Account(s3.endpoint, s3.bucket, s3.access_key, secret, s3.region, s3.prefix))


async def _reload_all(reloads: Mapping[str, Reload]) -> None:
    for reload in reloads.values():
        await reload()


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
