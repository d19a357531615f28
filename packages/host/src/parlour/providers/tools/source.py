"""What the registry takes tools from, and what one of them is. Each source names its tools within its own namespace."""

from collections.abc import Mapping, Sequence
from dataclasses import field
from typing import Any, Protocol

from parlour.core.model.providers import Asking
from parlour_sdk.protocol.content import TextElement
from parlour_sdk.protocol.resources import ToolResource
from parlour_sdk.protocol.tools import ToolDetail, ToolOutcome, ToolSource
from parlour_sdk.values import dataclass

NOTHING_TAKEN: Mapping[str, Any] = {"type": "object", "properties": {}}


@dataclass(frozen=True, slots=True)
class Offer:
    tool_name: str
    source: ToolSource
    provider: str
    """Who offers it, in words."""
    description: str = ""
    parameters_schema: Mapping[str, Any] = field(default_factory=lambda: NOTHING_TAKEN)
    read_only: bool = False

    @property
    def namespace(self) -> str:
        return self.tool_name.partition(".")[0]

    def resource(self) -> ToolResource:
        return ToolResource(tool_name=self.tool_name, description=self.description or None, source=self.source)

    def detail(self) -> ToolDetail:
        return ToolDetail(
            tool_name=self.tool_name,
            description=self.description or None,
            parameters_schema=dict(self.parameters_schema),
            read_only=self.read_only,
            source=self.source,
        )


class Source(Protocol):
    def offers(self) -> Sequence[Offer]:
        """The same object for as long as nothing changes; asked before every run, so that it must not wait."""
        ...

    async def call(self, asking: Asking, tool_name: str, parameters: dict[str, Any]) -> ToolOutcome:
        """Parameters fit the schema. Raises ProviderFailed; what the tool itself says went wrong is an outcome."""
        ...


def told(text: str) -> ToolOutcome:
    return ToolOutcome(content=[TextElement(text=text)])


def refused(text: str) -> ToolOutcome:
    """A sentence for the model: what went wrong, and what would work."""
    return ToolOutcome(content=[TextElement(text=text)], is_error=True)
