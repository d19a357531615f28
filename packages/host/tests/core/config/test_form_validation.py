"""A configuration is checked against its form, field by field, without repeating a value."""

from typing import Any, get_args

import pytest

from parlour.core.config.form_validation import SECRET_MASK, mask_form_secrets, validate, with_defaults
from parlour_sdk.protocol.form import FormItem, FormType

GOOD: dict[str, list[Any]] = {
    "string": ["", "a"],
    "text": ["a\nb"],
    "secret": ["hidden"],
    "integer": [0, -1, 2**40],
    "number": [1, 1.5],
    "boolean": [True, False],
    "select": ["a"],
    "multi-select": [[], ["a"]],
    "json": [{}, [], "a", 1, True],
    "prompt-editor": ["be kind", [{"role": "system", "content": "be kind"}]],
    "llm-model-selector": ["model"],
    "model-fallback-selector": [{"primary": "model", "fallbacks": []}],
    "rerank-model-selector": ["model"],
    "embedding-model-selector": ["model"],
    "knowledge-base-multi-selector": [[], ["kb"]],
    "tool-multi-selector": [["tool"]],
    "skill-multi-selector": [["skill"]],
    "file": [{"file_key": "k", "file_name": "n", "mime_type": "m"}],
    "array[file]": [[{"file_key": "k", "file_name": "n", "mime_type": "m"}]],
    "array[string]": [[], ["a", "b"]],
}
BAD: dict[str, list[Any]] = {
    "string": [1, True, [], {}],
    "text": [1],
    "secret": [12345],
    "integer": [1.5, "1", True],
    "number": ["1", True],
    "boolean": [0, 1, "true"],
    "select": [1, ["a"]],
    "multi-select": ["a", [1]],
    "json": [],
    "prompt-editor": [1, {}],
    "llm-model-selector": [1],
    "model-fallback-selector": ["model"],
    "rerank-model-selector": [[]],
    "embedding-model-selector": [{}],
    "knowledge-base-multi-selector": ["kb"],
    "tool-multi-selector": [{"tool": 1}],
    "skill-multi-selector": [True],
    "file": ["path"],
    "array[file]": [{}],
    "array[string]": ["a", [1]],
}


def item(kind: str = "string", name: str = "field", **fields: Any) -> FormItem:
    return FormItem.model_validate({"name": name, "label": {"en_US": name}, "type": kind, **fields})


def test_every_form_type_of_the_protocol_is_covered() -> None:
    assert set(GOOD) == set(BAD) == set(get_args(FormType))


@pytest.mark.parametrize(("kind", "value"), [(kind, value) for kind in GOOD for value in GOOD[kind]], ids=repr)
def test_value_of_the_right_type_is_accepted(kind: str, value: Any) -> None:
    assert validate([item(kind)], {"field": value}) == []


@pytest.mark.parametrize(("kind", "value"), [(kind, value) for kind in BAD for value in BAD[kind]], ids=repr)
def test_value_of_another_type_is_a_problem_of_its_field(kind: str, value: Any) -> None:
    [(name, sentence)] = validate([item(kind)], {"field": value})
    assert name == "field"
    assert sentence


def test_secret_value_is_not_repeated_in_problems() -> None:
    assert "12345" not in repr(validate([item("secret")], {"field": 12345}))


def test_missing_required_field_is_a_problem() -> None:
    form = [item(required=True)]
    assert validate(form, {}) == validate(form, {"field": None}) == [("field", "required")]


def test_optional_field_may_be_missing_or_null() -> None:
    assert validate([item()], {}) == validate([item()], {"field": None}) == []


def test_unknown_field_is_a_problem_that_names_the_known_ones() -> None:
    assert validate([item()], {"feild": "a"}) == [("feild", "unknown; this runner takes field")]
    assert validate([], {"x": 1}) == [("x", "unknown; this runner takes no configuration")]


@pytest.mark.parametrize(("kind", "value"), [("select", "c"), ("multi-select", ["a", "c"])])
def test_unknown_choice_is_a_problem_that_names_the_options(kind: str, value: Any) -> None:
    options = [{"value": "a"}, {"value": "b"}]
    assert validate([item(kind, options=options)], {"field": value}) == [("field", "must be one of a, b")]


def test_all_problems_are_returned_together() -> None:
    form = [item("integer", "a"), item("string", "b", required=True)]
    assert [name for name, _ in validate(form, {"a": "x", "c": 1})] == ["c", "a", "b"]


def test_missing_values_are_filled_with_defaults() -> None:
    form = [item(name="a", default="x"), item("integer", "b", default=0), item(name="c")]
    assert with_defaults(form, {"a": "mine"}) == {"a": "mine", "b": 0}


def test_display_field_has_no_value() -> None:
    form = [item(name="address", display=True, default="1.2.3.4", required=True)]
    assert with_defaults(form, {}) == {}
    assert validate(form, {}) == []
    assert validate(form, {"address": "x"}) != []


def test_secrets_are_masked_and_everything_without_a_form() -> None:
    form = [item("secret", "token"), item("string", "name")]
    config = {"token": "t0p", "name": "Ann"}
    assert mask_form_secrets(form, config) == {"token": SECRET_MASK, "name": "Ann"}
    assert mask_form_secrets(None, config) == {"token": SECRET_MASK, "name": SECRET_MASK}


@pytest.mark.parametrize(
    ("kind", "value", "sentence"),
    [
        ("integer", "many", "must be a whole number, not a text"),
        ("boolean", 1, "must be true or false, not a number"),
        ("string", ["a"], "must be a text, not a list"),
        (
            "model-fallback-selector",
            "m",
            "must be an object with ids of models: primary, and a list of fallbacks, not a text",
        ),
    ],
)
def test_problem_names_the_expected_type(kind: str, value: Any, sentence: str) -> None:
    assert validate([item(kind)], {"field": value}) == [("field", sentence)]


@pytest.mark.parametrize(
    ("limits", "value", "sentence"),
    [
        ({"minimum": 1, "maximum": 64}, 65, "must be from 1 to 64"),
        ({"minimum": 1, "maximum": 64}, 0, "must be from 1 to 64"),
        ({"minimum": 0.5}, 0, "must be at least 0.5"),
        ({"maximum": 10_000_000}, 10**400, "must be at most 10000000"),
        ({}, float("nan"), "must be a finite number"),
        ({"minimum": 0}, float("inf"), "must be a finite number"),
    ],
)
def test_number_out_of_range_is_refused(limits: dict[str, float], value: float, sentence: str) -> None:
    form = [item("number", **limits)]

    assert validate(form, {"field": value}) == [("field", sentence)]
    assert validate([item("number", minimum=1, maximum=64)], {"field": 64}) == []


def test_dependent_field_is_required_only_if_shown() -> None:
    form = [item("array[string]", "kb"), item("integer", "top_k", required=True, show_if={"kb": True})]

    assert validate(form, {"kb": []}) == []
    assert validate(form, {"kb": ["handbook"]}) == [("top_k", "required")]
