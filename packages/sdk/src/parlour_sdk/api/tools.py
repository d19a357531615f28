"""Describes and calls the granted tools: native ones and those of plugins, MCP servers and skills."""

from typing import Any

from parlour_sdk.protocol.tools import CallTool, GetTool, ToolDetail, ToolOutcome

from .calls import Namespace


class ToolsAPI(Namespace):
    async def get(self, tool_name: str) -> ToolDetail:
        return await self._calls.call("get_tool_detail", GetTool, ToolDetail, tool_name=tool_name)

    async def call(self, tool_name: str, parameters: dict[str, Any] | None = None) -> ToolOutcome:
        """Calls a tool; `is_error` in the outcome is the tool's own failure, for the model to read."""
        return await self._calls.call(
            "call_tool", CallTool, ToolOutcome, tool_name=tool_name, parameters=parameters or {}
        )
