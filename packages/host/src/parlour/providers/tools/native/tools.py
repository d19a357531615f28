"""Source of the Host's own tools. They are few and available from the start."""

from collections.abc import Sequence
from typing import Any, Protocol

from parlour.core.model.providers import Asking
from parlour_sdk.protocol.tools import ToolOutcome

from ..source import Offer

PROVIDER = "Parlour itself"


class NativeTool(Protocol):
    @property
    def offer(self) -> Offer: ...

    async def call(self, asking: Asking, parameters: dict[str, Any]) -> ToolOutcome: ...


class NativeTools:
    def __init__(self, tools: Sequence[NativeTool]) -> None:
        self._tools = {tool.offer.tool_name: tool for tool in tools}
        self._offers = tuple(tool.offer for tool in tools)

    def offers(self) -> Sequence[Offer]:
        return self._offers

    async def call(self, asking: Asking, tool_name: str, parameters: dict[str, Any]) -> ToolOutcome:
        return await self._tools[tool_name].call(asking, parameters)
