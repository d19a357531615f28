"""Tests tools: validated parameters, answers of every type, and failures that are reported to the model."""

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import BaseModel

from parlour_sdk.components import Tool, ToolContext, ToolError
from parlour_sdk.components.parameters import find_problems
from parlour_sdk.protocol.content import ArtifactRef, MediaElement, TextElement
from parlour_sdk.protocol.tools import ToolOutcome
from parlour_sdk.wire import WireError

from .support import loaded, serving

SCHEMA = {
    "type": "object",
    "properties": {
        "city": {"type": "string"},
        "days": {"type": "integer"},
        "unit": {"enum": ["C", "F"]},
        "at": {"type": ["number", "null"]},
        "tags": {"type": "array", "items": {"type": "string"}},
        "place": {"$ref": "#/$defs/Place"},
        "when": {"anyOf": [{"type": "string"}, {"type": "null"}]},
        "flag": {"type": "boolean"},
        "version": {"const": 1},
    },
    "required": ["city"],
    "additionalProperties": False,
    "$defs": {"Place": {"type": "object", "properties": {"lat": {"type": "number"}}, "required": ["lat"]}},
}


KEYWORDS = [
    "type",
    "properties",
    "required",
    "items",
    "enum",
    "const",
    "anyOf",
    "oneOf",
    "$ref",
    "$defs",
    "a",
    "string",
]


class Fixed(Tool):
    """Returns a fixed answer and records its calls."""

    def __init__(self, answer: Any) -> None:
        self.answer = answer
        self.called: list[tuple[dict[str, Any], ToolContext]] = []

    async def call(self, parameters: dict[str, Any], ctx: ToolContext) -> Any:
        self.called.append((parameters, ctx))
        if isinstance(self.answer, Exception):
            raise self.answer
        return self.answer


def serving_tool(answer: Any, schema: dict[str, Any] | None = None) -> Any:
    spec = {} if schema is None else {"parameters": schema}
    return serving(loaded(tools={"weather": Fixed(answer)}, specs={("Tool", "weather"): spec}))


class Report(BaseModel):
    sky: str
    degrees: int | None = None


IMAGE = MediaElement(type="image", url="https://example.org/sky.png")
ANSWERS = {
    "a text": ("blue", [{"type": "text", "text": "blue"}]),
    "an object": ({"sky": "blue", "rain": None}, [{"type": "json", "value": {"sky": "blue", "rain": None}}]),
    "a list": ([1, "two"], [{"type": "json", "value": [1, "two"]}]),
    "an empty list": ([], [{"type": "json", "value": []}]),
    "a number": (5, [{"type": "json", "value": 5}]),
    "a model": (Report(sky="blue"), [{"type": "json", "value": {"sky": "blue", "degrees": None}}]),
    "nothing": (None, []),
    "an element": (IMAGE, [{"type": "image", "url": "https://example.org/sky.png"}]),
    "elements": (
        [TextElement(text="look:"), IMAGE],
        [{"type": "text", "text": "look:"}, {"type": "image", "url": "https://example.org/sky.png"}],
    ),
}


@pytest.mark.parametrize("case", ANSWERS)
async def test_the_answer_of_a_tool_becomes_content_for_the_model(case: str) -> None:
    answer, content = ANSWERS[case]
    async with serving_tool(answer) as connection:
        outcome = await connection.call_tool("weather")
    assert outcome["content"] == content
    assert ToolOutcome.model_validate(outcome).is_error is False


async def test_an_outcome_is_passed_unchanged() -> None:
    made = ToolOutcome(
        content=[TextElement(text="see file")],
        is_error=True,
        artifact_refs=[ArtifactRef(artifact_id="a", artifact_type="file")],
        truncated=True,
    )
    async with serving_tool(made) as connection:
        assert ToolOutcome.model_validate(await connection.call_tool("weather")) == made


async def test_a_tool_receives_its_caller_and_the_api_of_its_plugin() -> None:
    async with serving_tool("x") as connection:
        actor = {"actor_type": "user", "actor_id": "u-1"}
        await connection.call_tool(
            "weather", {"a": 1}, run_id="r-1", conversation={"conversation_id": "c-1"}, actor=actor
        )
        [(parameters, ctx)] = connection.service.loaded.tools["weather"].called
        assert parameters == {"a": 1}
        assert (ctx.run_id, ctx.conversation.conversation_id, ctx.actor.actor_id) == ("r-1", "c-1", "u-1")
        assert ctx.api is connection.service.api


