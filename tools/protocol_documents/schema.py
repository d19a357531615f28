"""Builds the contract as JSON Schema: one definition per entity, and the tables that say which is used where."""

from collections.abc import Iterable
from typing import Any

from pydantic import BaseModel
from pydantic.json_schema import models_json_schema

from parlour_sdk.protocol import limits
from parlour_sdk.protocol.base import PROTOCOL_VERSION
from parlour_sdk.protocol.component_specs import SPECS
from parlour_sdk.protocol.errors import CODES
from parlour_sdk.protocol.events import ALIASES
from parlour_sdk.protocol.platform_events import EVENTS
from parlour_sdk.protocol.results import FAILURES, PAYLOADS
from parlour_sdk.protocol.runs import TRANSITIONS
from parlour_sdk.protocol.wire_actions import HELLO, HOST_ACTIONS, PLUGIN_ACTIONS, HostAction, PluginAction

from .entities import entities, field_notes, modules, summary

Schema = dict[str, Any]
DIALECT = "https://json-schema.org/draft/2020-12/schema"
UNIONS = {"text": "ContentElement", "Plain": "Component"}
"""Named unions, by one of their members."""


def whole() -> Schema:
    return {
        "$schema": DIALECT,
        "$id": f"urn:parlour:protocol:{PROTOCOL_VERSION}",
        "title": f"Parlour protocol {PROTOCOL_VERSION}",
        "description": "Validate against one of the definitions; x-parlour says which is used where.",
        "x-parlour": tables(),
        "$defs": definitions(),
    }


def definitions() -> dict[str, Schema]:
    all_entities = [entity for module in modules() for entity in entities(module)]
    _, generated = models_json_schema([(entity, "validation") for entity in all_entities])
    unions: dict[str, Schema] = {}
    schemas = {
        entity.__name__: _definition(entity, generated["$defs"][entity.__name__], unions) for entity in all_entities
    }
    return dict(sorted((schemas | unions).items()))


def _definition(entity: type[BaseModel], generated: Schema, unions: dict[str, Schema]) -> Schema:
    notes = field_notes(entity)
    properties = {name: _tidy(each, unions) for name, each in generated.get("properties", {}).items()}
    for name, field in entity.model_fields.items():
        if field.default_factory is not None:
            properties[name]["default"] = field.get_default(call_default_factory=True).model_dump(mode="json")
        if name in notes:
            properties[name]["description"] = notes[name]
    definition: Schema = {"description": summary(entity), "type": "object", "properties": properties}
    definition |= {key: generated[key] for key in ("required", "additionalProperties") if key in generated}
    one_of: tuple[str, ...] = getattr(entity, "ONE_OF", ())
    if one_of:
        definition["oneOf"] = [{"required": [name], "properties": {name: {"type": "string"}}} for name in one_of]
    return definition


def _tidy(schema: Any, unions: dict[str, Schema]) -> Any:
    """Removes titles that only repeat a field's name, and replaces unions by their names."""
    if isinstance(schema, list):
        return [_tidy(each, unions) for each in schema]
    if not isinstance(schema, dict) or "$ref" in schema:
        return _without_json_value(schema)
    if "discriminator" in schema:
        name = UNIONS[next(iter(UNIONS.keys() & schema["discriminator"]["mapping"].keys()))]
        unions[name] = {"description": "One of these, by its `type`.", "type": "object", "required": ["type"]}
        unions[name]["oneOf"] = schema["oneOf"]
        return {"$ref": f"#/$defs/{name}"}
    return {key: value if key == "default" else _tidy(value, unions) for key, value in schema.items() if key != "title"}


def _without_json_value(schema: Any) -> Any:
    if isinstance(schema, dict) and schema["$ref"] == "#/$defs/JsonValue":
        return {key: value for key, value in schema.items() if key != "$ref"}
    return schema


def tables() -> Schema:
    hello, request, answer = HELLO
    return {
        "protocol": PROTOCOL_VERSION,
        "first_call": {hello: {"request": _ref(request), "answer": _ref(answer)}},
        "towards_host": {name: {"where": each.where, **_action(each)} for name, each in HOST_ACTIONS.items()},
        "towards_plugin": {name: _action(each) for name, each in PLUGIN_ACTIONS.items()},
        "results": _refs(PAYLOADS.items()),
        "events": _refs(EVENTS.items()) | {"platform.{adapter}.{action}": {"$ref": "#/$defs/PlatformSpecific"}},
        "event_aliases": ALIASES,
        "component_specs": _refs(SPECS.items()),
        "errors": CODES,
        "failures": FAILURES,
        "run_transitions": {start: list(ends) for start, ends in TRANSITIONS.items()},
        "limits": {name.lower(): value for name, value in vars(limits).items() if name.isupper()},
    }


def _action(action: HostAction | PluginAction) -> Schema:
    request = {} if action.request is None else {"request": _ref(action.request)}
    return {**request, "answer": _ref(action.answer), "streams": action.streams}


def _refs(table: Iterable[tuple[str, type[BaseModel]]]) -> dict[str, Schema]:
    return {name: _ref(entity) for name, entity in table}


def _ref(entity: type[BaseModel]) -> Schema:
    return {"$ref": f"#/$defs/{entity.__name__}"}
