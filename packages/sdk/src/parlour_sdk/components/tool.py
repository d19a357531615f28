"""Defines Tool, the component that an agent's model or another plugin can call.

It acts with the permissions of its own plugin.
"""

from abc import ABC, abstractmethod
from typing import Any

from pydantic_core import to_jsonable_python

from parlour_sdk.api import PluginAPI
from parlour_sdk.protocol.content import (
    ContentElement,
    JsonElement,
    MediaElement,
    MentionElement,
    QuoteElement,
    TextElement,
)
from parlour_sdk.protocol.events import Actor, Conversation
from parlour_sdk.protocol.tools import ToolOutcome

from ..values import dataclass

ELEMENTS = (TextElement, MediaElement, JsonElement, QuoteElement, MentionElement)


class ToolError(Exception):
    """Raised by a tool with a message for the model: what went wrong, and what would work."""


@dataclass(frozen=True, slots=True)
class ToolContext:
    """The caller of a tool, and the plugin's API."""

    api: PluginAPI
    tool_name: str
    run_id: str | None = None
    conversation: Conversation | None = None
    actor: Actor | None = None


class Tool(ABC):
    """One instance serves all calls. The component's file has its name, description and parameter schema."""

    @abstractmethod
    async def call(self, parameters: dict[str, Any], ctx: ToolContext) -> Any:
        """Executes a call whose parameters fit the schema.

        Returns a text, any JSON value, content elements, or a ToolOutcome.
        """


def to_outcome(answer: Any) -> ToolOutcome:
    """Converts the return value of a tool into the outcome that a model receives."""
    if isinstance(answer, ToolOutcome):
        return answer
    return ToolOutcome(content=_content(answer))


def _content(answer: Any) -> list[ContentElement]:
    if answer is None:
        return []
    if isinstance(answer, str):
        return [TextElement(text=answer)]
    if isinstance(answer, ELEMENTS):
        return [answer]
    if isinstance(answer, list) and answer and all(isinstance(each, ELEMENTS) for each in answer):
        return answer
    return [JsonElement(value=to_jsonable_python(answer))]
