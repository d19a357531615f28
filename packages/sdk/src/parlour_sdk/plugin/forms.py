"""Checks the defaults of a form: their type, their options, and the tool ids that a selector names."""

from collections.abc import Iterable, Iterator
from typing import Any

from parlour_sdk.protocol.form import FormItem

from . import errors
from .errors import SourceLocation
from .manifest_files import ComponentDefinition

NATIVE_TOOLS = ("artifact.read", "calculator.evaluate", "time.now", "web.fetch")
"""Tools that every Host has."""
TOOL_SELECTOR = "tool-multi-selector"
_TYPES: dict[str, tuple[type, ...]] = {
    **dict.fromkeys(("string", "text", "secret", "select"), (str,)),
    **dict.fromkeys(("llm-model-selector", "rerank-model-selector", "embedding-model-selector"), (str,)),
    **dict.fromkeys(("multi-select", "array[string]", "array[file]"), (list,)),
    **dict.fromkeys(("knowledge-base-multi-selector", TOOL_SELECTOR, "skill-multi-selector"), (list,)),
    **dict.fromkeys(("model-fallback-selector", "file"), (dict,)),
    "integer": (int,),
    "number": (int, float),
    "boolean": (bool,),
    "prompt-editor": (str, list),
}


def value_problem(item: FormItem, value: Any) -> str:
    """Returns what an item accepts instead of this value; empty if the value fits."""
    accepted_types = _TYPES.get(item.type)
    has_wrong_type = accepted_types is not None and not isinstance(value, accepted_types)
    if has_wrong_type or (isinstance(value, bool) and item.type not in ("boolean", "json")):
        return f"must be of type {item.type}, not {type(value).__name__}"
    if isinstance(value, int | float) and (reason := _out_of_range(item, value)):
        return reason
    allowed = [option.value for option in item.options or []]
    selected = value if isinstance(value, list) else [value]
    if allowed and any(each not in allowed for each in selected):
        return f"must be one of {', '.join(allowed)}"
    return ""


def _out_of_range(item: FormItem, value: float) -> str:
    if item.minimum is not None and not value >= item.minimum:
        return f"must be at least {item.minimum:.15g}"
    if item.maximum is not None and not value <= item.maximum:
        return f"must be at most {item.maximum:.15g}"
    return ""


def unknown_tools(identity: str, own_names: Iterable[str], ids: Iterable[Any]) -> Iterator[str]:
    """Yields ids that no Host can have: a plugin's tool is `author/name.tool`, an MCP server's `server.tool`."""
    own_tools = {f"{identity}.{name}" for name in own_names}
    areas = {name.partition(".")[0] for name in NATIVE_TOOLS}
    for tool_id in ids:
        if not isinstance(tool_id, str) or tool_id in own_tools or tool_id in NATIVE_TOOLS:
            continue
        area, dot, _ = tool_id.partition(".")
        if not dot or area in areas or area == identity:
            yield tool_id


def tool_names(identity: str, own_names: Iterable[str]) -> list[str]:
    return [*(f"{identity}.{name}" for name in own_names), *NATIVE_TOOLS]


def default_warnings(identity: str, components: Iterable[ComponentDefinition]) -> list[str]:
    """Builds a warning for each default that would make an agent or a knowledge base invalid."""
    all_components = list(components)
    own_names = [each.name for each in all_components if each.manifest.kind == "Tool"]
    return [warning for each in all_components for warning in _warnings(identity, own_names, each)]


def own_default_warnings(form: Iterable[FormItem], location: SourceLocation) -> list[str]:
    """Builds a warning for each default of the plugin's own form that the form itself would refuse."""
    return [
        errors.invalid_default(location, item.name, reason)
        for item in form
        if item.default is not None and (reason := value_problem(item, item.default))
    ]


def _warnings(identity: str, own_names: list[str], component: ComponentDefinition) -> Iterator[str]:
    for field in component.manifest.spec.get("config_schema") or ():
        if field.get("default") is None:
            continue
        item = FormItem.model_validate(field)
        reason = value_problem(item, item.default)
        if reason:
            yield errors.invalid_default(component.location, item.name, reason)
        elif item.type == TOOL_SELECTOR:
            for tool_id in unknown_tools(identity, own_names, item.default):
                yield errors.unknown_tool(component.location, item.name, tool_id, tool_names(identity, own_names))
