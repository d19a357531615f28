"""Plugins and components as their files define them, before any code is imported."""

from pathlib import Path
from typing import Any

from parlour_sdk.protocol.base import Strict
from parlour_sdk.protocol.form import FormItem
from parlour_sdk.protocol.manifest import Capabilities, ComponentManifest, ContextPolicy, Permissions, PluginManifest

from ..values import dataclass
from .errors import SourceLocation


class RunnerSpec(Strict):
    """The `spec` of a runner's file: its manifest without the fields that are known from elsewhere."""

    capabilities: Capabilities = Capabilities()
    permissions: Permissions = Permissions()
    context: ContextPolicy = ContextPolicy()
    config_schema: list[FormItem] = []  # noqa: RUF012 - pydantic copies a field's default
    metadata: dict[str, Any] = {}  # noqa: RUF012


@dataclass(frozen=True, slots=True)
class ComponentDefinition:
    """A component of a component file, or one declared by a decorator: then `file` is the Python file."""

    file: Path
    manifest: ComponentManifest
    line: int | None = None
    declared: bool = False

    @property
    def name(self) -> str:
        return self.manifest.metadata.name

    @property
    def location(self) -> SourceLocation:
        return SourceLocation(self.file, self.line)


@dataclass(frozen=True, slots=True)
class PluginDefinition:
    folder: Path
    manifest: PluginManifest
    components: tuple[ComponentDefinition, ...]
    file: Path | None = None
    """The Python file of a single-file plugin."""
    requirements: tuple[str, ...] = ()
    """Requirements of a single-file plugin; a folder has a file for them."""
    warnings: tuple[str, ...] = ()

    def runner_manifests(self) -> dict[str, dict[str, Any]]:
        """Returns the manifests by runner name, as in `list_agent_runners`; the Host validates each separately."""
        return {
            component.name: {
                "id": f"plugin:{self.manifest.identity}/{component.name}",
                "name": component.name,
                "label": component.manifest.metadata.label or {"en_US": component.name},
                "description": component.manifest.metadata.description,
                **component.manifest.spec,
            }
            for component in self.components
            if component.manifest.kind == "AgentRunner"
        }
