"""Imports a plugin's code and creates one instance of each of its components."""

import inspect
import sys
from collections import defaultdict
from types import ModuleType
from typing import Any

from parlour_sdk import components as bases
from parlour_sdk.components import AgentRunner

from . import problems
from .files import Component, Plugin
from .loaded import LoadedPlugin
from .modules import module_of, place_of
from .problems import Place
from .shapes import require_shape
from .summaries import summary


def load(plugin: Plugin) -> LoadedPlugin:
    """Loads a plugin. Raises PluginInvalid with file, line and remedy, like `read_plugin`."""
    _find_own_modules_first(str(plugin.folder))
    main = _main(plugin)
    made: defaultdict[str, dict[str, Any]] = defaultdict(dict)
    for component in plugin.components:
        if component.manifest.kind != "Page":
            made[component.manifest.kind][component.name] = _instance(plugin, component)
    return LoadedPlugin(
        manifest=plugin.manifest,
        main=main,
        runners=made["AgentRunner"],
        runner_manifests=plugin.runner_manifests(),
        listeners=made["EventListener"],
        tools=made["Tool"],
        commands=made["Command"],
        knowledge_engines=made["KnowledgeEngine"],
        parsers=made["Parser"],
        components=tuple(summary(each, made[each.manifest.kind].get(each.name)) for each in plugin.components),
        warnings=(*plugin.warnings, *unheard_events(plugin, made["EventListener"])),
    )


def unheard_events(plugin: Plugin, listeners: dict[str, Any]) -> list[str]:
    """Builds a warning for each handler whose event is not among the plugin's permissions."""
    if not listeners:
        return []
    from .event_names import unheard

    asked = plugin.manifest.spec.permissions.events
    return [each for name, made in listeners.items() for each in unheard(name, made, asked, plugin.folder)]


def load_runners(plugin: Plugin) -> dict[str, AgentRunner]:
    return dict(load(plugin).runners)


def _find_own_modules_first(folder: str) -> None:
    if folder in sys.path:
        sys.path.remove(folder)
    sys.path.insert(0, folder)


def _main(plugin: Plugin) -> Any:
    """Returns the instance of the main class if the manifest names one; its file is imported in any case."""
    entry = plugin.manifest.execution.python
    if entry is None:
        return None
    from .functions import refuse_hidden

    module = module_of(plugin.folder, entry.path)
    refuse_hidden(module, [each for each in plugin.components if each.declared])
    if entry.attr is None:
        return None
    place = Place(plugin.folder / "manifest.yaml")
    made = getattr(module, entry.attr, None)
    if not (inspect.isclass(made) and issubclass(made, bases.Plugin)):
        raise problems.no_main_class(place, entry.path, entry.attr)
    return _made(made, place)


def _instance(plugin: Plugin, component: Component) -> Any:
    entry = component.manifest.execution.python
    assert entry is not None
    assert entry.attr is not None
    module = module_of(plugin.folder, entry.path)
    if component.declared:
        from .functions import function_component

        return function_component(component, getattr(module, entry.attr, None))
    made = _class(module, component, entry.attr, entry.path)
    instance = _made(made, component.place)
    require_shape(component.manifest.kind, instance, place_of(made, component.place))
    return instance


def _class(module: ModuleType, component: Component, attr: str, path: str) -> type[Any]:
    kind = component.manifest.kind
    base = getattr(bases, kind)
    made = getattr(module, attr, None)
    if inspect.isclass(made) and issubclass(made, base):
        return made
    others = [name for name, each in vars(module).items() if inspect.isclass(each) and issubclass(each, base)]
    found = place_of(made, component.place) if inspect.isclass(made) else None
    raise problems.no_class(component.place, path, attr, kind, found, others)


def _made(made: type[Any], place: Place) -> Any:
    try:
        return made()
    except Exception as error:
        raise problems.cannot_make(place_of(made, place), made.__name__, error) from error
