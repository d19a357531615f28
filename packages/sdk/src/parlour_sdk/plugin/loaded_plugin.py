"""Defines LoadedPlugin: a plugin whose code is imported, ready to be served by `parlour_sdk.service`."""

from collections.abc import Mapping
from dataclasses import field
from pathlib import Path
from typing import TYPE_CHECKING, Any

from parlour_sdk.protocol.manifest import PluginManifest

from ..values import dataclass

if TYPE_CHECKING:
    from parlour_sdk.components import AgentRunner, Command, EventListener, KnowledgeEngine, Page, Parser, Plugin, Tool


@dataclass(frozen=True, slots=True)
class LoadedPlugin:
    """The instances of a plugin's components, by name. A unit test without plugin files can build one directly."""

    manifest: PluginManifest
    main: "Plugin | None" = None
    runners: "Mapping[str, AgentRunner]" = field(default_factory=dict)
    runner_manifests: Mapping[str, dict[str, Any]] = field(default_factory=dict)
    """Manifests in the form of `list_agent_runners`; the Host validates each separately."""
    listeners: "Mapping[str, EventListener]" = field(default_factory=dict)
    tools: "Mapping[str, Tool]" = field(default_factory=dict)
    commands: "Mapping[str, Command]" = field(default_factory=dict)
    knowledge_engines: "Mapping[str, KnowledgeEngine]" = field(default_factory=dict)
    parsers: "Mapping[str, Parser]" = field(default_factory=dict)
    pages: "Mapping[str, Page]" = field(default_factory=dict)
    """The code behind pages that have some."""
    page_files: Mapping[str, Path] = field(default_factory=dict)
    components: tuple[dict[str, Any], ...] = ()
    """Summaries in the form of `list_components` (`ComponentSummary`): kind, name, label, description, spec."""
    warnings: tuple[str, ...] = ()

    @property
    def identity(self) -> str:
        return self.manifest.identity

    @property
    def version(self) -> str:
        return self.manifest.metadata.version

    def spec(self, kind: str, name: str) -> dict[str, Any]:
        """Returns the `spec` from the component's file or its decorator; empty if there is no such component."""
        matches = (each for each in self.components if (each["kind"], each["name"]) == (kind, name))
        return next((each.get("spec", {}) for each in matches), {})
