"""Parameters of platform actions are checked against the manifest."""

from typing import Any

import pytest

from parlour.core.platforms.manifest import ActionDeclaration
from parlour.core.platforms.parameters import find_problem
from parlour.testing.fake_platform import manifest

SCHEMA = {
    "type": "object",
    "additionalProperties": False,
    "required": ["group_id"],
    "properties": {
        "group_id": {"type": ["string", "integer"]},
        "kind": {"enum": ["all", "some"]},
        "on": {"type": "boolean"},
        "ids": {"type": "array", "items": {"type": "integer"}},
    },
}
DECLARED = manifest(
    actions={
        "look": ActionDeclaration(description="Looks.", parameters=SCHEMA),
        "rest": ActionDeclaration(description="Rests."),
    }
)


@pytest.mark.parametrize(
    ("action", "params", "problem"),
    [
        ("look", {"group_id": 5}, ""),
        ("look", {"group_id": "5", "kind": "all", "on": True, "ids": [1, 2]}, ""),
        ("rest", {}, ""),
        ("jump", {}, "action: this platform has no 'jump'; it has look, rest"),
        ("rest", {"long": True}, "params.long: unknown; it takes nothing"),
        ("look", {}, "params.group_id: required"),
        ("look", {"group_id": True}, "params.group_id: must be of type string or integer"),
        ("look", {"group_id": 5, "kind": "none"}, "params.kind: must be one of all, some"),
        ("look", {"group_id": 5, "on": 1}, "params.on: must be of type boolean"),
        ("look", {"group_id": 5, "ids": [1, "2"]}, "params.ids.1: must be of type integer"),
        ("look", {"group_id": 5, "colour": "red"}, "params.colour: unknown; it takes group_id, kind, on, ids"),
    ],
)
def test_problem_names_the_parameter(action: str, params: dict[str, Any], problem: str) -> None:
    assert find_problem(DECLARED, action, params) == problem
