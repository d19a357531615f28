"""What a runner streams back: one envelope, a payload typed by `type`."""

from typing import Any, Literal

from pydantic import BaseModel, ConfigDict, Field

from .base import Key, Strict
from .limits import LARGEST_INTEGER
from .messages import Message, MessageChunk

FinishReason = Literal["stop", "silent", "length", "tool_limit", "budget", "interrupted", "error"]
StateScope = Literal["conversation", "actor", "subject", "runner", "binding"]


class AgentRunResult(Strict):
    run_id: str
    type: str
    data: dict[str, Any] = {}
    sequence: int | None = Field(default=None, ge=1, le=LARGEST_INTEGER)
    timestamp: int | None = None


class MessageDelta(Strict):
    chunk: MessageChunk


class MessageCompleted(Strict):
    message: Message


class Telemetry(BaseModel):
    """Tells and has no effect, so it is lenient."""

    model_config = ConfigDict(extra="allow", frozen=True, defer_build=True)


class ToolCallStarted(Telemetry):
    tool_call_id: str
    tool_name: str
    parameters: Any = None


class ToolCallCompleted(Telemetry):
    tool_call_id: str
    tool_name: str
    result: Any = None
    error: Any = None


class ArtifactCreated(Strict):
    artifact_type: str
    artifact_id: str | None = None
    mime_type: str | None = None
    name: str | None = None
    size_bytes: int | None = None
    sha256: str | None = None
    metadata: dict[str, Any] | None = None
    content_base64: str | None = None


class StateUpdated(Strict):
    scope: StateScope
    key: Key
    value: Any


class ActionRequested(Strict):
    action: str
    target: dict[str, Any] | None = None
    payload: dict[str, Any] | None = None
    request_id: str | None = None


class Usage(Strict):
    prompt_tokens: int = 0
    completion_tokens: int = 0
    cached_tokens: int | None = None
    reasoning_tokens: int | None = None
    cost_micros: int | None = None


class RunCompleted(Strict):
    finish_reason: FinishReason = "stop"
    message: Message | None = None
    usage: Usage | None = None


class RunFailed(Strict):
    code: str
    error: str
    retryable: bool = False


PAYLOADS: dict[str, type[BaseModel]] = {
    "message.delta": MessageDelta,
    "message.completed": MessageCompleted,
    "tool.call.started": ToolCallStarted,
    "tool.call.completed": ToolCallCompleted,
    "artifact.created": ArtifactCreated,
    "state.updated": StateUpdated,
    "action.requested": ActionRequested,
    "run.completed": RunCompleted,
    "run.failed": RunFailed,
}
