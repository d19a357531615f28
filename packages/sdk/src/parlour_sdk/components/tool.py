"""A Tool does one thing for whoever calls it: an agent's model, another plugin. It acts with its plugin's grants."""

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
    """Raise it with a sentence for the model: what went wrong, and what would work."""


@dataclass(frozen=True, slots=True)
class ToolContext:
    """Who called, and the plugin's own way to the Host."""

    api: PluginAPI
    tool_name: str
    run_id: str | None = None
    conversation: Conversation | None = None
    actor: Actor | None = None


class Tool(ABC):
    """One instance serves all calls. Name, description and the schema of its parameters are in the component's file."""

    @abstractmethod
    async def call(self, parameters: dict[str, Any], ctx: ToolContext) -> Any:
        """The parameters fit the schema. Answer with a text, anything JSON has, content elements, or a ToolOutcome."""


def outcome_of(answer: Any) -> ToolOutcome:
    """What a tool returned, as it is told to a model."""
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
