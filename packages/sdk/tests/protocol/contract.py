"""Reads `contract.yaml`, which describes each field of each entity in the terms of the specification.

It does not depend on the models that the tests compare with it.
"""

import json
import re
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

import yaml

FILE = Path(__file__).parent / "contract.yaml"
ONE_OF = "(exactly one of)"
EMPTY: dict[str, Any] = {"text": "", "list": [], "object": {}, "map": {}, "text or list": ""}
_RANGE = re.compile(r" (\S*)\.\.(\S*)$")
_PLAIN = ("text", "integer", "number", "flag", "object", "any")

Temperament = Literal["tolerant", "request", "strict", "telemetry"]


@dataclass(frozen=True, slots=True)
class Kind:
    """Describes a type. `of` is the type of elements, `names` are the choices, or the one entity or example."""

    name: str
    of: "Kind | None" = None
    names: tuple[str, ...] = ()
    least: int | None = None
    most: int | None = None


@dataclass(frozen=True, slots=True)
class Field:
    kind: Kind
    required: bool
    nullable: bool
    default: str | None = None
    """The default as written, or None if there is none."""


@dataclass(frozen=True, slots=True)
class Entity:
    name: str
    temperament: Temperament
    fields: dict[str, Field]
    one_of: tuple[str, ...] = ()


def parse_field(written: str) -> Field:
    kind, _, default = written.partition(" = ")
    if kind.startswith("maybe "):
        return Field(parse_kind(kind.removeprefix("maybe ")), required=False, nullable=True, default="null")
    parsed = parse_kind(kind)
    return Field(parsed, required=not default, nullable=parsed.name == "any", default=default or None)


def parse_kind(written: str) -> Kind:
    if found := _RANGE.search(written):
        bare = parse_kind(written[: found.start()])
        return Kind(bare.name, bare.of, bare.names, _number(found[1]), _number(found[2]))
    if written in _PLAIN:
        return Kind(written)
    for opening, name in (("text or list of ", "text or list"), ("list of ", "list"), ("map of ", "map")):
        if written.startswith(opening):
            return Kind(name, parse_kind(written.removeprefix(opening)))
    if written.startswith("one of "):
        return Kind("choice", names=tuple(written.split()[2:]))
    if written.startswith("text like "):
        return Kind("like", names=(written.removeprefix("text like "),))
    return Kind("union" if written in UNIONS else "entity", names=(written,))


def default_of(field: Field) -> Any:
    """Returns the value of a missing field."""
    assert field.default is not None
    if field.default != "empty":
        is_text = field.kind.name in ("text", "choice") and not field.nullable
        return field.default if is_text else json.loads(field.default)
    if field.kind.name == "entity":
        return {name: default_of(each) for name, each in CONTRACT[field.kind.names[0]].fields.items()}
    return EMPTY[field.kind.name]


def _number(written: str) -> int | None:
    if not written:
        return None
    return 2**53 - 1 if written == "2^53-1" else int(written)


def _entity(title: str, fields: dict[str, str]) -> Entity:
    name, temperament = re.fullmatch(r"(\w+) \((tolerant|request|strict|telemetry)\)", title).groups()  # type: ignore[union-attr]
    parsed = {field: parse_field(written) for field, written in fields.items() if field != ONE_OF}
    return Entity(name, temperament, parsed, tuple(fields.get(ONE_OF, "").split()))  # type: ignore[arg-type]


_WRITTEN = yaml.safe_load(FILE.read_text(encoding="utf-8"))
UNIONS: dict[str, dict[str, str]] = _WRITTEN["unions"]
CONTRACT: dict[str, Entity] = {
    entity.name: entity for entity in (_entity(title, fields) for title, fields in _WRITTEN["entities"].items())
}
