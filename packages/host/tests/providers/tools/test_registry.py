"""One registry over all sources: names, parameters, time limits and outcomes."""

import asyncio
from typing import Any

import pytest

from parlour.core.model.providers import CallContext, ProviderFailed
from parlour.providers.tools.native.calculator import Calculator
from parlour.providers.tools.native.tools import NativeTools
from parlour.providers.tools.registry import ToolRegistry
from parlour.providers.tools.source import OfferedTool, text_outcome
from parlour_sdk.protocol.tools import ToolOutcome

from .sources import ASKING, Functions


async def fine(parameters: dict[str, Any]) -> ToolOutcome:
    return text_outcome("fine")


async def stuck(parameters: dict[str, Any]) -> ToolOutcome:
    await asyncio.Event().wait()
    return text_outcome("never")


def registry(*sources: Any, seconds: float = 30) -> ToolRegistry:
    made = ToolRegistry(seconds)
    for source in sources:
        made.add(source)
    return made


async def test_tools_of_all_sources_are_listed_with_their_parameters() -> None:
    tools = registry(Functions("one", look=fine), NativeTools([Calculator()]))
    assert [each.tool_name for each in tools.resources()] == ["a.look", "calculator.evaluate"]
    detail = await tools.detail("calculator.evaluate")
    assert (detail.read_only, detail.source) == (True, "native")
    assert detail.parameters_schema["required"] == ["expression"]


async def test_a_tool_name_of_two_sources_is_not_offered_and_the_error_names_both() -> None:
    first, second = Functions("the first", look=fine), Functions("the second", look=fine, other=fine)
    tools = registry(first, second)
    assert [each.tool_name for each in tools.resources()] == ["a.other"]
    with pytest.raises(ProviderFailed, match=r"'a.look' is claimed by the first and by the second; rename"):
        await tools.call(ASKING, "a.look", {})
    second.list("other")
    assert (await tools.call(ASKING, "a.look", {})).is_error is False


async def test_a_tool_that_its_source_no_longer_offers_is_unknown() -> None:
    source = Functions("one", look=fine, act=fine)
    tools = registry(source)
    assert (tools.read_only("a.look"), tools.read_only("a.act"), tools.read_only("a.nothing")) == (True, False, False)
    source.list("look")
    with pytest.raises(ProviderFailed, match=r"there is no tool 'a.act'"):
        await tools.call(ASKING, "a.act", {})


async def test_invalid_parameters_are_reported_to_the_model_and_the_tool_is_not_called() -> None:
    tools = registry(NativeTools([Calculator()]))
    outcome = await tools.call(ASKING, "calculator.evaluate", {"expression": 3, "more": 1})
    assert outcome.is_error
    (element,) = outcome.model_dump()["content"]
    assert element["text"] == (
        "the tool was not called: expression must be a string and is an integer; more is unknown; known are expression"
    )


class Endless:
    """A source with a tool whose schema refers to itself."""

    def tools(self) -> tuple[OfferedTool, ...]:
        return self._offers

    def __init__(self) -> None:
        schema = {"$ref": "#/$defs/a", "$defs": {"a": {"anyOf": [{"$ref": "#/$defs/a"}]}}}
        self._offers = (OfferedTool("endless.tool", "mcp", "a server", "", schema),)

    async def call(self, asking: CallContext, tool_name: str, parameters: dict[str, Any]) -> ToolOutcome:
        return text_outcome("called")


async def test_a_recursive_schema_is_handled() -> None:
    assert (await registry(Endless()).call(ASKING, "endless.tool", {"x": 1})).is_error is False


async def test_a_tool_that_takes_too_long_is_cancelled() -> None:
    with pytest.raises(ProviderFailed, match=r"'a.stuck' did not answer within 0.01 s") as failed:
        await registry(Functions("one", stuck=stuck), seconds=0.01).call(ASKING, "a.stuck", {})
    assert failed.value.code == "deadline_exceeded"
