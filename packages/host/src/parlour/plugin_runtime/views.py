"""Builds the description of a plugin that operators see, from its record, its manifest and its process."""

from typing import Any

from parlour.core.model.ids import PluginId
from parlour.core.model.plugin_manager import PluginInfo
from parlour_sdk.plugin import PluginDefinition

from . import permissions
from .packages.sources import Package
from .process.sandbox import SandboxState
from .records import PluginRecord
from .store import UnusablePlugin


def facts(
    plugin_id: PluginId,
    record: PluginRecord,
    plugin: PluginDefinition | None,
    status: str,
    reason: str,
    sandbox: SandboxState,
) -> PluginInfo:
    """Describes an installed plugin."""
    current = record.current
    requested = permissions.requested_permissions(plugin.manifest) if plugin else {}
    return PluginInfo(
        plugin_id=plugin_id,
        version=current.version,
        status=status if record.enabled else "disabled",
        reason=reason or _pending_text(record),
        label=plugin.manifest.metadata.label if plugin else None,
        description=plugin.manifest.metadata.description if plugin else None,
        asked=requested,
        granted=permissions.intersect(current.granted, requested),
        enabled=record.enabled,
        source=current.source,
        sha256=current.sha256,
        installed_at=current.installed_at,
        components=_components(plugin),
        warnings=_warnings(plugin),
        config_schema=tuple(plugin.manifest.spec.config_schema) if plugin else (),
        programs=_programs(plugin),
        sandbox=sandbox.kind,
        sandbox_reason=sandbox.reason,
        sandbox_remedy=sandbox.remedy,
        sandbox_missing=sandbox.missing,
        sandbox_command=sandbox.command,
    )


def unusable_facts(plugin_id: PluginId, unusable: UnusablePlugin, sandbox: SandboxState) -> PluginInfo:
    """Describes a plugin that can't run until it is installed again."""
    return PluginInfo(
        plugin_id=plugin_id,
        version=unusable.version,
        status="failed",
        reason=unusable.reason,
        label=None,
        description=None,
        asked={},
        granted={},
        enabled=True,
        source=unusable.source,
        sha256=unusable.sha256,
        installed_at=0,
        components=(),
        sandbox=sandbox.kind,
        sandbox_reason=sandbox.reason,
        sandbox_remedy=sandbox.remedy,
        sandbox_missing=sandbox.missing,
        sandbox_command=sandbox.command,
    )


def building_facts(package: Package, sandbox: SandboxState) -> PluginInfo:
    """Describes a plugin that is not installed yet because its environment is being built."""
    manifest = package.plugin.manifest
    return PluginInfo(
        plugin_id=package.plugin_id,
        version=package.version,
        status="building",
        reason="its environment is being built",
        label=manifest.metadata.label,
        description=manifest.metadata.description,
        asked=permissions.requested_permissions(manifest),
        granted={},
        enabled=True,
        source=package.source,
        sha256=package.sha256,
        installed_at=0,
        components=_components(package.plugin),
        warnings=package.warnings,
        sandbox=sandbox.kind,
        sandbox_reason=sandbox.reason,
        sandbox_remedy=sandbox.remedy,
        sandbox_missing=sandbox.missing,
        sandbox_command=sandbox.command,
    )


def current_version_text(version: str, status: str) -> str:
    """Describes the version that stays in place because its replacement failed."""
    return f"{version} goes on" if status == "ready" else f"{version} stays, which is {status or 'stopped'} itself"


def _pending_text(record: PluginRecord) -> str:
    """Describes a pending removal, a candidate, or the version that was rejected; empty if there is none."""
    if record.removing:
        return "it is about to be removed" + (", and its data deleted" if record.removing == "delete" else "")
    if record.candidate is not None:
        state_text = (
            "is about to take its place" if record.enabled else "takes its place once it is enabled and has started"
        )
        return f"version {record.candidate.version} {state_text}"
    if record.refused is not None:
        return f"version {record.refused}"
    return ""


def _warnings(plugin: PluginDefinition | None) -> tuple[str, ...]:
    return tuple(warning.replace(f"{plugin.folder}/", "") for warning in plugin.warnings) if plugin else ()


def _programs(plugin: PluginDefinition | None) -> tuple[dict[str, Any], ...]:
    declared = plugin.manifest.spec.permissions.processes if plugin else ()
    return tuple(each.model_dump(mode="json") for each in declared)


def _components(plugin: PluginDefinition | None) -> tuple[dict[str, str], ...]:
    components = plugin.components if plugin else ()
    return tuple({"kind": each.manifest.kind, "name": each.manifest.metadata.name} for each in components)
