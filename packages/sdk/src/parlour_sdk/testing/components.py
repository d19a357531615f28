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
from parlour_sdk.decorators import KIND
from parlour_sdk.plugin import Component, LoadedPlugin, Plugin, load, read_plugin
from parlour_sdk.plugin.declarations import Declarations
from parlour_sdk.plugin.functions import function_component
from parlour_sdk.plugin.loading import unheard_events
from parlour_sdk.plugin.modules import place_of
from parlour_sdk.plugin.problems import Place
from parlour_sdk.plugin.reading import MANIFEST
from parlour_sdk.plugin.shapes import require_shape
from parlour_sdk.plugin.summaries import summary
from parlour_sdk.protocol.manifest import AgentRunnerManifest, PluginManifest, PluginMetadata, PluginSpec

from .grants import every_capability, everything, everything_outside

FIELDS = {
    "AgentRunner": "runners",
    "EventListener": "listeners",
    "Tool": "tools",
    "Command": "commands",
    "KnowledgeEngine": "knowledge_engines",
    "Parser": "parsers",
}


class PluginWarning(UserWarning):
    """A problem of a plugin that a Host writes into the plugin's log when it starts."""


def as_loaded(given: Any) -> LoadedPlugin:
    """Loads what a test passes; each warning of the plugin is issued as a PluginWarning, with the worker's log text."""
    loaded = _as_loaded(given)
    if not isinstance(given, LoadedPlugin):
        for sentence in loaded.warnings:
            warn(sentence, PluginWarning, stacklevel=3)
    return loaded


def _as_loaded(given: Any) -> LoadedPlugin:
    match given:
        case LoadedPlugin():
            return given
        case str() | Path():
            return load(read_plugin(Path(given)))
        case ModuleType():
            return load(read_plugin(Path(given.__file__ or "")))
    if inspect.isfunction(given):
        return _of_function(given)
    instance = given() if inspect.isclass(given) else given
    kind = next((kind for kind in FIELDS if isinstance(instance, getattr(bases, kind))), None)
    if kind is None:
        raise TypeError(
            f"{type(instance).__name__} is no component; give an instance of {', '.join(FIELDS)}, a decorated "
            "function, or the plugin's folder or file"
        )
    require_shape(kind, instance, place_of(type(instance), Place(Path(type(instance).__module__))))
    found = _described(type(instance))
    return _alone(kind, instance) if found is None else _described_alone(*found, instance)


def pick(available: Mapping[str, Any], name: str | None, kind: str) -> str:
    """Returns the name of the component to use: the given one, `default`, or the only one."""
    known = ", ".join(available) or "none"
    if name is not None and name not in available:
        raise LookupError(f"this plugin has no {kind} '{name}'; it has {known}")
    if name is None and len(available) != 1 and "default" not in available:
        raise LookupError(f"say which {kind} is meant; this plugin has {known}")
    return name or ("default" if "default" in available else next(iter(available)))


def reading(loaded: LoadedPlugin, file_name: str) -> LoadedPlugin:
    """Lets a parser without declared formats read the file that the test passes."""
    own = {"extensions": [PurePath(file_name).suffix.lower()]}
    components = (
        {**each, "spec": own} if each["kind"] == "Parser" and not each.get("spec") else each
        for each in loaded.components
    )
    return replace(loaded, components=tuple(components))


def _of_function(function: Any) -> LoadedPlugin:
    kind = "on" if subscriptions(function) else getattr(function, KIND, None)
    if kind is None:
        raise TypeError(f"{function.__name__} is no component; mark it with @runner, @tool, @command or @on")
    found = _described(function)
    if found is None:
        raise TypeError(f"{function.__name__} is not at the top of a file, and so its decorator can't be read")
    plugin, component = found
    return _described_alone(plugin, component, function_component(component, function))


def _described(thing: Any) -> tuple[Plugin, Component] | None:
    """Finds the plugin and the component that this class or function implements."""
    file = Path(inspect.getsourcefile(thing) or "").resolve()
    for folder in file.parents:
        if (folder / MANIFEST).is_file():
            return _component_of(read_plugin(folder), file, thing.__name__)
    if not inspect.isfunction(thing):
        return None
    declared = Declarations.of(file, file.name, [])
    manifest = _manifest() if declared.written.plugin is None else declared.manifest()
    return _component_of(Plugin(file.parent, manifest, tuple(declared.components()), file), file, thing.__name__)


def _component_of(plugin: Plugin, file: Path, attr: str) -> tuple[Plugin, Component] | None:
    for component in plugin.components:
        entry = component.manifest.execution.python
        if entry is not None and entry.attr == attr and (plugin.folder / entry.path).resolve() == file:
            return plugin, component
    return None


def _described_alone(plugin: Plugin, component: Component, instance: Any) -> LoadedPlugin:
    manifests = plugin.runner_manifests()
    own = {component.name: manifests[component.name]} if component.manifest.kind == "AgentRunner" else {}
    held: dict[str, Any] = {FIELDS[component.manifest.kind]: {component.name: instance}}
    odd = [*plugin.warnings, *unheard_events(plugin, held.get("listeners", {}))]
    told = (summary(component, instance),)
    return LoadedPlugin(plugin.manifest, runner_manifests=own, components=told, warnings=tuple(odd), **held)


def _alone(kind: str, instance: Any) -> LoadedPlugin:
    """Builds a plugin of one component without a manifest; its needs are unknown, so it gets all permissions."""
    words = re.sub(r"(?<=[a-z0-9])(?=[A-Z])", "_", type(instance).__name__)
    name = "default" if kind == "AgentRunner" else words.lower()
    held: dict[str, Any] = {FIELDS[kind]: {name: instance}}
    if kind == "AgentRunner":
        held["runner_manifests"] = {name: _runner_manifest(name)}
    return LoadedPlugin(_manifest(), components=({"kind": kind, "name": name, "spec": {}},), **held)


def _runner_manifest(name: str) -> dict[str, Any]:
    return AgentRunnerManifest(
        id=f"plugin:test/plugin/{name}",
        name=name,
        label={"en_US": name},
        capabilities=every_capability(),
        permissions=everything(),
    ).model_dump()


def _manifest() -> PluginManifest:
    return PluginManifest(
        apiVersion="parlour/v1",
        kind="Plugin",
        metadata=PluginMetadata(author="test", name="plugin", version="0"),
        spec=PluginSpec(permissions=everything_outside()),
    )
