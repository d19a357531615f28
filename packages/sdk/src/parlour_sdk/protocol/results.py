"""What a runner streams back: one envelope, a payload typed by `type`."""

from typing import Any, Literal

from pydantic import BaseModel, ConfigDict

from .base import Count, Key, Positive, Request, Strict
from .messages import Message, MessageChunk
from .state import StateScope
from .usage import Usage

FinishReason = Literal["stop", "silent", "length", "tool_limit", "budget", "interrupted", "error"]
FAILURES = {
    "runner.error": "the runner's code failed",
    "runner.timeout": "the run passed its deadline",
    "runner.no_output": "the stream ended without a message and not silent on purpose",
    "runner.crashed": "the runner's process died",
    "cancelled": "the run was cancelled",
    "interrupted": "the Host, or the runtime that had claimed the run, was lost",
    "budget_exceeded": "a limit in tokens or money would have been passed",
}
"""Failure codes that the Host itself uses, and their meaning."""


class AgentRunResult(Request):
    """One step of a run. The envelope grows with the protocol; its payloads are strict."""

    run_id: str
    type: str
    """One of PAYLOADS; any other is stored, warned about and otherwise ignored."""
    data: dict[str, Any] = {}
    """The payload, typed by `type`."""
    sequence: Positive | None = None
    """1, 2, 3... in the order of the stream."""
    timestamp: int | None = None


class PayloadMessage(Message):
    """A message that is to be delivered: a field nobody knows is refused rather than lost."""

    model_config = ConfigDict(extra="forbid")


class PayloadChunk(MessageChunk):
    """A fragment that is to be shown: a field nobody knows is refused rather than lost."""

    model_config = ConfigDict(extra="forbid")


class PayloadUsage(Usage):
    """What a run says it cost: a field nobody knows is refused rather than not counted."""

    model_config = ConfigDict(extra="forbid")


class MessageDelta(Strict):
    """The next fragment of the message being written; belongs to the next `message.completed`."""

    chunk: PayloadChunk


class MessageCompleted(Strict):
    """A whole message: delivered and written to the transcript."""

    message: PayloadMessage


class Telemetry(BaseModel):
    """Base of results that only inform and have no effect, so unknown fields are allowed."""

    model_config = ConfigDict(extra="allow", frozen=True, defer_build=True)


class ToolCallStarted(Telemetry):
    """A tool is being called."""

    tool_call_id: str
    tool_name: str
    parameters: Any = None


class ToolCallCompleted(Telemetry):
    """A tool has answered or failed."""

    tool_call_id: str
    tool_name: str
    result: Any = None
    error: Any = None


class ArtifactCreated(Strict):
    """A file or the like; it goes with the next completed message."""

    artifact_type: str
    artifact_id: str | None = None
    mime_type: str | None = None
    name: str | None = None
    size_bytes: Count | None = None
    sha256: str | None = None
    metadata: dict[str, Any] | None = None
    content_base64: str | None = None
    """At most 1 MiB decoded; more goes through `artifact_create`."""


class StateUpdated(Strict):
    """One value of state is another."""

    scope: StateScope
    key: Key
    value: Any


class ActionRequested(Strict):
    """Something is to be done on the platform: checked, approved if the policy says so, executed, recorded."""

    action: str
    target: dict[str, Any] | None = None
    payload: dict[str, Any] | None = None
    request_id: str | None = None


class RunCompleted(Strict):
    """The run ends well."""

    finish_reason: FinishReason = "stop"
    message: PayloadMessage | None = None
    """Delivered only if no message was completed before."""
    usage: PayloadUsage | None = None


class RunFailed(Strict):
    """The run ends badly."""

    code: str
    """One of FAILURES, or the runner's own `name.reason`."""
    error: str
    """A sentence for people."""
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
