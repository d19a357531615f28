"""Validates a configuration against its form, and fills in the form's defaults."""

import math
from collections.abc import Iterator
from typing import Any

from parlour.core.json_kinds import kind_name
from parlour_sdk.protocol.form import FormItem

FieldProblem = tuple[str, str]
"""Name of a field and a message about it; the message never repeats the value, which may be secret."""

_TEXT, _LIST, _MODEL = ((str,), "a text"), ((list,), "a list"), ((str,), "the id of a model")
_ACCEPTED_TYPES: dict[str, tuple[tuple[type, ...], str]] = {
    "string": _TEXT,
    "text": _TEXT,
    "secret": _TEXT,
    "integer": ((int,), "a whole number"),
    "number": ((int, float), "a number"),
    "boolean": ((bool,), "true or false"),
    "select": _TEXT,
    "multi-select": _LIST,
    "prompt-editor": ((str, list), "a text, or a list of messages"),
    "llm-model-selector": _MODEL,
    "model-fallback-selector": ((dict,), "an object with ids of models: primary, and a list of fallbacks"),
    "rerank-model-selector": _MODEL,
    "embedding-model-selector": _MODEL,
    "knowledge-base-multi-selector": _LIST,
    "tool-multi-selector": _LIST,
    "skill-multi-selector": _LIST,
    "file": ((dict,), "an object with the file_key of a file"),
    "array[file]": ((list,), "a list of objects, each with the file_key of a file"),
    "array[string]": ((list,), "a list of texts"),
}
"""Accepted Python types of each type of item, and their description for messages."""


def with_defaults(form: list[FormItem], config: dict[str, Any]) -> dict[str, Any]:
    """Returns the configuration with the form's defaults for missing values."""
    defaults = {item.name: item.default for item in form if item.default is not None and not item.display}
    return {**defaults, **{name: value for name, value in config.items() if value is not None}}


SECRET_MASK = "********"


def mask_form_secrets(form: list[FormItem] | None, config: dict[str, Any]) -> dict[str, Any]:
    """Returns a configuration with its secrets masked; without a form every value is treated as secret."""
    secret = {item.name for item in form if item.type == "secret"} if form is not None else set(config)
    return {name: SECRET_MASK if name in secret and value else value for name, value in config.items()}


_SELECTOR_KINDS = {
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


def selected_resources(form: list[FormItem], config: dict[str, Any]) -> dict[str, frozenset[str]]:
    """Returns the ids of resources that a configuration selects, by kind of resource."""
    selected: dict[str, set[str]] = {}
    for item in form:
        kind = _SELECTOR_KINDS.get(item.type)
        if kind is not None and not item.display and is_visible(item, config):
            selected.setdefault(kind, set()).update(_ids(config.get(item.name)))
    return {kind: frozenset(ids) for kind, ids in selected.items()}


def _ids(value: Any) -> Iterator[str]:
    """Yields the ids in an id, a list of ids, a primary with fallbacks, or a file."""
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


def validate(form: list[FormItem], config: dict[str, Any], owner: str = "runner") -> list[FieldProblem]:
    """Returns all problems of a configuration: unknown fields, missing fields and invalid values."""
    items = {item.name: item for item in form if not item.display}
    unknown = [(name, f"unknown; this {owner} takes {_names(items)}") for name in config if name not in items]
    return unknown + [
        problem
        for item in items.values()
        if is_visible(item, config)
        for problem in _check(item, config.get(item.name))
    ]


def is_visible(item: FormItem, config: dict[str, Any]) -> bool:
    """Returns whether the form shows the item (`show_if`); hidden items are not validated."""
    pairs = ((config.get(name), expected) for name, expected in (item.show_if or {}).items())
    return all(bool(value) if expected is True else value == expected for value, expected in pairs)


def _names(items: dict[str, FormItem]) -> str:
    return ", ".join(items) if items else "no configuration"


def _check(item: FormItem, value: Any) -> list[FieldProblem]:
    if value is None:
        return [(item.name, "required")] if item.required else []
    accepted_types, description = _ACCEPTED_TYPES.get(item.type, ((object,), "something else"))
    if not _has_accepted_type(value, accepted_types, item.type in ("boolean", "json")):
        return [(item.name, f"must be {description}, not {kind_name(value)}")]
    if isinstance(value, int | float) and (description := _out_of_range(item, value)):
        return [(item.name, description)]
    if item.options is not None:
        allowed_values = [option.value for option in item.options]
        values = value if isinstance(value, list) else [value]
        if any(selected not in allowed_values for selected in values):
            return [(item.name, f"must be one of {', '.join(allowed_values)}")]
    if item.type in ("array[string]", "multi-select") and not all(isinstance(each, str) for each in value):
        return [(item.name, "must be a list of texts")]
    return []


def _out_of_range(item: FormItem, value: float) -> str:
    """Returns a message with the accepted range of a number; empty if the number is in it."""
    low, high = item.minimum, item.maximum
    if isinstance(value, float) and not math.isfinite(value):
        return "must be a finite number"
    if (low is None or value >= low) and (high is None or value <= high):
        return ""
    if low is not None and high is not None:
        return f"must be from {low:.15g} to {high:.15g}"
    return f"must be at least {low:.15g}" if low is not None else f"must be at most {high:.15g}"


def _has_accepted_type(value: Any, accepted_types: tuple[type, ...], allow_booleans: bool) -> bool:
    """Returns whether a value has an accepted type. Python counts true as a number; here it is not one."""
    return isinstance(value, accepted_types) and (allow_booleans or not isinstance(value, bool))
