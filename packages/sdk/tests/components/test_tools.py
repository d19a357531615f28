"""Tools: parameters that fit, answers of every kind, and failures that a model can act on."""

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


WORDS = ["type", "properties", "required", "items", "enum", "const", "anyOf", "oneOf", "$ref", "$defs", "a", "string"]


class Fixed(Tool):
    """Gives what it was made with, and remembers what it was called with."""

    def __init__(self, answer: Any) -> None:
        self.answer = answer
        self.called: list[tuple[dict[str, Any], ToolContext]] = []

    async def call(self, parameters: dict[str, Any], ctx: ToolContext) -> Any:
        self.called.append((parameters, ctx))
        if isinstance(self.answer, Exception):
            raise self.answer
        return self.answer


def having(answer: Any, schema: dict[str, Any] | None = None) -> Any:
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
async def test_what_a_tool_answers_becomes_content_for_a_model(case: str) -> None:
    answer, content = ANSWERS[case]
    async with having(answer) as line:
        outcome = await line.call_tool("weather")
    assert outcome["content"] == content
    assert ToolOutcome.model_validate(outcome).is_error is False


async def test_an_outcome_goes_as_it_is() -> None:
    made = ToolOutcome(
        content=[TextElement(text="see file")],
        is_error=True,
        artifact_refs=[ArtifactRef(artifact_id="a", artifact_type="file")],
        truncated=True,
    )
    async with having(made) as line:
        assert ToolOutcome.model_validate(await line.call_tool("weather")) == made


async def test_a_tool_knows_who_called_it_and_reaches_the_host_as_its_plugin() -> None:
    async with having("x") as line:
        actor = {"actor_type": "user", "actor_id": "u-1"}
        await line.call_tool("weather", {"a": 1}, run_id="r-1", conversation={"conversation_id": "c-1"}, actor=actor)
        [(parameters, ctx)] = line.service.loaded.tools["weather"].called
        assert parameters == {"a": 1}
        assert (ctx.run_id, ctx.conversation.conversation_id, ctx.actor.actor_id) == ("r-1", "c-1", "u-1")
        assert ctx.api is line.service.api


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
async def test_parameters_that_fit_the_schema_reach_the_tool(parameters: dict[str, Any]) -> None:
    async with having("fine", SCHEMA) as line:
        assert (await line.call_tool("weather", parameters))["is_error"] is False
        assert line.service.loaded.tools["weather"].called[0][0] == parameters


@pytest.mark.parametrize("told", BAD)
async def test_parameters_that_do_not_fit_are_told_to_the_model_and_never_reach_the_tool(told: str) -> None:
    async with having("fine", SCHEMA) as line:
        outcome = await line.call_tool("weather", BAD[told])
        assert line.service.loaded.tools["weather"].called == []
    assert outcome["is_error"] is True
    assert outcome["content"][0]["text"].startswith(f"the tool was not called: {told}")


Json = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=4),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.sampled_from(WORDS), inner, max_size=4),
    max_leaves=10,
)


@given(st.dictionaries(st.text(max_size=4), Json), st.dictionaries(st.sampled_from(WORDS), Json))
def test_whatever_a_schema_says_the_check_answers(parameters: dict[str, Any], schema: dict[str, Any]) -> None:
    assert all(isinstance(each, str) for each in find_problems(parameters, schema))


async def test_all_that_is_wrong_is_told_at_once() -> None:
    async with having("fine", SCHEMA) as line:
        outcome = await line.call_tool("weather", {"days": "3", "unit": "K"})
    assert outcome["content"][0]["text"].count(";") == 2


async def test_a_tools_own_error_is_told_in_its_own_words() -> None:
    async with having(ToolError("there is no such city; try Oslo")) as line:
        outcome = await line.call_tool("weather")
    assert outcome == {
        "content": [{"type": "text", "text": "there is no such city; try Oslo"}],
        "is_error": True,
        "artifact_refs": [],
        "truncated": False,
    }


@pytest.mark.parametrize("answer", [RuntimeError("the secret is 12345"), object()], ids=["exception", "no JSON"])
async def test_a_tool_whose_code_fails_says_so_without_telling_secrets_and_the_plugin_goes_on(
    answer: Any, caplog: pytest.LogCaptureFixture
) -> None:
    async with having(answer) as line:
        outcome = await line.call_tool("weather")
        assert (await line.call_tool("weather"))["is_error"] is True
    assert outcome["is_error"] is True
    assert "its plugin's log says where" in outcome["content"][0]["text"]
    assert "12345" not in outcome["content"][0]["text"]
    assert "tool weather failed" in caplog.text


async def test_what_the_host_refuses_a_tool_is_told_to_the_model() -> None:
    class Asking(Tool):
        async def call(self, parameters: dict[str, Any], ctx: ToolContext) -> Any:
            return await ctx.api.host.version()

    async with serving(loaded(tools={"ask": Asking()})) as line:
        line.host.answers["get_host_version"] = WireError("unauthorized", "this was not granted")
        outcome = await line.call_tool("ask")
    assert (outcome["is_error"], outcome["content"][0]["text"]) == (True, "this was not granted")


async def test_a_tool_that_is_not_there_is_an_error_of_the_call() -> None:
    async with having("x") as line:
        with pytest.raises(WireError, match="no tool 'wether'") as refusal:
            await line.call_tool("wether")
    assert refusal.value.code == "not_found"
