"""Source of the Host's own tools. They are few and available from the start."""

from collections.abc import Sequence
from typing import Any, Protocol

from parlour.core.model.providers import CallContext
from parlour_sdk.protocol.tools import ToolOutcome

from ..source import OfferedTool

PROVIDER = "Parlour itself"


class NativeTool(Protocol):
    @property
    def definition(self) -> OfferedTool: ...

    async def call(self, context: CallContext, parameters: dict[str, Any]) -> ToolOutcome: ...


class NativeTools:
    def __init__(self, tools: Sequence[NativeTool]) -> None:
        self._tools = {tool.definition.tool_name: tool for tool in tools}
        self._offers = tuple(tool.definition for tool in tools)

    def tools(self) -> Sequence[OfferedTool]:
        return self._offers

    async def call(self, context: CallContext, tool_name: str, parameters: dict[str, Any]) -> ToolOutcome:
        return await self._tools[tool_name].call(context, parameters)
