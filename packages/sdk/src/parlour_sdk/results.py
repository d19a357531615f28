"""Constructors for what a runner yields: `yield results.delta("hel")`. Run id and numbering are the worker's."""

from dataclasses import dataclass
from typing import Any

from .protocol.messages import Message
from .protocol.results import FinishReason, StateScope, Usage


@dataclass(frozen=True, slots=True)
class Result:
    type: str
    data: dict[str, Any]


def delta(text: str) -> Result:
    """The next fragment of the message being written."""
    return Result("message.delta", {"chunk": {"role": "assistant", "content": text}})


def completed(message: str | Message) -> Result:
    """A whole message: delivered and written to the transcript."""
    return Result("message.completed", {"message": _message(message)})


def finished(
    finish_reason: FinishReason = "stop", message: str | Message | None = None, usage: Usage | None = None
) -> Result:
    """The run ends well."""
    data: dict[str, Any] = {"finish_reason": finish_reason}
    if message is not None:
        data["message"] = _message(message)
    if usage is not None:
        data["usage"] = usage.model_dump(exclude_none=True)
    return Result("run.completed", data)


def silent() -> Result:
    """The run ends well and says nothing, on purpose."""
    return finished("silent")


def failed(code: str, error: str, retryable: bool = False) -> Result:
    """The run ends badly; `error` is a sentence for people."""
    return Result("run.failed", {"code": code, "error": error, "retryable": retryable})


def tool_started(tool_call_id: str, tool_name: str, parameters: Any = None) -> Result:
    return Result("tool.call.started", {"tool_call_id": tool_call_id, "tool_name": tool_name, "parameters": parameters})


def tool_completed(tool_call_id: str, tool_name: str, result: Any = None, error: str | None = None) -> Result:
    data = {"tool_call_id": tool_call_id, "tool_name": tool_name, "result": result, "error": error}
    return Result("tool.call.completed", data)


def state_updated(scope: StateScope, key: str, value: Any) -> Result:
    return Result("state.updated", {"scope": scope, "key": key, "value": value})


def _message(message: str | Message) -> dict[str, Any]:
    if isinstance(message, str):
        return {"role": "assistant", "content": message}
    return message.model_dump(mode="json", exclude_none=True)
