"""Every entity as it looks on the wire. A golden file changes only when the contract does."""

import pytest
from pydantic import ValidationError

from .contract import CONTRACT
from .entities import ENTITIES, GOLDEN, golden, golden_file


def test_each_entity_has_its_golden_file_and_each_file_its_entity() -> None:
    assert {path.name for path in GOLDEN.iterdir()} == {golden_file(name).name for name in ENTITIES}


def test_every_entity_survives_the_wire() -> None:
    for name, entity in ENTITIES.items():
        made = entity.model_validate(golden(name))
        assert made.model_dump(mode="json") == golden(name), name
        assert entity.model_validate_json(made.model_dump_json()) == made, name


def test_every_golden_file_shows_every_field_in_its_place() -> None:
    for name, entity in ENTITIES.items():
        shown = golden(name)
        assert list(shown) == list(entity.model_fields), name
        hidden = {field for field, value in shown.items() if value is None} - set(CONTRACT[name].one_of)
        assert hidden <= {"run_id"}, f"{name}: a field that is null shows nothing"


def test_an_entity_can_not_be_changed() -> None:
    for name, entity in ENTITIES.items():
        made = entity.model_validate(golden(name))
        for field in entity.model_fields:
            with pytest.raises(ValidationError):
                setattr(made, field, None)


def test_an_entity_says_what_it_is() -> None:
    """The docstring is what the reference page tells of it."""
    assert [name for name, entity in ENTITIES.items() if not entity.__doc__] == []
