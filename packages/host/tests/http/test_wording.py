"""Tests the messages for invalid requests: they name the field and the accepted values."""

from typing import Any, Literal

import pytest
from pydantic import BaseModel, ConfigDict, Field, ValidationError

from parlour.http.validation_errors import field_errors, register_pattern

NAME = register_pattern(r"^[a-z]+$", "use small letters")


class Rule(BaseModel):
    model_config = ConfigDict(extra="forbid")

    decision: Literal["allow", "deny"]


class Body(BaseModel):
    model_config = ConfigDict(extra="forbid")

    name: str = Field(default="", pattern=NAME)
    number: int = 0
    rules: dict[str, Literal["allow", "deny"] | Rule] = {}
    tools: Literal["*"] | list[str] = "*"


def errors_of(body: Any) -> list[tuple[str, str]]:
    with pytest.raises(ValidationError) as refused:
        Body.model_validate(body)
    return [(each["field"], each["message"]) for each in field_errors(refused.value.errors(), body)]


@pytest.mark.parametrize(
    ("body", "field", "message"),
    [
        ({"name": 7}, "name", "Input should be a valid string, not a number"),
        ({"name": None}, "name", "Input should be a valid string, not null"),
        ({"name": "A b"}, "name", "use small letters"),
        ({"number": "many"}, "number", "Input should be a valid integer, unable to parse string as an integer"),
        ({"colour": "red"}, "colour", "there is no such field"),
        ({"rules": []}, "rules", "Input should be an object, not a list"),
        ({"rules": {"a.*": {}}}, "rules.a.*.decision", "Field required"),
    ],
)
def test_an_invalid_field_is_reported_with_the_accepted_value(body: dict[str, Any], field: str, message: str) -> None:
    assert (field, message) in errors_of(body)


def test_an_invalid_value_of_a_union_is_reported_as_one_field() -> None:
    body = {"tools": "all", "rules": {"message.*": "perhaps"}}
    assert errors_of(body) == [
        ("rules.message.*", "Input should be 'allow' or 'deny', or: Input should be an object, not a text"),
        ("tools", "Input should be '*', or: Input should be a valid list, not a text"),
    ]


def test_error_messages_do_not_repeat_values() -> None:
    body = {"name": "hunter2 is the password", "number": "hunter2", "rules": {"a": "hunter2"}, "tools": "hunter2"}
    assert "hunter2" not in str(errors_of(body))


def test_invalid_json_is_reported_with_its_position() -> None:
    with pytest.raises(ValidationError) as refused:
        Body.model_validate_json(b'{"name": ')
    [entry] = field_errors(refused.value.errors())
    assert entry["field"] == "body"
    assert entry["message"].startswith("this is not JSON: EOF while parsing")
