"""Provides tools that are plain functions."""

import inspect
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import field
from typing import Any

from parlour.core.model.providers import CallContext, ProviderFailed
from parlour_sdk.protocol.content import TextElement
from parlour_sdk.protocol.resources import ToolResource
from parlour_sdk.protocol.tools import ToolDetail, ToolOutcome
from parlour_sdk.values import dataclass

Given = str | ToolOutcome
Function = Callable[[dict[str, Any]], Given | Awaitable[Given]]


@dataclass(frozen=True, slots=True)
class Tool:
    """The function of the tool. A returned text is an outcome, and an exception reaches the caller."""

    function: Function
    read_only: bool = False
    description: str = ""
    parameters_schema: dict[str, Any] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class ToolRequest:
    asking: CallContext
    tool_name: str
    parameters: dict[str, Any]


class ScriptedTools:
    """Records every call in `requests`, in order."""

    def __init__(self, tools: Mapping[str, Tool]) -> None:
        self._tools = tools
        self.requests: list[ToolRequest] = []

    def resources(self) -> Sequence[ToolResource]:
        return [ToolResource(tool_name=name, source="native") for name in self._tools]

    def read_only(self, tool_name: str) -> bool:
        return tool_name in self._tools and self._tools[tool_name].read_only

    async def detail(self, tool_name: str) -> ToolDetail:
        tool = self._tool(tool_name)
        return ToolDetail(
            tool_name=tool_name,
            description=tool.description or None,
            parameters_schema=tool.parameters_schema,
            read_only=tool.read_only,
            source="native",
        )

    async def call(self, context: CallContext, tool_name: str, parameters: dict[str, Any]) -> ToolOutcome:
        tool = self._tool(tool_name)
        self.requests.append(ToolRequest(context, tool_name, parameters))
        result = tool.function(parameters)
        outcome = await result if inspect.isawaitable(result) else result
        return ToolOutcome(content=[TextElement(text=outcome)]) if isinstance(outcome, str) else outcome

    def _tool(self, name: str) -> Tool:
        if name not in self._tools:
            raise ProviderFailed("not_found", f"there is no tool '{name}'")
        return self._tools[name]
