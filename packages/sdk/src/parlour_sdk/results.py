"""Builds the results that a runner yields: `yield results.delta("hel")`. The worker adds run id and sequence number."""

import base64
from typing import Any

from .protocol.content import ContentElement
from .protocol.messages import Message
from .protocol.results import FinishReason
from .protocol.state import StateScope
from .protocol.usage import Usage
from .values import dataclass


@dataclass(frozen=True, slots=True)
class Result:
    type: str
    data: dict[str, Any]


def delta(text: str) -> Result:
    """Adds a fragment to the message that is being written."""
    return Result("message.delta", {"chunk": {"role": "assistant", "content": text}})


def thinking(text: str) -> Result:
    """Adds a fragment of the agent's reasoning; it is shown folded and never delivered as the answer."""
    return Result("message.delta", {"chunk": {"role": "assistant", "content": "", "reasoning": text}})


def completed(message: str | list[ContentElement] | Message) -> Result:
    """A whole message: delivered and written to the transcript."""
    return Result("message.completed", {"message": _message(message)})


def finished(
    finish_reason: FinishReason = "stop",
    message: str | list[ContentElement] | Message | None = None,
    usage: Usage | None = None,
) -> Result:
    """Ends the run successfully. The message is delivered only if none was completed before."""
    data: dict[str, Any] = {"finish_reason": finish_reason}
    if message is not None:
        data["message"] = _message(message)
    if usage is not None:
        data["usage"] = usage.model_dump(exclude_none=True)
    return Result("run.completed", data)


def silent() -> Result:
    """Ends the run successfully without a message, on purpose."""
    return finished("silent")


def failed(code: str, error: str, retryable: bool = False) -> Result:
    """Ends the run with a failure; `error` is a message for users."""
    return Result("run.failed", {"code": code, "error": error, "retryable": retryable})


def tool_started(tool_call_id: str, tool_name: str, parameters: Any = None) -> Result:
    return Result("tool.call.started", {"tool_call_id": tool_call_id, "tool_name": tool_name, "parameters": parameters})


def tool_completed(tool_call_id: str, tool_name: str, result: Any = None, error: str | None = None) -> Result:
    data = {"tool_call_id": tool_call_id, "tool_name": tool_name, "result": result, "error": error}
    return Result("tool.call.completed", data)


def artifact_created(
    artifact_type: str,
    content: bytes | None = None,
    *,
    artifact_id: str | None = None,
    mime_type: str | None = None,
    name: str | None = None,
    metadata: dict[str, Any] | None = None,
) -> Result:
    """Adds a file to the next completed message: its bytes, at most 1 MiB, or the id of an existing artifact."""
    if (content is None) == (artifact_id is None):
        raise ValueError("artifact_created: give the content, or the artifact_id of what api.artifacts.create made")
    data = {
        "artifact_type": artifact_type,
        "artifact_id": artifact_id,
        "mime_type": mime_type,
        "name": name,
        "size_bytes": None if content is None else len(content),
        "metadata": metadata,
        "content_base64": None if content is None else base64.b64encode(content).decode(),
    }
    return Result("artifact.created", {key: value for key, value in data.items() if value is not None})


def state_updated(scope: StateScope, key: str, value: Any) -> Result:
    """Sets a value of the Host's state, like `api.state.set`, in the order of the results."""
    return Result("state.updated", {"scope": scope, "key": key, "value": value})


def action_requested(
    action: str,
    target: dict[str, Any] | None = None,
    payload: dict[str, Any] | None = None,
    request_id: str | None = None,
) -> Result:
    """Requests an action on the platform, such as `message.react`, without waiting for its outcome."""
    data = {"action": action, "target": target, "payload": payload, "request_id": request_id}
    return Result("action.requested", {key: value for key, value in data.items() if value is not None})


def _message(message: str | list[ContentElement] | Message) -> dict[str, Any]:
    if isinstance(message, str):
        return {"role": "assistant", "content": message}
    message_object = Message(role="assistant", content=message) if isinstance(message, list) else message
    return message_object.model_dump(mode="json", exclude_none=True)
