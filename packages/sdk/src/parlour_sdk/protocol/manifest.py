"""What a runner and a plugin say about themselves before anything runs."""

from typing import Any, Literal

from pydantic import Field

from .base import Count, I18nText, Listed, Request, Strict, Tolerant
from .form import FormItem
from .processes import ProcessPermission


class Capabilities(Strict):
    """What a runner can do. Drives the interface and what is projected to it; grants nothing."""

    streaming: bool = False
    """Emits deltas."""
    tool_calling: bool = False
    """Only then are tools projected."""
    knowledge_retrieval: bool = False
    """Only then are knowledge bases."""
    multimodal_input: bool = False
    """Otherwise parts that are no text arrive as references with a note."""
    skills: bool = False
    """Only then are skills projected."""
    skill_authoring: bool = False
    """The authoring tools too."""
    platform_actions: bool = False
    """Asks for actions on the platform."""
    interrupt: bool = False
    """Reacts to being cancelled."""
    steering: bool = False
    """Takes up messages that come while it runs."""
    connection_test: bool = False
    """Can check a configuration before an agent uses it."""
    reports_usage: bool = False
    """Reports the tokens that it uses outside the Host. Budgets count them and, when used up, refuse its runs."""


class Permissions(Strict):
    """The most a runner may ever be granted."""

    models: list[Literal["invoke", "stream", "rerank", "embed"]] = []
    tools: list[Literal["detail", "call"]] = []
    knowledge_bases: list[Literal["list", "retrieve"]] = []
    skills: list[Literal["list", "activate", "author"]] = []
    history: list[Literal["page", "search"]] = []
    events: list[Literal["get", "page"]] = []
    artifacts: list[Literal["metadata", "read", "create"]] = []
    storage: list[Literal["plugin", "workspace", "binding"]] = []
    files: list[Literal["config", "knowledge"]] = []
    platform_actions: list[str] = []
    """Names or patterns: `message.*`."""
    agent_runs: list[Literal["read", "create", "control", "admin"]] = []
    runtimes: list[Literal["read", "admin"]] = []


class ContextPolicy(Request):
    """Whether a runner wants history inlined; the Host has its own cap (50 items, 64 KiB)."""

    ownership: Literal["self_managed", "host_bootstrap", "hybrid"] = "self_managed"
    bootstrap: Literal["none", "current_event", "recent_tail"] = "none"
    max_inline_events: Count = 0
    max_inline_bytes: Count = 0


class AgentRunnerManifest(Strict):
    """What a runner says about itself."""

    id: str
    """`plugin:author/name/runner`; checked against what the Host computes."""
    name: str
    """`default` by convention."""
    label: I18nText
    description: I18nText | None = None
    capabilities: Capabilities = Field(default_factory=Capabilities)
    permissions: Permissions = Field(default_factory=Permissions)
    context: ContextPolicy = Field(default_factory=ContextPolicy)
    config_schema: list[FormItem] = []
    """The form of a binding's configuration."""
    metadata: dict[str, Any] = {}
    """Display and diagnosis only."""


class AgentRunnerDiscovery(Tolerant):
    """One runner of a plugin, as `list_agent_runners` tells it."""

    plugin_author: str
    plugin_name: str
    runner_name: str
    manifest: dict[str, Any]
    """Validated one by one by the Host, so that a bad manifest spoils no other."""


class PluginMetadata(Tolerant):
    """Who a plugin is: its identity is `author/name`."""

    author: str
    name: str
    version: str
    label: I18nText | None = None
    description: I18nText | None = None
    icon: str | None = None


class PluginLimits(Request):
    """What one process of the plugin may use."""

    max_runs: int = Field(default=1000, ge=1, le=100_000)
    """Runs at the same time."""
    memory_mb: int = Field(default=256, ge=32, le=1024 * 1024)


PlatformPermission = Literal[
    "message.send",
    "message.manage",
    "message.read",
    "group.read",
    "group.manage",
    "member.moderate",
    "user.read",
    "requests.answer",
    "media",
    "platform.call",
]


class PluginPermissions(Strict):
    """What a plugin's components may use outside a run. Granted by the operator."""

    platform_api: list[PlatformPermission] = []
    events: list[str] = []
    """Patterns of the event types it listens to."""
    models: list[Literal["invoke", "stream", "rerank", "embed"]] = []
    tools: list[Literal["detail", "call"]] = []
    knowledge_bases: list[Literal["list", "retrieve"]] = []
    storage: list[Literal["plugin", "workspace", "binding"]] = []
    agent_runs: list[Literal["read", "create", "control", "admin"]] = []
    runtimes: list[Literal["read", "admin"]] = []
    network: list[str] = []
    """Host names."""
    processes: list[ProcessPermission] = []
    """Programs that the Host starts for it, outside its sandbox."""


class PluginRequirements(Tolerant):
    """What must be there before a plugin is installed."""

    parlour: str = ""
    """The oldest release of the Host that has all that the plugin uses: `>=0.1`. `parlour plugin build` fills it in."""


class PluginSpec(Tolerant):
    """What is in a plugin and what it needs."""

    components: list[str] = []
    """Component files inside the plugin's folder."""
    permissions: PluginPermissions = Field(default_factory=PluginPermissions)
    limits: PluginLimits = Field(default_factory=PluginLimits)
    requires: PluginRequirements = Field(default_factory=PluginRequirements)
    config_schema: Listed[FormItem] = []
    """The form of the plugin's own configuration, which `get_plugin_config` returns."""


class PythonEntry(Tolerant):
    """A class in a file."""

    path: str
    attr: str | None = None
    """The class; a file whose components are made by decorators needs none."""


class Execution(Tolerant):
    """How code is found and what it is installed with."""

    python: PythonEntry | None = None
    requirements: str | None = None


class PluginManifest(Tolerant):
    """A plugin's `manifest.yaml`."""

    apiVersion: Literal["parlour/v1"]  # noqa: N815 - the file's own spelling
    kind: Literal["Plugin"]
    metadata: PluginMetadata
    spec: PluginSpec = Field(default_factory=PluginSpec)
    execution: Execution = Field(default_factory=Execution)

    @property
    def identity(self) -> str:
        return f"{self.metadata.author}/{self.metadata.name}"


class ComponentMetadata(Tolerant):
    """Who a component is within its plugin."""

    name: str
    label: I18nText | None = None
    description: I18nText | None = None


ComponentKind = Literal["AgentRunner", "EventListener", "Tool", "Command", "KnowledgeEngine", "Parser", "Page"]


class ComponentManifest(Tolerant):
    """A component's file."""

    apiVersion: Literal["parlour/v1"]  # noqa: N815 - the file's own spelling
    kind: ComponentKind
    metadata: ComponentMetadata
    spec: dict[str, Any] = {}
    """By kind; see `component_specs`, and AgentRunnerManifest for a runner."""
    execution: Execution
