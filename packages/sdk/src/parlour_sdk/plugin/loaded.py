"""A plugin whose code is imported: one instance of each component, ready to be served by `parlour_sdk.service`."""

from collections.abc import Mapping
from dataclasses import field
from typing import TYPE_CHECKING, Any

from parlour_sdk.protocol.manifest import PluginManifest

from ..values import dataclass

if TYPE_CHECKING:
    from parlour_sdk.components import AgentRunner, Command, EventListener, KnowledgeEngine, Parser, Plugin, Tool


@dataclass(frozen=True, slots=True)
class LoadedPlugin:
    """Components are held by name. Whoever has no files (a unit test) can make one by hand."""

    manifest: PluginManifest
    main: "Plugin | None" = None
    runners: "Mapping[str, AgentRunner]" = field(default_factory=dict)
    runner_manifests: Mapping[str, dict[str, Any]] = field(default_factory=dict)
    """As `list_agent_runners` tells them; the Host validates each on its own."""
    listeners: "Mapping[str, EventListener]" = field(default_factory=dict)
    tools: "Mapping[str, Tool]" = field(default_factory=dict)
    commands: "Mapping[str, Command]" = field(default_factory=dict)
    knowledge_engines: "Mapping[str, KnowledgeEngine]" = field(default_factory=dict)
    parsers: "Mapping[str, Parser]" = field(default_factory=dict)
    components: tuple[dict[str, Any], ...] = ()
    """As `list_components` tells them (`ComponentSummary`): kind, name, label, description, spec."""
    warnings: tuple[str, ...] = ()

    @property
    def identity(self) -> str:
        return self.manifest.identity

    @property
    def version(self) -> str:
        return self.manifest.metadata.version

    def spec(self, kind: str, name: str) -> dict[str, Any]:
        """What the component's file, or its decorator, says about it."""
        found = (each for each in self.components if (each["kind"], each["name"]) == (kind, name))
        return next((each.get("spec", {}) for each in found), {})
