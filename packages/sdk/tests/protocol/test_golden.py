"""Tests the JSON of every entity against its golden file, which changes only with the contract."""

import pytest
from pydantic import ValidationError

from .contract import CONTRACT
from .entities import ENTITIES, GOLDEN, golden, golden_file


def test_each_entity_has_exactly_one_golden_file() -> None:
    assert {path.name for path in GOLDEN.iterdir()} == {golden_file(name).name for name in ENTITIES}


def test_every_entity_is_unchanged_after_a_round_trip() -> None:
    for name, entity in ENTITIES.items():
        made = entity.model_validate(golden(name))
        assert made.model_dump(mode="json") == golden(name), name
        assert entity.model_validate_json(made.model_dump_json()) == made, name


def test_every_golden_file_has_every_field_in_order() -> None:
    for name, entity in ENTITIES.items():
        shown = golden(name)
        assert list(shown) == list(entity.model_fields), name
        hidden = {field for field, value in shown.items() if value is None} - set(CONTRACT[name].one_of)
        assert hidden <= {"run_id"}, f"{name}: a null field shows no example"


def test_entities_are_immutable() -> None:
    for name, entity in ENTITIES.items():
        made = entity.model_validate(golden(name))
        for field in entity.model_fields:
            with pytest.raises(ValidationError):
                setattr(made, field, None)


def test_every_entity_has_a_docstring() -> None:
    """The reference page shows the docstring."""
    assert [name for name, entity in ENTITIES.items() if not entity.__doc__] == []
