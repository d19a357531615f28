"""Messages as agents and models exchange them."""

from typing import Any, Literal

from .base import Strict
from .content import ArtifactRef, ContentElement

Role = Literal["user", "assistant", "system", "tool"]


class ToolCall(Strict):
    id: str
    name: str
    arguments: Any = None


class Message(Strict):
    role: Role = "assistant"
    content: str | list[ContentElement] = ""
    tool_calls: list[ToolCall] | None = None
    tool_call_id: str | None = None
    name: str | None = None
    reasoning: str | None = None
    artifact_refs: list[ArtifactRef] | None = None
    metadata: dict[str, Any] | None = None


class MessageChunk(Message):
    """A fragment of a message that is still being written."""

    is_final: bool = False
