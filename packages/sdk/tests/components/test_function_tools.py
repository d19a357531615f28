"""Tests tools made of functions: the schema and description come from the signature and the docstring."""

from typing import Annotated, Any, Literal

import pytest
from pydantic import BaseModel, Field

from parlour_sdk.components import ToolContext
from parlour_sdk.components.docstring import read_docstring
from parlour_sdk.components.function_tool import FunctionTool, UnsupportedSignature

from .support import loaded, serving


class Place(BaseModel):
    """A point on the map."""

    lat: float
    lon: float = 0.0


async def forecast(
    city: str,
    days: int = 1,
    unit: Literal["C", "F"] = "C",
    at: float | None = None,
    tags: list[str] | None = None,
    near: Place | None = None,
    extra: dict[str, Any] = {},  # noqa: B006 - a default like any other
    exact: bool = False,
    ctx: ToolContext | None = None,
) -> str:
    """The weather of the next days.

    Knows every city there is.

    Args:
        city: its name,
            in English
        days (int): how many
        unit: of the temperature

    Returns:
        a sentence.
    """
    return f"{city} {days} {unit} {at} {tags} {near!r} {extra} {exact} {ctx is not None}"


def test_the_schema_matches_the_signature() -> None:
    schema = FunctionTool(forecast).parameters
    assert schema["type"] == "object"
    assert schema["required"] == ["city"]
    assert list(schema["properties"]) == ["city", "days", "unit", "at", "tags", "near", "extra", "exact"]
    assert schema["properties"]["city"] == {"type": "string", "description": "its name, in English"}
    assert schema["properties"]["days"] == {"type": "integer", "default": 1, "description": "how many"}
    assert schema["properties"]["unit"]["enum"] == ["C", "F"]
    assert schema["properties"]["at"]["anyOf"] == [{"type": "number"}, {"type": "null"}]
    assert schema["properties"]["tags"]["anyOf"][0] == {"items": {"type": "string"}, "type": "array"}
    assert schema["$defs"]["Place"]["required"] == ["lat"]
    assert schema["additionalProperties"] is False
    assert "title" not in schema


def test_a_function_without_parameters_has_the_schema_of_an_empty_object() -> None:
    async def now() -> str:
        return "now"

    assert FunctionTool(now).parameters == {"type": "object", "properties": {}, "additionalProperties": False}


def serving_tool(function: Any) -> Any:
    tool = FunctionTool(function)
    spec = {"parameters": tool.parameters}
    return serving(loaded(tools={"forecast": tool}, specs={("Tool", "forecast"): spec}))


@pytest.mark.parametrize(
    ("parameters", "text"),
    [
        ({"city": "Oslo"}, "Oslo 1 C None None None {} False True"),
        (
            {"city": "Oslo", "days": 2, "unit": "F", "at": 3, "tags": ["a"], "near": {"lat": 1}, "exact": True},
            "Oslo 2 F 3.0 ['a'] Place(lat=1.0, lon=0.0) {} True True",
        ),
        ({"city": "Oslo", "extra": {"k": [1]}}, "Oslo 1 C None None None {'k': [1]} False True"),
    ],
)
async def test_the_function_is_called_with_values_of_its_parameter_types(parameters: dict[str, Any], text: str) -> None:
    async with serving_tool(forecast) as connection:
        outcome = await connection.call_tool("forecast", parameters)
    assert (outcome["is_error"], outcome["content"][0]["text"]) == (False, text)


@pytest.mark.parametrize(
    ("parameters", "message"),
    [
        ({}, "city is required"),
        ({"city": "a", "unit": "K"}, "unit must be one of"),
        ({"city": "a", "near": {"lat": "north"}}, "near.lat"),
        ({"city": "a", "mood": 1}, "mood is unknown"),
        ({"city": "a", "ctx": {}}, "ctx is unknown"),
    ],
)
async def test_an_invalid_parameter_is_reported_by_name(parameters: dict[str, Any], message: str) -> None:
    async with serving_tool(forecast) as connection:
        outcome = await connection.call_tool("forecast", parameters)
    assert outcome["is_error"] is True
    assert message in outcome["content"][0]["text"]


async def test_constraints_of_annotated_types_are_enforced() -> None:
    async def pick(number: Annotated[int, Field(ge=1, le=6)]) -> int:
        return number

    async with serving_tool(pick) as connection:
        outcome = await connection.call_tool("forecast", {"number": 7})
    assert outcome["is_error"] is True
    assert outcome["content"][0]["text"] == ("the tool was not called: number: Input should be less than or equal to 6")


async def untyped(city) -> str:  # type: ignore[no-untyped-def]
    return str(city)


async def several(*cities: str) -> str:
    return "".join(cities)


async def missing(place: "NoSuchType") -> str:  # type: ignore[name-defined]  # noqa: F821
    return str(place)


class Socket:
    pass


async def native(socket: Socket) -> str:
    return str(socket)


@pytest.mark.parametrize(
    ("function", "message"),
    [
        (untyped, "'city' needs a type, such as `city: str`"),
        (several, "'cities' must be an ordinary parameter"),
        (missing, "NoSuchType"),
        (native, "Socket"),
    ],
)
def test_a_signature_without_a_schema_is_refused_with_the_parameter(function: Any, message: str) -> None:
    with pytest.raises(UnsupportedSignature, match=message):
        FunctionTool(function)


def test_unresolvable_types_of_context_and_return_value_are_ignored() -> None:
    async def look(at: str, ctx: "NoSuchContext") -> "NoSuchAnswer":  # type: ignore[name-defined]  # noqa: F821
        return at

    assert list(FunctionTool(look).parameters["properties"]) == ["at"]


@pytest.mark.parametrize(
    ("docstring", "description", "texts"),
    [
        ("", "", {}),
        ("One line.", "One line.", {}),
        ("Does it.\n\n:param city: its name\n:param days: how many\n:returns: text", "Does it.", None),
        ("Does it.\n\ncity: its name\ndays: how many", "Does it.", None),
        ("Does it.\n\n- `city`: its name\n- `days` (int): how many", "Does it.", None),
        (
            "Does it.\n\nParameters:\n    city: its\n        name\n    days: how many\n\nRaises:\n    Error: x",
            "Does it.",
            None,
        ),
        ("Note: this is slow.\n\nReally.", "Note: this is slow.\n\nReally.", {}),
    ],
)
def test_docstrings_are_parsed_in_every_common_style(
    docstring: str, description: str, texts: dict[str, str] | None
) -> None:
    wanted = {"city": "its name", "days": "how many"} if texts is None else texts
    assert read_docstring(docstring, ["city", "days"]) == (description, wanted)
