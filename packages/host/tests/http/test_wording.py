"""What a person reads who sent a wrong request: the field as they wrote it, and what would be accepted."""

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


def told(body: Any) -> list[tuple[str, str]]:
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
def test_a_field_is_told_with_what_it_should_be(body: dict[str, Any], field: str, message: str) -> None:
    assert (field, message) in told(body)


def test_a_value_that_may_have_one_of_several_shapes_is_one_field_as_it_was_written() -> None:
    body = {"tools": "all", "rules": {"message.*": "perhaps"}}
    assert told(body) == [
        ("rules.message.*", "Input should be 'allow' or 'deny', or: Input should be an object, not a text"),
        ("tools", "Input should be '*', or: Input should be a valid list, not a text"),
    ]


def test_no_value_is_repeated() -> None:
    body = {"name": "hunter2 is the password", "number": "hunter2", "rules": {"a": "hunter2"}, "tools": "hunter2"}
    assert "hunter2" not in str(told(body))


def test_text_that_is_not_json_is_told_with_where_it_ends() -> None:
    with pytest.raises(ValidationError) as refused:
        Body.model_validate_json(b'{"name": ')
    [entry] = field_errors(refused.value.errors())
    assert entry["field"] == "body"
    assert entry["message"].startswith("this is not JSON: EOF while parsing")
