"""Builds the summaries of `list_components`: the content of a component's file, and what only its code knows."""

from typing import Any

from .manifest_files import ComponentDefinition


def summarize(component: ComponentDefinition, instance: Any) -> dict[str, Any]:
    """Builds a ComponentSummary. Runners have only kind and name; `list_agent_runners` describes them in full."""
    head = {"kind": component.manifest.kind, "name": component.name}
    if component.manifest.kind == "AgentRunner":
        return head
    metadata = component.manifest.metadata.model_dump(include={"label", "description"}, exclude_none=True)
    return {**head, **metadata, "spec": {**component.manifest.spec, **_known_by_code(component, instance)}}


def _known_by_code(component: ComponentDefinition, instance: Any) -> dict[str, Any]:
    match component.manifest.kind:
        case "Tool" if component.declared:
            return {"parameters": instance.parameters}
        case "EventListener":
            return {"handlers": _handlers(component, instance)}
        case _:
            return {}


def _handlers(component: ComponentDefinition, instance: Any) -> list[dict[str, Any]]:
    from parlour_sdk.components.event_listener import iter_handlers

    spec = component.manifest.spec
    handlers = iter_handlers(instance, component.name, spec.get("priority", 0), spec.get("observe", False))
    return [
        {"name": each.name, "event": each.pattern, "priority": each.priority, "observe": each.observe}
        for each in handlers
    ]
