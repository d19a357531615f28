"""Messages as agents and models exchange them."""

from typing import Any, Literal

from .base import Listed, Request
from .content import ArtifactRef, Content

Role = Literal["user", "assistant", "system", "tool"]


class ToolCall(Request):
    """A model wants a tool to be called."""

    id: str
    name: str
    arguments: Any = None


class Message(Request):
    """One message of a dialogue with a model. Its content is a text or a list of elements."""

    role: Role
    content: Content = ""
    tool_calls: Listed[ToolCall] | None = None
    tool_call_id: str | None = None
    """Of the call that a message of role `tool` answers."""
    name: str | None = None
    reasoning: str | None = None
    """What a model thought before it answered."""
    artifact_refs: Listed[ArtifactRef] | None = None
    metadata: dict[str, Any] | None = None


class MessageChunk(Message):
    """A fragment of a message that is still being written."""

    is_final: bool = False
