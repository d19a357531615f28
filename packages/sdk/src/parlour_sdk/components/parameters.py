"""Validates a tool's parameters against a subset of JSON Schema: required fields, types and allowed values.

The rest of JSON Schema (patterns, ranges, conditions) is for the model to read and for the tool to enforce. Parts of a
schema that make no sense are ignored.
"""

from collections.abc import Iterator
from typing import Any, Final, TypeVar

Kind = TypeVar("Kind")
_TYPES: Final[dict[str, tuple[str, tuple[type, ...]]]] = {
    "boolean": ("true or false", (bool,)),
    "integer": ("an integer", (int,)),
    "number": ("a number", (int, float)),
    "string": ("a string", (str,)),
    "array": ("a list", (list,)),
    "object": ("an object", (dict,)),
    "null": ("null", (type(None),)),
}


def find_problems(parameters: dict[str, Any], schema: dict[str, Any]) -> list[str]:
    """Returns messages that a model can act on; empty if the parameters are valid."""
    return list(_Check(schema).problems(parameters, schema, ""))


class _Check:
    def __init__(self, root: dict[str, Any]) -> None:
        self._root = root

    def problems(self, value: Any, declared: Any, field: str) -> Iterator[str]:
        schema = self._resolved(declared)
        types, values = _types(schema), _keyword(schema, "enum", list)
        if types and not any(_is(value, each) for each in types):
            yield f"{field or 'the parameters'} must be {_describe_types(types)} and is {_describe_type(value)}"
        elif values is not None and value not in values:
            yield f"{field} must be one of {', '.join(map(repr, values))}"
        elif "const" in schema and value != schema["const"]:
            yield f"{field} must be {schema['const']!r}"
        elif choices := _keyword(schema, "anyOf", list) or _keyword(schema, "oneOf", list):
            yield from self._of_any(value, choices, field)
        elif isinstance(value, dict):
            yield from self._of_object(value, schema, field)
        elif isinstance(value, list):
            for index, each in enumerate(value):
                yield from self.problems(each, schema.get("items"), f"{field}[{index}]")

    def _of_any(self, value: Any, choices: list[Any], field: str) -> Iterator[str]:
        """Yields nothing if one of the choices fits.

        Otherwise yields the problems of the choice with the value's type, or else the types that would be accepted.
        """
        problem_lists = [list(self.problems(value, each, field)) for each in choices]
        if not all(problem_lists):
            return
        types = [_types(self._resolved(each)) for each in choices]
        fitting = (
            each
            for each, accepted_types in zip(problem_lists, types, strict=True)
            if any(_is(value, kind) for kind in accepted_types)
        )
        every = _describe_types([kind for accepted_types in types for kind in accepted_types])
        yield from next(
            fitting, [f"{field} must be {every} and is {_describe_type(value)}"] if every else problem_lists[0]
        )

    def _of_object(self, value: dict[str, Any], schema: dict[str, Any], field: str) -> Iterator[str]:
        properties = _keyword(schema, "properties", dict) or {}
        prefix = f"{field}." if field else ""
        for name in _keyword(schema, "required", list) or ():
            if isinstance(name, str) and name not in value:
                expected = _describe_types(_types(self._resolved(properties.get(name))))
                yield f"{prefix}{name} is required{f' ({expected})' if expected else ''}"
        for name, each in value.items():
            if name in properties:
                yield from self.problems(each, properties[name], f"{prefix}{name}")
            elif schema.get("additionalProperties") is False:
                yield f"{prefix}{name} is unknown; known are {', '.join(properties) or 'none'}"

    def _resolved(self, schema: Any) -> dict[str, Any]:
        reference = _keyword(schema, "$ref", str) if isinstance(schema, dict) else None
        if reference is not None and reference.startswith("#/"):
            schema = self._root
            for part in reference[2:].split("/"):
                schema = schema.get(part) if isinstance(schema, dict) else None
        return schema if isinstance(schema, dict) else {}


def _keyword(schema: dict[str, Any], name: str, kind: type[Kind]) -> Kind | None:
    value = schema.get(name)
    return value if isinstance(value, kind) else None


def _types(schema: dict[str, Any]) -> list[str]:
    declared = schema.get("type")
    every = declared if isinstance(declared, list) else [declared]
    return [each for each in every if isinstance(each, str) and each in _TYPES]


def _is(value: Any, type_name: str) -> bool:
    if isinstance(value, bool):
        return type_name == "boolean"
    is_integral = isinstance(value, float) and value.is_integer()
    return isinstance(value, _TYPES[type_name][1]) or (type_name == "integer" and is_integral)


def _describe_types(types: list[str]) -> str:
    return " or ".join(_TYPES[each][0] for each in types)


def _describe_type(value: Any) -> str:
    return next(description for description, types in _TYPES.values() if isinstance(value, types))
