"""Tools: what a run may look at and call, and what a plugin's own tool is asked."""

from typing import Any, Literal

from .base import Listed, Request, Tolerant
from .calls import Call
from .content import ArtifactRef, ContentElement
from .events import Actor, Conversation

ToolSource = Literal["native", "plugin", "mcp", "skill"]


class GetTool(Call):
    """Asks what a tool takes."""

    tool_name: str


class CallTool(Call):
    """Calls a tool."""

    tool_name: str
    parameters: dict[str, Any] = {}


class ToolDetail(Tolerant):
    """A tool and what it takes."""

    tool_name: str
    description: str | None = None
    parameters_schema: dict[str, Any] = {}
    """JSON Schema."""
    read_only: bool = False
    needs_approval: bool = False
    """True if a person decides about each call, so that an answer can take long."""
    source: ToolSource


class ToolOutcome(Tolerant):
    """What a tool gave. `is_error` is its own failure, told to the model; a failed call is an error of the API."""

    content: Listed[ContentElement] = []
    is_error: bool = False
    artifact_refs: Listed[ArtifactRef] = []
    truncated: bool = False


class ToolInvocation(Request):
    """What a plugin's tool is called with. It acts with its own plugin's grants, never with its caller's."""

    tool_name: str
    parameters: dict[str, Any] = {}
    run_id: str | None = None
    conversation: Conversation | None = None
    actor: Actor | None = None
