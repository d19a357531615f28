"""Builds a loaded plugin from what a test passes: an instance, a class, a decorated function, a folder or a file.

If the component's manifest can be found from its code it is used, so that a test has the real permissions.
"""

import inspect
import re
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path, PurePath
from types import ModuleType
from typing import Any
from warnings import warn

from parlour_sdk import components as bases
from parlour_sdk.components.event_listener import subscriptions
from parlour_sdk.decorators import KIND_ATTRIBUTE
from parlour_sdk.plugin import ComponentDefinition, LoadedPlugin, PluginDefinition, load, read_plugin
from parlour_sdk.plugin.declarations import Declarations
from parlour_sdk.plugin.errors import SourceLocation
from parlour_sdk.plugin.functions import build_function_component
from parlour_sdk.plugin.loader import unsubscribed_handler_warnings
from parlour_sdk.plugin.modules import locate
from parlour_sdk.plugin.reader import MANIFEST_FILE
from parlour_sdk.plugin.signature_checks import require_signatures
from parlour_sdk.plugin.summaries import summarize
from parlour_sdk.protocol.manifest import AgentRunnerManifest, PluginManifest, PluginMetadata, PluginSpec

from .grants import all_capabilities, all_permissions, all_plugin_permissions

FIELD_BY_KIND = {
    "AgentRunner": "runners",
    "EventListener": "listeners",
    "Tool": "tools",
    "Command": "commands",
    "KnowledgeEngine": "knowledge_engines",
    "Parser": "parsers",
    "Page": "pages",
}


class PluginWarning(UserWarning):
    """A problem of a plugin that a Host writes into the plugin's log when it starts."""


def load_component(given: Any) -> LoadedPlugin:
    """Loads what a test passes; each warning of the plugin is issued as a PluginWarning, with the worker's log text."""
    plugin = _load_component(given)
    if not isinstance(given, LoadedPlugin):
        for sentence in plugin.warnings:
            warn(sentence, PluginWarning, stacklevel=3)
    return plugin


def _load_component(given: Any) -> LoadedPlugin:
    match given:
        case LoadedPlugin():
            return given
        case str() | Path():
            return load(read_plugin(Path(given)))
        case ModuleType():
            return load(read_plugin(Path(given.__file__ or "")))
    if inspect.isfunction(given):
        return _load_function(given)
    instance = given() if inspect.isclass(given) else given
    kind = next((kind for kind in FIELD_BY_KIND if isinstance(instance, getattr(bases, kind))), None)
    if kind is None:
        raise TypeError(
            f"{type(instance).__name__} is no component; give an instance of {', '.join(FIELD_BY_KIND)}, a decorated "
            "function, or the plugin's folder or file"
        )
    require_signatures(kind, instance, locate(type(instance), SourceLocation(Path(type(instance).__module__))))
    definition = _find_definition(type(instance))
    return (
        _plugin_without_manifest(kind, instance)
        if definition is None
        else _plugin_from_definition(*definition, instance)
    )


def pick(available: Mapping[str, Any], name: str | None, kind: str) -> str:
    """Returns the name of the component to use: the given one, `default`, or the only one."""
    names = ", ".join(available) or "none"
    if name is not None and name not in available:
        raise LookupError(f"this plugin has no {kind} '{name}'; it has {names}")
    if name is None and len(available) != 1 and "default" not in available:
        raise LookupError(f"say which {kind} is meant; this plugin has {names}")
    return name or ("default" if "default" in available else next(iter(available)))


def accept_file_format(loaded: LoadedPlugin, file_name: str) -> LoadedPlugin:
    """Lets a parser without declared formats read the file that the test passes."""
    filters = {"extensions": [PurePath(file_name).suffix.lower()]}
    components = (
        {**each, "spec": filters} if each["kind"] == "Parser" and not each.get("spec") else each
        for each in loaded.components
    )
    return replace(loaded, components=tuple(components))


def _load_function(function: Any) -> LoadedPlugin:
    kind = "on" if subscriptions(function) else getattr(function, KIND_ATTRIBUTE, None)
    if kind is None:
        raise TypeError(f"{function.__name__} is no component; mark it with @runner, @tool, @command or @on")
    definition = _find_definition(function)
    if definition is None:
        raise TypeError(f"{function.__name__} is not at the top of a file, and so its decorator can't be read")
    plugin, component = definition
    return _plugin_from_definition(plugin, component, build_function_component(component, function))


def _find_definition(target: Any) -> tuple[PluginDefinition, ComponentDefinition] | None:
    """Finds the plugin and the component that this class or function implements."""
    file = Path(inspect.getsourcefile(target) or "").resolve()
    for folder in file.parents:
        if (folder / MANIFEST_FILE).is_file():
            return _find_component(read_plugin(folder), file, target.__name__)
    if not inspect.isfunction(target):
        return None
    declared = Declarations.from_file(file, file.name, [])
    manifest = _manifest() if declared.scanned.plugin is None else declared.manifest()
    return _find_component(
        PluginDefinition(file.parent, manifest, tuple(declared.components()), file), file, target.__name__
    )


def _find_component(
    plugin: PluginDefinition, file: Path, attr: str
) -> tuple[PluginDefinition, ComponentDefinition] | None:
    for component in plugin.components:
        entry = component.manifest.execution.python
        if entry is not None and entry.attr == attr and (plugin.folder / entry.path).resolve() == file:
            return plugin, component
    return None


def _plugin_from_definition(plugin: PluginDefinition, component: ComponentDefinition, instance: Any) -> LoadedPlugin:
    manifests = plugin.runner_manifests()
    runner_manifests = {component.name: manifests[component.name]} if component.manifest.kind == "AgentRunner" else {}
    instances: dict[str, Any] = {FIELD_BY_KIND[component.manifest.kind]: {component.name: instance}}
    warnings = [*plugin.warnings, *unsubscribed_handler_warnings(plugin, instances.get("listeners", {}))]
    summaries = (summarize(component, instance),)
    return LoadedPlugin(
        plugin.manifest, runner_manifests=runner_manifests, components=summaries, warnings=tuple(warnings), **instances
    )


def _plugin_without_manifest(kind: str, instance: Any) -> LoadedPlugin:
    """Builds a plugin of one component without a manifest; its needs are unknown, so it gets all permissions."""
    name_with_breaks = re.sub(r"(?<=[a-z0-9])(?=[A-Z])", "_", type(instance).__name__)
    name = "default" if kind == "AgentRunner" else name_with_breaks.lower()
    instances: dict[str, Any] = {FIELD_BY_KIND[kind]: {name: instance}}
    if kind == "AgentRunner":
        instances["runner_manifests"] = {name: _runner_manifest(name)}
    return LoadedPlugin(_manifest(), components=({"kind": kind, "name": name, "spec": {}},), **instances)


def _runner_manifest(name: str) -> dict[str, Any]:
    return AgentRunnerManifest(
        id=f"plugin:test/plugin/{name}",
        name=name,
        label={"en_US": name},
        capabilities=all_capabilities(),
        permissions=all_permissions(),
    ).model_dump()


def _manifest() -> PluginManifest:
    return PluginManifest(
        apiVersion="parlour/v1",
        kind="Plugin",
        metadata=PluginMetadata(author="test", name="plugin", version="0"),
        spec=PluginSpec(permissions=all_plugin_permissions()),
    )
