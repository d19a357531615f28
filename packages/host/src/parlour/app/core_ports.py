"""What the core is built from: the ports and settings that differ between a Host, a test and a simulation."""

from collections.abc import Mapping
from dataclasses import field

from parlour.core.actions.catalog import InstalledPlugins
from parlour.core.actions.gate import PluginGrants
from parlour.core.actions.processes import GrantedProcesses, NoProcesses
from parlour.core.cluster.ownership import Ownership, SoleOwner
from parlour.core.delivery.send_log import NullSendLog, SendLog
from parlour.core.jobs.jobs import LOCAL_OWNER
from parlour.core.journal import Journal
from parlour.core.message_policy.long_texts import NoTextPictures, TextPictures
from parlour.core.model.ports import Clock, Ids, PluginCaller, Surface
from parlour.core.model.providers import Providers
from parlour.core.pagination import Cursors
from parlour.core.platforms.connections import NullBots, PlatformBots
from parlour.core.plugin_hooks.components import ComponentRegistry
from parlour.core.redaction import Redactor
from parlour.core.runs.runner_registry import RunnerRegistry
from parlour.core.secrets import NullSecretBox, SecretBox
from parlour.core.store.artifact_service import ArtifactLimits, LinkFetcher, NullLinkFetcher
from parlour.core.store.objects import NullObjectStore, ObjectStore
from parlour.core.texts.catalogue import DEFAULT_LANGUAGE
from parlour.core.webhooks.client import NullWebhookSender, WebhookSender
from parlour_sdk.protocol.manifest import PluginPermissions
from parlour_sdk.values import dataclass


@dataclass(frozen=True, slots=True)
class CorePorts:
    """Everything that differs between a Host, a test and a simulation."""

    journal: Journal
    plugins: PluginCaller
    clock: Clock
    ids: Ids
    ownership: Ownership = field(default_factory=SoleOwner)
    job_owner: str = LOCAL_OWNER
    """Name under which this Host leases jobs."""
    components: ComponentRegistry = field(default_factory=ComponentRegistry)
    runners: RunnerRegistry = field(default_factory=RunnerRegistry)
    bots: PlatformBots = field(default_factory=NullBots)
    surfaces: Mapping[str, Surface] = field(default_factory=dict)
    send_log: SendLog = field(default_factory=NullSendLog)
    providers: Providers = field(default_factory=Providers)
    objects: ObjectStore = field(default_factory=NullObjectStore)
    fetcher: LinkFetcher = field(default_factory=NullLinkFetcher)
    sizes: ArtifactLimits = field(default_factory=ArtifactLimits)
    cursors: Cursors = field(default_factory=lambda: Cursors(""))
    plugin_grants: PluginGrants = lambda plugin_id: PluginPermissions()
    plugin_list: InstalledPlugins = tuple
    processes: GrantedProcesses = field(default_factory=NoProcesses)
    """Programs that are started for plugins."""
    pictures: TextPictures = field(default_factory=NoTextPictures)
    concurrent_runs: int = 256
    runs_per_person: int = 8
    runs_per_sender: int = 20
    """Runs that one sender may start per minute on a platform; 0 means no limit."""
    runs_per_group: int = 120
    """Runs that all senders of a group together may start per minute on a platform; 0 means no limit."""
    listener_seconds: float = 30
    hook_sender: WebhookSender = field(default_factory=NullWebhookSender)
    secrets: SecretBox = field(default_factory=NullSecretBox)
    redactor: Redactor = field(default_factory=Redactor)
    time_zone: str = "UTC"
    """Time zone of the workspace, in which its days begin and runs are given the time."""
    record_model_calls: bool = True
    language: str = DEFAULT_LANGUAGE
    """Language of the workspace, used for people whose own language is not known."""
