"""Describes JSON Schema as text for tables."""

import json
from typing import Any

from parlour_sdk.protocol.limits import LARGEST_INTEGER

_PLAIN = {"string": "text", "integer": "integer", "number": "number", "boolean": "flag", "null": "null"}
_KIB, _MIB = 1024, 1024 * 1024


def link(entity: str) -> str:
    return f"[{entity}](#{entity.lower()})"


def type_of(schema: dict[str, Any]) -> str:
    match schema:
        case {"$ref": ref}:
            return link(ref.rpartition("/")[2])
        case {"anyOf": alternatives} | {"oneOf": alternatives}:
            return " or ".join(type_of(each) for each in alternatives)
        case {"enum": choices}:
            return ", ".join(f"`{choice}`" for choice in choices)
        case {"const": constant}:
            return f"`{constant}`"
        case {"type": "array", "items": items}:
            return f"list of {type_of(items)}{_bounds(schema, 'minItems', 'maxItems', ' items')}"
        case {"type": "object", "additionalProperties": dict(values)}:
            return f"map of {type_of(values)}"
        case {"type": "object"}:
            return "JSON object"
        case {"type": "string", "pattern": pattern}:
            return f"text like `{pattern}`"
        case {"type": "string"}:
            return f"text{_bounds(schema, 'minLength', 'maxLength', ' characters')}"
        case {"type": type_name}:
            return f"{_PLAIN[type_name]}{_bounds(schema, 'minimum', 'maximum', '')}"
    return "any JSON"


def default(schema: dict[str, Any]) -> str:
    value = schema["default"]
    return "all its defaults" if "$ref" in schema and value else f"`{json.dumps(value, ensure_ascii=False)}`"


def number(name: str, value: float) -> str:
    is_bytes = "bytes" in name.lower()
    if is_bytes and value % _MIB == 0:
        return f"{value // _MIB:g} MiB"
    if is_bytes and value % _KIB == 0:
        return f"{value // _KIB:g} KiB"
    return f"{int(value):,}" if value == int(value) else str(value)


def _bounds(schema: dict[str, Any], minimum: str, maximum: str, unit: str) -> str:
    low, high = schema.get(minimum), schema.get(maximum)
    if high is None or high == LARGEST_INTEGER:
        return "" if low is None else f" (at least {low:g}{unit})"
    if low is None:
        return f" (at most {int(high):,}{unit})"
    return f" ({low:g} to {high:,g}{unit})" if high < 10**6 else f" ({low:g} to {int(high):,}{unit})"