GOOD: list[dict[str, Any]] = [
    {"city": "Oslo"},
    {"city": "Oslo", "days": 3.0, "unit": "C", "at": 1, "tags": [], "place": {"lat": 1, "more": "x"}, "version": 1},
    {"city": "", "at": None, "when": None, "flag": False},
]
BAD = {
    "city is required (a string)": {},
    "city must be a string and is an integer": {"city": 5},
    "city must be a string and is null": {"city": None},
    "days must be an integer and is a number": {"city": "a", "days": 1.5},
    "days must be an integer and is true or false": {"city": "a", "days": True},
    "flag must be true or false and is an integer": {"city": "a", "flag": 1},
    "unit must be one of 'C', 'F'": {"city": "a", "unit": "K"},
    "at must be a number or null and is a string": {"city": "a", "at": "noon"},
    "tags must be a list and is a string": {"city": "a", "tags": "sun"},
    "tags[1] must be a string and is an object": {"city": "a", "tags": ["sun", {}]},
    "place.lat is required (a number)": {"city": "a", "place": {}},
    "when must be a string or null and is a list": {"city": "a", "when": []},
    "version must be 1": {"city": "a", "version": 2},
    "citty is unknown; known are city, days": {"city": "a", "citty": "b"},
}


@pytest.mark.parametrize("parameters", GOOD)
async def test_valid_parameters_reach_the_tool(parameters: dict[str, Any]) -> None:
    async with serving_tool("fine", SCHEMA) as connection:
        assert (await connection.call_tool("weather", parameters))["is_error"] is False
        assert connection.service.loaded.tools["weather"].called[0][0] == parameters


@pytest.mark.parametrize("problem", BAD)
async def test_invalid_parameters_are_reported_to_the_model_and_do_not_reach_the_tool(problem: str) -> None:
    async with serving_tool("fine", SCHEMA) as connection:
        outcome = await connection.call_tool("weather", BAD[problem])
        assert connection.service.loaded.tools["weather"].called == []
    assert outcome["is_error"] is True
    assert outcome["content"][0]["text"].startswith(f"the tool was not called: {problem}")


Json = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=4),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.sampled_from(KEYWORDS), inner, max_size=4),
    max_leaves=10,
)


@given(st.dictionaries(st.text(max_size=4), Json), st.dictionaries(st.sampled_from(KEYWORDS), Json))
def test_parameters_can_be_checked_against_any_schema(parameters: dict[str, Any], schema: dict[str, Any]) -> None:
    assert all(isinstance(each, str) for each in find_problems(parameters, schema))


async def test_all_invalid_parameters_are_reported_together() -> None:
    async with serving_tool("fine", SCHEMA) as connection:
        outcome = await connection.call_tool("weather", {"days": "3", "unit": "K"})
    assert outcome["content"][0]["text"].count(";") == 2


async def test_the_message_of_a_tool_error_reaches_the_model() -> None:
    async with serving_tool(ToolError("there is no such city; try Oslo")) as connection:
        outcome = await connection.call_tool("weather")
    assert outcome == {
        "content": [{"type": "text", "text": "there is no such city; try Oslo"}],
        "is_error": True,
        "artifact_refs": [],
        "truncated": False,
    }


@pytest.mark.parametrize("answer", [RuntimeError("the secret is 12345"), object()], ids=["exception", "no JSON"])
async def test_a_failing_tool_is_reported_without_secrets_and_the_plugin_continues(
    answer: Any, caplog: pytest.LogCaptureFixture
) -> None:
    async with serving_tool(answer) as connection:
        outcome = await connection.call_tool("weather")
        assert (await connection.call_tool("weather"))["is_error"] is True
    assert outcome["is_error"] is True
    assert "its plugin's log says where" in outcome["content"][0]["text"]
    assert "12345" not in outcome["content"][0]["text"]
    assert "tool weather failed" in caplog.text


async def test_a_refusal_of_the_host_is_reported_to_the_model() -> None:
    class Asking(Tool):
        async def call(self, parameters: dict[str, Any], ctx: ToolContext) -> Any:
            return await ctx.api.host.version()

    async with serving(loaded(tools={"ask": Asking()})) as connection:
        connection.host.answers["get_host_version"] = WireError("unauthorized", "this was not granted")
        outcome = await connection.call_tool("ask")
    assert (outcome["is_error"], outcome["content"][0]["text"]) == (True, "this was not granted")


async def test_an_unknown_tool_fails_the_call() -> None:
    async with serving_tool("x") as connection:
        with pytest.raises(WireError, match="no tool 'wether'") as refusal:
            await connection.call_tool("wether")
    assert refusal.value.code == "not_found"
