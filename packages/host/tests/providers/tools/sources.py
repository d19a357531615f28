"""A source of tools that are plain functions."""

from collections.abc import Awaitable, Callable, Sequence
from typing import Any

from parlour.core.model.providers import CallContext
from parlour.providers.tools.source import OfferedTool
from parlour_sdk.protocol.tools import ToolOutcome

ASKING = CallContext("test/plugin")
Function = Callable[[dict[str, Any]], Awaitable[ToolOutcome]]


class Functions:
    def __init__(self, provider: str, **tools: Function) -> None:
        self._provider = provider
        self._tools = tools
        self.list(*tools)

    def list(self, *names: str) -> None:
        """Sets the names of the tools that are offered from now on."""
        self._offers = tuple(
            OfferedTool(f"a.{name}", "native", self._provider, read_only=name == "look") for name in names
        )

    def tools(self) -> Sequence[OfferedTool]:
        return self._offers

    async def call(self, asking: CallContext, tool_name: str, parameters: dict[str, Any]) -> ToolOutcome:
        return await self._tools[tool_name.removeprefix("a.")](parameters)
