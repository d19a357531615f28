"""Checks the parameters of a platform's own action against its manifest, in the subset of JSON Schema that manifests
use: types, required and known properties, choices, items.
"""

from collections.abc import Mapping
from typing import Any

from .manifest import AdapterManifest

_TYPES: dict[str, tuple[type, ...]] = {
    "object": (dict,),
    "array": (list,),
    "string": (str,),
    "integer": (int,),
    "number": (int, float),
    "boolean": (bool,),
    "null": (type(None),),
}


def find_problem(manifest: AdapterManifest, action: str, params: Mapping[str, Any]) -> str:
    """Returns a message about the first problem; empty if there is none."""
    definition = manifest.actions.get(action)
    if definition is None:
        return f"action: this platform has no '{action[:64]}'; it has {', '.join(manifest.actions) or 'none'}"
    return _problem(definition.parameters or {"additionalProperties": False}, dict(params), "params")


def _problem(schema: Mapping[str, Any], value: Any, path: str) -> str:
    if "type" in schema and not _is_one_of(value, schema["type"]):
        return f"{path}: must be of type {_joined_types(schema['type'])}"
    if "enum" in schema and value not in schema["enum"]:
        return f"{path}: must be one of {', '.join(str(each) for each in schema['enum'])}"
    if isinstance(value, dict):
        return _object_problem(schema, value, path)
    if isinstance(value, list) and "items" in schema:
        problems = (_problem(schema["items"], each, f"{path}.{number}") for number, each in enumerate(value))
        return next(filter(None, problems), "")
    return ""


def _object_problem(schema: Mapping[str, Any], value: dict[str, Any], path: str) -> str:
    properties = schema.get("properties", {})
    missing = next((name for name in schema.get("required", ()) if name not in value), None)
    if missing is not None:
        return f"{path}.{missing}: required"
    unknown = next((name for name in value if name not in properties), None)
    if unknown is not None and schema.get("additionalProperties") is False:
        return f"{path}.{unknown[:64]}: unknown; it takes {', '.join(properties) or 'nothing'}"
    problems = (
        _problem(properties[name], each, f"{path}.{name}") for name, each in value.items() if name in properties
    )
    return next(filter(None, problems), "")


def _is_one_of(value: Any, types: str | list[str]) -> bool:
    type_names = [types] if isinstance(types, str) else types
    if isinstance(value, bool):
        return "boolean" in type_names
    return any(isinstance(value, _TYPES[name]) for name in type_names)


def _joined_types(types: str | list[str]) -> str:
    return types if isinstance(types, str) else " or ".join(types)
