"""Describes the document's schemas as text that fits into a table."""

from typing import Any

Schema = dict[str, Any]


def words(schema: Schema) -> str:
    """Describes the values that a schema allows; a named schema becomes a link to its section."""
    if "$ref" in schema:
        return link(schema["$ref"].rpartition("/")[2])
    if "const" in schema:
        return f"`{schema['const']}`"
    if "enum" in schema:
        return " or ".join(f"`{each}`" for each in schema["enum"])
    for keyword in ("anyOf", "oneOf", "allOf"):
        if keyword in schema:
            return " or ".join(dict.fromkeys(map(words, schema[keyword])))
    return _plain(schema)


def _plain(schema: Schema) -> str:
    match schema.get("type"):
        case "array":
            return f"list of {words(schema.get('items', {}))}"
        case "object":
            value_schema = schema.get("additionalProperties")
            return f"object of {words(value_schema)}" if isinstance(value_schema, dict) and value_schema else "object"
        case None:
            return "anything"
        case kind:
            return str(kind) + _bounds(schema)


def _bounds(schema: Schema) -> str:
    """Describes the limits of a number or a text."""
    names = {"minimum": "at least", "exclusiveMinimum": "above", "maximum": "at most", "exclusiveMaximum": "below"}
    bounds = [f"{label} {_number(schema[name])}" for name, label in names.items() if name in schema]
    if "maxLength" in schema:
        bounds.append(f"at most {schema['maxLength']} characters")
    return f" ({', '.join(bounds)})" if bounds else ""


def _number(value: float) -> str:
    return f"{int(value):,}" if float(value).is_integer() else str(value)


def link(name: str) -> str:
    return f"[{name}](#{anchor(name)})"


def anchor(name: str) -> str:
    return name.lower().replace(" ", "-")
