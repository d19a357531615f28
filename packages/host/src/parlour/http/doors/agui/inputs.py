"""Requests of AG-UI clients: the thread, the run, and what the user says in it."""

import json
from typing import Any

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from parlour_sdk.values import dataclass

from ...errors import Problem

MAX_PARTS = 50
_IGNORED = ("tools", "context", "state", "forwardedProps")
"""Fields that have no effect here. The client is informed if it sends one."""
_KINDS = {"image": "image", "audio": "audio", "video": "video", "document": "file"}
_LEGACY_KINDS = ("image", "audio", "video")


class RunAgentBody(BaseModel):
    model_config = ConfigDict(extra="allow")

    thread_id: str = Field(alias="threadId", min_length=1, max_length=200)
    run_id: str = Field(alias="runId", min_length=1, max_length=200)
    messages: list[dict[str, Any]] = Field(max_length=5000)
    resume: list[Any] | None = None


@dataclass(frozen=True, slots=True)
class AgUiRun:
    """A run that a client asks for."""

    thread_id: str
    run_id: str
    event_input: dict[str, Any]
    ignored: tuple[str, ...]


def parse_run(body: bytes) -> AgUiRun:
    """Parses a request; raises a problem that names the field that is wrong.

    Only the last message of the user counts: the agent has the earlier ones itself.
    """
    try:
        given = RunAgentBody.model_validate(json.loads(body))
    except ValidationError as error:
        first = error.errors(include_url=False, include_input=False)[0]
        field = ".".join(str(part) for part in first["loc"]) or "body"
        raise _invalid(field, first["msg"]) from None
    except (ValueError, RecursionError):
        raise Problem(400, "invalid_json", "the body is not JSON") from None
    if given.resume:
        message = "approvals are decided on the page or in a chat; wait for the run instead of resuming it"
        raise Problem(400, "not_supported", f"resume: {message}")
    last = next((each for each in reversed(given.messages) if each.get("role") == "user"), None)
    if last is None:
        raise _invalid("messages", "there must be a message with the role 'user'")
    ignored = tuple(name for name in _IGNORED if (given.model_extra or {}).get(name))
    return AgUiRun(given.thread_id, given.run_id, _event_input(last.get("content")), ignored)


def _event_input(content: Any) -> dict[str, Any]:
    """Returns the input of the event for the content of a message."""
    parts = [{"type": "text", "text": content}] if isinstance(content, str) else content
    if not isinstance(parts, list) or len(parts) > MAX_PARTS or not all(isinstance(part, dict) for part in parts):
        raise _invalid("messages", f"content must be a text or a list of at most {MAX_PARTS} parts")
    text = "\n".join(str(part.get("text") or "") for part in parts if part.get("type") == "text")
    files = [_file(part) for part in parts if part.get("type") != "text"]
    if not text.strip() and not files:
        raise _invalid("messages", "the last message has neither text nor files")
    own = [{"type": "text", "text": text}] if text else []
    return {"text": text, "contents": [*own, *files]} if files else {"text": text}


def _file(part: dict[str, Any]) -> dict[str, Any]:
    """Returns a file of the version 1.0, or of the parts with the type `binary` of earlier clients."""
    source = part.get("source")
    if part.get("type") == "binary":
        mime_type, data, url = str(part.get("mimeType") or ""), part.get("data"), part.get("url")
        major = mime_type.partition("/")[0]
        kind = major if major in _LEGACY_KINDS else "file"
    elif part.get("type") in _KINDS and isinstance(source, dict):
        mime_type = str(source.get("mimeType") or "")
        data = source.get("value") if source.get("type") == "data" else None
        url = source.get("value") if source.get("type") == "url" else None
        kind = _KINDS[part["type"]]
    else:
        raise _invalid("messages", f"a part has the unknown type '{str(part.get('type'))[:50]}'")
    media: dict[str, Any] = {"type": kind}
    name = part.get("filename")
    if isinstance(name, str) and name:
        media["name"] = name
    if isinstance(data, str) and data:
        return {**media, "mime_type": mime_type or "application/octet-stream", "content_base64": data}
    if isinstance(url, str) and url.startswith(("http://", "https://")):
        return {**media, "url": url}
    raise _invalid("messages", "a file must be given by its data or by an http link")


def _invalid(field: str, message: str) -> Problem:
    return Problem(400, "invalid_argument", f"{field}: {message}")
