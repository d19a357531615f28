"""Imports a plugin's code and creates one instance of each of its components."""

import inspect
import sys
from collections import defaultdict
from pathlib import Path
from types import ModuleType
from typing import Any

from parlour_sdk import components as bases
from parlour_sdk.components import AgentRunner

from . import errors
from .errors import SourceLocation
from .loaded_plugin import LoadedPlugin
from .manifest_files import ComponentDefinition, PluginDefinition
from .modules import import_file, locate
from .signature_checks import require_signatures
from .summaries import summarize


def load(plugin: PluginDefinition) -> LoadedPlugin:
    """Loads a plugin. Raises PluginInvalid with file, line and remedy, like `read_plugin`."""
    _find_own_modules_first(str(plugin.folder))
    main = _main(plugin)
    instances: defaultdict[str, dict[str, Any]] = defaultdict(dict)
    for component in plugin.components:
        if component.manifest.execution.python is not None:
            instances[component.manifest.kind][component.name] = _instance(plugin, component)
    return LoadedPlugin(
        manifest=plugin.manifest,
        main=main,
        runners=instances["AgentRunner"],
        runner_manifests=plugin.runner_manifests(),
        listeners=instances["EventListener"],
        tools=instances["Tool"],
        commands=instances["Command"],
        knowledge_engines=instances["KnowledgeEngine"],
        parsers=instances["Parser"],
        pages=instances["Page"],
        page_files=_page_files(plugin),
        components=tuple(summarize(each, instances[each.manifest.kind].get(each.name)) for each in plugin.components),
        warnings=(*plugin.warnings, *unsubscribed_handler_warnings(plugin, instances["EventListener"])),
    )


def _page_files(plugin: PluginDefinition) -> dict[str, Path]:
    pages = (each for each in plugin.components if each.manifest.kind == "Page")
    return {each.name: plugin.folder / each.manifest.spec["path"] for each in pages}


def unsubscribed_handler_warnings(plugin: PluginDefinition, listeners: dict[str, Any]) -> list[str]:
    """Builds a warning for each handler whose event is not among the plugin's permissions."""
    if not listeners:
        return []
    from .event_checks import handler_warnings

    requested = plugin.manifest.spec.permissions.events
    return [
        each
        for name, listener in listeners.items()
        for each in handler_warnings(name, listener, requested, plugin.folder)
    ]


def load_runners(plugin: PluginDefinition) -> dict[str, AgentRunner]:
    return dict(load(plugin).runners)


def _find_own_modules_first(folder: str) -> None:
    if folder in sys.path:
        sys.path.remove(folder)
    sys.path.insert(0, folder)


def _main(plugin: PluginDefinition) -> Any:
    """Returns the instance of the main class if the manifest names one; its file is imported in any case."""
    entry = plugin.manifest.execution.python
    if entry is None:
        return None
    from .functions import reject_hidden_decorators

    module = import_file(plugin.folder, entry.path)
    reject_hidden_decorators(module, [each for each in plugin.components if each.declared])
    if entry.attr is None:
        return None
    location = SourceLocation(plugin.folder / "manifest.yaml")
    main_class = getattr(module, entry.attr, None)
    if not (inspect.isclass(main_class) and issubclass(main_class, bases.Plugin)):
        raise errors.no_main_class(location, entry.path, entry.attr)
    return _construct(main_class, location)


def _instance(plugin: PluginDefinition, component: ComponentDefinition) -> Any:
    entry = component.manifest.execution.python
    assert entry is not None
    assert entry.attr is not None
    module = import_file(plugin.folder, entry.path)
    if component.declared:
        from .functions import build_function_component

        return build_function_component(component, getattr(module, entry.attr, None))
    component_class = _class(module, component, entry.attr, entry.path)
    instance = _construct(component_class, component.location)
    require_signatures(component.manifest.kind, instance, locate(component_class, component.location))
    return instance


def _class(module: ModuleType, component: ComponentDefinition, attr: str, path: str) -> type[Any]:
    kind = component.manifest.kind
    base = getattr(bases, kind)
    candidate = getattr(module, attr, None)
    if inspect.isclass(candidate) and issubclass(candidate, base):
        return candidate
    other_classes = [name for name, each in vars(module).items() if inspect.isclass(each) and issubclass(each, base)]
    actual_location = locate(candidate, component.location) if inspect.isclass(candidate) else None
    raise errors.no_class(component.location, path, attr, kind, actual_location, other_classes)


def _construct(component_class: type[Any], location: SourceLocation) -> Any:
    try:
        return component_class()
    except Exception as error:
        raise errors.construction_failed(locate(component_class, location), component_class.__name__, error) from error
