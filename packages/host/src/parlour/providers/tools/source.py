"""Defines a tool and the sources from which the registry gets tools. Each source has namespaces of its own."""

import hashlib
from collections.abc import Mapping, Sequence
from dataclasses import field
from typing import Any, Protocol

from parlour.core.model.providers import CallContext
from parlour_sdk.protocol.content import TextElement
from parlour_sdk.protocol.resources import ToolResource
from parlour_sdk.protocol.tools import ToolDetail, ToolOutcome, ToolSource
from parlour_sdk.values import dataclass

NO_PARAMETERS_SCHEMA: Mapping[str, Any] = {"type": "object", "properties": {}}


@dataclass(frozen=True, slots=True)
class OfferedTool:
    """A tool as a source offers it."""

    tool_name: str
    source: ToolSource
    provider: str
    """Readable name of the provider, for messages."""
    description: str = ""
    parameters_schema: Mapping[str, Any] = field(default_factory=lambda: NO_PARAMETERS_SCHEMA)
    read_only: bool = False
    call_seconds: float = 0
    """Seconds that a call may take; 0 means as the setting says."""

    @property
    def namespace(self) -> str:
        return self.tool_name.partition(".")[0]

    def resource(self) -> ToolResource:
        detail = self.detail()
        version = hashlib.sha256(detail.model_dump_json().encode()).hexdigest()[:16]
        return ToolResource(
            tool_name=self.tool_name, description=self.description or None, source=self.source, version=version
        )

    def detail(self) -> ToolDetail:
        return ToolDetail(
            tool_name=self.tool_name,
            description=self.description or None,
            parameters_schema=dict(self.parameters_schema),
            read_only=self.read_only,
            source=self.source,
        )


class ToolRegistrySource(Protocol):
    """A source of tools."""

    def tools(self) -> Sequence[OfferedTool]:
        """Returns the tools: the same object until something changes.

        It is called before every run, so it must not block.
        """
        ...

    async def call(self, context: CallContext, tool_name: str, parameters: dict[str, Any]) -> ToolOutcome:
        """Calls a tool with parameters that match its schema.

        Raises ProviderFailed; an error of the tool itself is an outcome.
        """
        ...


def text_outcome(text: str) -> ToolOutcome:
    return ToolOutcome(content=[TextElement(text=text)])


def error_outcome(text: str) -> ToolOutcome:
    """Builds an outcome with an error message for the model: what went wrong, and what would work."""
    return ToolOutcome(content=[TextElement(text=text)], is_error=True)
