"""Checks a configuration against the form that asked for it, and prefills it from the form's defaults."""

from collections.abc import Iterator
from typing import Any

from parlour_sdk.protocol.form import FormItem

Problem = tuple[str, str]
"""A field's name and a sentence about it; values are never repeated, they may be secret."""

_PYTHON_TYPES: dict[str, tuple[type, ...]] = {
    "string": (str,),
    "text": (str,),
    "secret": (str,),
    "integer": (int,),
    "number": (int, float),
    "boolean": (bool,),
    "select": (str,),
    "multi-select": (list,),
    "prompt-editor": (str, list),
    "llm-model-selector": (str,),
    "model-fallback-selector": (dict,),
    "rerank-model-selector": (str,),
    "embedding-model-selector": (str,),
    "knowledge-base-multi-selector": (list,),
    "tool-multi-selector": (list,),
    "skill-multi-selector": (list,),
    "file": (dict,),
    "array[file]": (list,),
    "array[string]": (list,),
}


def prefilled(form: list[FormItem], config: dict[str, Any]) -> dict[str, Any]:
    defaults = {item.name: item.default for item in form if item.default is not None and not item.display}
    return {**defaults, **{name: value for name, value in config.items() if value is not None}}


MASKED = "********"


def masked(form: list[FormItem] | None, config: dict[str, Any]) -> dict[str, Any]:
    """A configuration as it may be written down. Without its form nobody knows what of it is secret."""
    secret = {item.name for item in form if item.type == "secret"} if form is not None else set(config)
    return {name: MASKED if name in secret and value else value for name, value in config.items()}


_SELECTS = {
    "llm-model-selector": "models",
    "model-fallback-selector": "models",
    "rerank-model-selector": "models",
    "embedding-model-selector": "models",
    "knowledge-base-multi-selector": "knowledge_bases",
    "tool-multi-selector": "tools",
    "skill-multi-selector": "skills",
    "file": "files",
    "array[file]": "files",
}


def selected(form: list[FormItem], config: dict[str, Any]) -> dict[str, frozenset[str]]:
    """The Host's resources that a configuration names through its selectors, by kind."""
    chosen: dict[str, set[str]] = {}
    for item in form:
        kind = _SELECTS.get(item.type)
        if kind is not None and not item.display and _shown(item, config):
            chosen.setdefault(kind, set()).update(_ids(config.get(item.name)))
    return {kind: frozenset(ids) for kind, ids in chosen.items()}


def _ids(value: Any) -> Iterator[str]:
    """Of an id, a list of ids, a primary with fallbacks, or a file."""
    match value:
        case str() if value:
            yield value
        case list():
            for each in value:
                yield from _ids(each)
        case {"file_key": str(key)}:
            yield key
        case {"primary": primary, **others}:
            yield from _ids(primary)
            yield from _ids(others.get("fallbacks"))


def problems(form: list[FormItem], config: dict[str, Any], whose: str = "runner") -> list[Problem]:
    items = {item.name: item for item in form if not item.display}
    unknown = [(name, f"unknown; this {whose} takes {_names(items)}") for name in config if name not in items]
    return unknown + [
        problem for item in items.values() if _shown(item, config) for problem in _check(item, config.get(item.name))
    ]


def _shown(item: FormItem, config: dict[str, Any]) -> bool:
    """An item that its form does not show is not asked for."""
    return all(config.get(name) == value for name, value in (item.show_if or {}).items())


def _names(items: dict[str, FormItem]) -> str:
    return ", ".join(items) if items else "no configuration"


def _check(item: FormItem, value: Any) -> list[Problem]:
    if value is None:
        return [(item.name, "required")] if item.required else []
    accepted = _PYTHON_TYPES.get(item.type)
    wrong = accepted is not None and not isinstance(value, accepted)
    if isinstance(value, bool) and item.type != "boolean" and item.type != "json":
        wrong = True
    if wrong:
        return [(item.name, f"must be of type {item.type}, not {type(value).__name__}")]
    if item.options is not None:
        allowed = [option.value for option in item.options]
        chosen = value if isinstance(value, list) else [value]
        if any(choice not in allowed for choice in chosen):
            return [(item.name, f"must be one of {', '.join(allowed)}")]
    if item.type in ("array[string]", "multi-select") and not all(isinstance(each, str) for each in value):
        return [(item.name, "must be a list of strings")]
    return []
