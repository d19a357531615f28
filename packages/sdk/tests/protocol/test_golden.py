"""Every entity as it looks on the wire. A golden file changes only when the contract does."""

from typing import Any

import pytest
from pydantic import BaseModel, ValidationError

from parlour_sdk.protocol.results import PAYLOADS, Telemetry

from .entities import ENTITIES, GOLDEN, STRICT, TOLERANT, golden, golden_file

EVERY = pytest.mark.parametrize("name", ENTITIES)
WRONG: dict[type, list[Any]] = {
    str: [5, True, ["x"]],
    int: ["5", 1.5, True],
    bool: ["true", 1, 0],
    list: ["x", {"a": 1}],
    dict: ["x", [1]],
}


def test_each_entity_has_its_golden_file_and_each_file_its_entity() -> None:
    assert {path.name for path in GOLDEN.iterdir()} == {golden_file(name).name for name in ENTITIES}


@EVERY
def test_an_entity_survives_the_wire(name: str) -> None:
    entity = ENTITIES[name].model_validate(golden(name))
    assert entity.model_dump(mode="json") == golden(name)
    assert ENTITIES[name].model_validate_json(entity.model_dump_json()) == entity


@EVERY
def test_a_golden_file_shows_every_field(name: str) -> None:
    assert list(golden(name)) == list(ENTITIES[name].model_fields)


@EVERY
def test_a_field_without_a_default_is_required(name: str) -> None:
    whole = golden(name)
    for field in [field for field, info in ENTITIES[name].model_fields.items() if info.is_required()]:
        with pytest.raises(ValidationError) as error:
            ENTITIES[name].model_validate({key: value for key, value in whole.items() if key != field})
        assert error.value.errors()[0]["loc"][-1] in (field, "value")


@EVERY
def test_only_required_fields_are_needed(name: str) -> None:
    """What is added later must be optional, or older peers break."""
    needed = {field for field, info in ENTITIES[name].model_fields.items() if info.is_required()}
    if name == "MediaElement":
        needed.add("url")
    ENTITIES[name].model_validate({key: value for key, value in golden(name).items() if key in needed})


@EVERY
def test_an_entity_can_not_be_changed(name: str) -> None:
    entity = ENTITIES[name].model_validate(golden(name))
    for field in ENTITIES[name].model_fields:
        with pytest.raises(ValidationError):
            setattr(entity, field, None)


@pytest.mark.parametrize("name", STRICT)
def test_a_strict_entity_refuses_an_unknown_field_by_name(name: str) -> None:
    with pytest.raises(ValidationError, match="surprise"):
        STRICT[name].model_validate({**golden(name), "surprise": 1})


@pytest.mark.parametrize("name", TOLERANT)
def test_a_tolerant_entity_passes_over_an_unknown_field(name: str) -> None:
    entity = TOLERANT[name].model_validate({**golden(name), "surprise": 1})
    assert entity.model_dump(mode="json") == golden(name)


@pytest.mark.parametrize("name", STRICT)
def test_a_strict_entity_refuses_values_of_another_type(name: str) -> None:
    entity, whole = STRICT[name], golden(name)
    for field, value in whole.items():
        if _takes_anything(entity, field):
            continue
        for wrong in [each for kind in [type(value)] for each in WRONG.get(kind, []) if not _also(entity, field, each)]:
            with pytest.raises(ValidationError):
                entity.model_validate({**whole, field: wrong})


def _takes_anything(entity: type[BaseModel], field: str) -> bool:
    annotation = entity.model_fields[field].annotation
    return annotation is Any or "JsonValue" in repr(annotation)


def _also(entity: type[BaseModel], field: str, value: Any) -> bool:
    """A message's content is a text or a list."""
    return field == "content" and isinstance(value, str)


def test_every_result_has_a_payload_that_is_strict_or_telemetry() -> None:
    for kind, payload in PAYLOADS.items():
        assert payload.__name__ in STRICT or issubclass(payload, Telemetry), kind


def test_telemetry_keeps_what_it_does_not_know() -> None:
    data = {"tool_call_id": "1", "tool_name": "look", "parameters": None, "progress": 0.5}
    assert PAYLOADS["tool.call.started"].model_validate(data).model_dump() == data
