"""Registry of the tools, listeners, commands, knowledge engines, parsers and pages that plugins offer. Runners have a
registry of their own.
"""

import logging
from collections.abc import Iterator
from typing import Any, Generic, TypeVar

from pydantic import BaseModel, Field, ValidationError

from parlour.core.model.ids import PluginId
from parlour_sdk.protocol.base import I18nText, Request
from parlour_sdk.protocol.component_specs import (
    CommandSpec,
    KnowledgeEngineSpec,
    ListenerSpec,
    PageSpec,
    ParserSpec,
    ToolSpec,
)
from parlour_sdk.protocol.components import ComponentSummary
from parlour_sdk.values import dataclass

logger = logging.getLogger(__name__)

Spec = TypeVar("Spec", bound=BaseModel, covariant=True)


class HandlerSubscription(Request):
    """The subscription of one handler of a listener: an event type, `namespace.*` or `*`."""

    event: str
    name: str = ""
    """The name by which the handler can be called alone; empty for older plugins that do not report it."""
    priority: int = 0
    observe: bool = False


class ListenerHandlersSpec(ListenerSpec):
    """The listener's declaration in its file, with the handlers that its code registers."""

    handlers: list[HandlerSubscription] = Field(default_factory=list)


@dataclass(frozen=True, slots=True)
class RegisteredComponent(Generic[Spec]):
    """A component of a plugin with its parsed declaration."""

    plugin_id: PluginId
    plugin_version: str
    kind: str
    name: str
    label: I18nText | None
    description: I18nText | None
    spec: Spec


_SPECS: dict[str, type[BaseModel]] = {
    "Tool": ToolSpec,
    "EventListener": ListenerHandlersSpec,
    "Command": CommandSpec,
    "KnowledgeEngine": KnowledgeEngineSpec,
    "Parser": ParserSpec,
    "Page": PageSpec,
}


class ComponentRegistry:
    """The components that each plugin's newest process has reported. Removing a plugin removes its components."""

    def __init__(self) -> None:
        self._by_plugin: dict[str, list[RegisteredComponent[Any]]] = {}
        self._restored: dict[str, list[RegisteredComponent[Any]]] = {}
        """Listeners of plugins that have not started yet, as they were reported last."""
        self._by_kind: dict[str, list[RegisteredComponent[Any]]] = {}
        """Cache by kind, because every event and every run reads it."""

    def has_reported(self, plugin_id: PluginId) -> bool:
        """Returns whether the plugin has reported its components since the Host started."""
        return plugin_id in self._by_plugin

    def tools(self) -> list[RegisteredComponent[ToolSpec]]:
        return self._all("Tool")

    def listeners(self) -> list[RegisteredComponent[ListenerHandlersSpec]]:
        return self._all("EventListener")

    def commands(self) -> list[RegisteredComponent[CommandSpec]]:
        return self._all("Command")

    def knowledge_engines(self) -> list[RegisteredComponent[KnowledgeEngineSpec]]:
        return self._all("KnowledgeEngine")

    def parsers(self) -> list[RegisteredComponent[ParserSpec]]:
        return self._all("Parser")

    def pages(self) -> list[RegisteredComponent[PageSpec]]:
        return self._all("Page")

    def replace_plugin(self, plugin_id: PluginId, version: str, components: list[Any]) -> list[str]:
        """Stores the response to `list_components`. Returns a warning per component that was skipped."""
        self._by_plugin[plugin_id], warnings = _read_all(plugin_id, version, components)
        self._by_kind = {}
        for warning in warnings:
            logger.warning("%s", warning)
        return warnings

    def remove_plugin(self, plugin_id: PluginId) -> None:
        self._by_plugin.pop(plugin_id, None)
        self._restored.pop(plugin_id, None)
        self._by_kind = {}

    def listener_snapshot(self, plugin_id: PluginId) -> list[dict[str, Any]]:
        """Returns the listeners of a plugin, in the form that `restore_listeners` reads after the next start."""
        listeners = (each for each in self.listeners() if each.plugin_id == plugin_id)
        return [
            {"kind": each.kind, "name": each.name, "spec": each.spec.model_dump(mode="json", exclude_defaults=True)}
            for each in listeners
        ]

    def restore_listeners(self, plugin_id: PluginId, version: str, components: list[Any]) -> None:
        """Restores the last known listeners of a plugin, so that events are queued for them until the plugin reports
        again.
        """
        restored, _ = _read_all(plugin_id, version, components)
        self._restored[plugin_id] = [each for each in restored if each.kind == "EventListener"]
        self._by_kind = {}

    def _all(self, kind: str) -> list[RegisteredComponent[Any]]:
        """Returns components sorted independently of the order in which plugins started."""
        components = self._by_kind.get(kind)
        if components is None:
            components = sorted(self._iterate(kind), key=_sort_key)
            self._by_kind[kind] = components
        return components

    def _iterate(self, kind: str) -> Iterator[RegisteredComponent[Any]]:
        for components in (self._restored | self._by_plugin).values():
            yield from (each for each in components if each.kind == kind)


def _sort_key(component: RegisteredComponent[Any]) -> tuple[str, str]:
    """Returns the sort key. Listeners of a plugin keep their declared order, in which they receive events of equal
    priority.
    """
    return component.plugin_id, "" if component.kind == "EventListener" else component.name


def _read_all(plugin_id: PluginId, version: str, items: list[Any]) -> tuple[list[RegisteredComponent[Any]], list[str]]:
    """Parses components; returns them with a warning for each one that was skipped."""
    components: dict[tuple[str, str], RegisteredComponent[Any]] = {}
    warnings: list[str] = []
    for item in items:
        try:
            component = _read(plugin_id, version, item)
        except ValueError as error:
            warnings.append(f"a component of plugin {plugin_id} is skipped: {_error_text(error)}")
            continue
        if component is not None and (component.kind, component.name) in components:
            warnings.append(f"plugin {plugin_id} has a second {component.kind} '{component.name}', which is skipped")
        elif component is not None:
            components[component.kind, component.name] = component
    return list(components.values()), warnings


def _read(plugin_id: PluginId, version: str, item: Any) -> RegisteredComponent[Any] | None:
    """Parses a component. Returns None for a kind that is handled elsewhere or unknown."""
    summary = ComponentSummary.model_validate(item)
    if summary.kind not in _SPECS:
        return None
    if not summary.name:
        raise ValueError(f"a {summary.kind} has no name")
    spec = _SPECS[summary.kind].model_validate(summary.spec)
    return RegisteredComponent(plugin_id, version, summary.kind, summary.name, summary.label, summary.description, spec)


def _error_text(error: ValueError) -> str:
    if not isinstance(error, ValidationError):
        return str(error)
    first = error.errors(include_url=False, include_input=False)[0]
    return f"{'.'.join(str(part) for part in first['loc']) or 'it'}: {first['msg']}"
