"""What a runner and a plugin say about themselves before anything runs."""

from typing import Any, Literal

from .base import I18nText, Strict, Tolerant
from .form import FormItem


class Capabilities(Strict):
    """What a runner can do. Drives the interface and what is projected to it; grants nothing."""

    streaming: bool = False
    tool_calling: bool = False
    knowledge_retrieval: bool = False
    multimodal_input: bool = False
    skills: bool = False
    skill_authoring: bool = False
    platform_actions: bool = False
    interrupt: bool = False
    steering: bool = False


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
    agent_runs: list[Literal["read", "create", "control", "admin"]] = []
    runtimes: list[Literal["read", "admin"]] = []


class ContextPolicy(Strict):
    ownership: Literal["self_managed", "host_bootstrap", "hybrid"] = "self_managed"
    bootstrap: Literal["none", "current_event", "recent_tail"] = "none"
    max_inline_events: int = 0
    max_inline_bytes: int = 0


class AgentRunnerManifest(Strict):
    id: str
    name: str
    label: I18nText
    description: I18nText | None = None
    capabilities: Capabilities = Capabilities()
    permissions: Permissions = Permissions()
    context: ContextPolicy = ContextPolicy()
    config_schema: list[FormItem] = []
    metadata: dict[str, Any] = {}


class AgentRunnerDiscovery(Tolerant):
    plugin_author: str
    plugin_name: str
    runner_name: str
    manifest: dict[str, Any]
    """Validated one by one by the Host, so that a bad manifest spoils no other."""


class PluginMetadata(Tolerant):
    author: str
    name: str
    version: str
    label: I18nText | None = None
    description: I18nText | None = None
    icon: str | None = None


class PluginLimits(Strict):
    max_runs: int = 1000
    memory_mb: int = 256


class PluginPermissions(Strict):
    """What a plugin's components may use outside a run. Granted by the operator."""

    platform_api: list[str] = []
    events: list[str] = []
    models: list[Literal["invoke", "stream", "rerank", "embed"]] = []
    tools: list[Literal["detail", "call"]] = []
    knowledge_bases: list[Literal["list", "retrieve"]] = []
    storage: list[Literal["plugin", "workspace", "binding"]] = []
    agent_runs: list[Literal["read", "create", "control", "admin"]] = []
    runtimes: list[Literal["read", "admin"]] = []
    network: list[str] = []


class PluginSpec(Tolerant):
    components: list[str] = []
    permissions: PluginPermissions = PluginPermissions()
    limits: PluginLimits = PluginLimits()


class PythonEntry(Tolerant):
    path: str
    attr: str


class Execution(Tolerant):
    python: PythonEntry | None = None
    requirements: str | None = None


class PluginManifest(Tolerant):
    apiVersion: Literal["parlour/v1"]  # noqa: N815 - the file's own spelling
    kind: Literal["Plugin"]
    metadata: PluginMetadata
    spec: PluginSpec = PluginSpec()
    execution: Execution = Execution()

    @property
    def identity(self) -> str:
        return f"{self.metadata.author}/{self.metadata.name}"


class ComponentMetadata(Tolerant):
    name: str
    label: I18nText | None = None
    description: I18nText | None = None


class ComponentManifest(Tolerant):
    apiVersion: Literal["parlour/v1"]  # noqa: N815 - the file's own spelling
    kind: Literal["AgentRunner", "EventListener", "Tool", "Command", "KnowledgeEngine", "Parser", "Page"]
    metadata: ComponentMetadata
    spec: dict[str, Any] = {}
    execution: Execution
