"""Tests every field of every entity with valid and invalid values against `contract.yaml`."""

from collections.abc import Callable
from typing import Any

import pytest
from pydantic import BaseModel, ValidationError
from pydantic_core import to_json

from .contract import CONTRACT, UNIONS
from .entities import ENTITIES
from .matrix import REFUSED, Case, cases

COUNTED = "protocol_cases"
SHOWN = 20


def test_the_contract_has_every_entity_and_every_field() -> None:
    assert set(CONTRACT) == set(ENTITIES)
    for name, entity in CONTRACT.items():
        assert set(entity.fields) == set(ENTITIES[name].model_fields), name
    assert {member for union in UNIONS.values() for member in union.values()} <= set(CONTRACT)


@pytest.mark.parametrize("name", CONTRACT)
def test_an_entity_matches_the_contract(name: str, record_property: Callable[[str, object], None]) -> None:
    counted = 0
    wrong: list[str] = []
    for case in cases(name):
        counted += 1
        wrong.extend(f"{case.says}: {each}" for each in deviations(ENTITIES[name], case))
    record_property(COUNTED, counted)
    assert not wrong, "\n".join([f"{len(wrong)} of {counted} cases", *wrong[:SHOWN]])


def deviations(entity: type[BaseModel], case: Case) -> list[str]:
    """Returns the deviations from the contract, for decoded data and for JSON."""
    as_data = _deviation(case, lambda: entity.model_validate(case.data))
    as_json = _deviation(case, lambda: entity.model_validate_json(to_json(case.data)))
    return [each for each in (as_data, as_json) if each]


def _deviation(case: Case, validated: Callable[[], BaseModel]) -> str:
    try:
        dumped = validated().model_dump(mode="json")
    except ValidationError as error:
        return _refused(case, error)
    if case.expected is REFUSED:
        return "it was accepted"
    return "" if dumped == case.expected else f"it was read as {dumped}"


def _refused(case: Case, error: ValidationError) -> str:
    found = error.errors(include_url=False, include_input=False, include_context=False)
    if case.expected is not REFUSED:
        return f"it was refused: {found}"
    if len(found) != 1:
        return f"one mistake has {len(found)} errors: {found}"
    return "" if _is_within(case.place, found[0]["loc"]) else f"the error is at {found[0]['loc']}, not {case.place}"


def _is_within(place: tuple[Any, ...], location: tuple[Any, ...]) -> bool:
    """Tells if the location is at this place. It may also name the member of a union."""
    rest = iter(location)
    return all(part in rest for part in place)
