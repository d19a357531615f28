"""Requests of OpenAI clients. Fields that change nothing here are ignored; those that would be silently wrong are
refused."""

import json
from collections.abc import Mapping
from typing import Any
from urllib.parse import urlsplit

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from ...errors import Problem

MAX_CONTEXT_BYTES = 64 * 1024
"""Bytes of a client's earlier messages that are handed over."""
_UNSUPPORTED_OPTIONS = (
    "tools",
    "functions",
    "logprobs",
    "top_logprobs",
    "audio",
    "web_search_options",
    "conversation",
    "prompt",
)
_IMAGE_PREFIX = "data:"


class OpenAiProblem(Problem):
    """A problem with the parameter that it is about."""

    def __init__(self, status: int, code: str, message: str, param: str = "") -> None:
        super().__init__(status, code, message, {"param": param} if param else None)


class StreamOptions(BaseModel):
    model_config = ConfigDict(extra="ignore")

    include_usage: bool | None = None


class CommonRequest(BaseModel):
    """Fields of both interfaces."""

    model_config = ConfigDict(extra="allow")

    model: str = Field(min_length=1, max_length=300)
    stream: bool | None = None
    user: str | None = Field(default=None, max_length=200)
    metadata: dict[str, Any] | None = None

    def refuse_unsupported(self) -> None:
        """Raises a problem if an option is set that agents can't follow."""
        given = self.model_extra or {}
        for name in _UNSUPPORTED_OPTIONS:
            if given.get(name):
                raise unsupported(name)
        if (given.get("n") or 1) != 1:
            raise unsupported("n")
        _refuse_format("response_format", given.get("response_format"))
        text = given.get("text")
        _refuse_format("text.format", text.get("format") if isinstance(text, dict) else None)
        if any(each != "text" for each in given.get("modalities") or ()):
            raise unsupported("modalities")

    def session(self, header: str) -> str:
        """Returns the client's name of the conversation; empty if it names none."""
        named = (self.metadata or {}).get("session_id")
        name = header or (named if isinstance(named, str) else "") or self.user or ""
        if len(name) > 200:
            raise OpenAiProblem(400, "invalid_value", "the session has more than 200 characters", "metadata.session_id")
        return name


class ChatRequest(CommonRequest):
    messages: list[dict[str, Any]] = Field(min_length=1, max_length=2000)
    stream_options: StreamOptions | None = None


class ResponsesRequest(CommonRequest):
    input: str | list[dict[str, Any]]
    previous_response_id: str | None = Field(default=None, max_length=100)
    background: bool | None = None


def unsupported(name: str) -> OpenAiProblem:
    message = f"'{name}' is not supported: the agent has its own tools, format and parameters; leave it out"
    return OpenAiProblem(400, "unsupported_parameter", message, name)


def parse_body(body: bytes, kind: type[CommonRequest]) -> Any:
    """Parses a request; raises a problem that names the field that is wrong."""
    try:
        data = json.loads(body)
    except (ValueError, RecursionError):
        raise OpenAiProblem(400, "invalid_json", "the body is not JSON") from None
    try:
        request = kind.model_validate(data)
    except ValidationError as error:
        first = error.errors(include_url=False, include_input=False)[0]
        field = ".".join(str(part) for part in first["loc"]) or "body"
        raise OpenAiProblem(400, "invalid_value", f"{field}: {first['msg']}", field) from None
    request.refuse_unsupported()
    return request


def event_input(messages: list[dict[str, Any]], in_session: bool, param: str) -> dict[str, Any]:
    """Returns the input of the event: the last message of the user.

    Without a session, the client's earlier messages come before it as quotes. They are what the client says about the
    past, and not stored as if somebody had written them here.
    """
    conversation = [each for each in messages if each.get("role") in ("user", "assistant")]
    if not conversation or conversation[-1].get("role") != "user":
        raise OpenAiProblem(400, "invalid_value", f"{param}: the last message must have the role 'user'", param)
    text, contents = _read_content(conversation[-1].get("content"), param)
    if not text.strip() and not contents:
        raise OpenAiProblem(400, "invalid_value", f"{param}: the last message has neither text nor files", param)
    earlier = [] if in_session else _quotes(conversation[:-1], param)
    if not earlier and not contents:
        return {"text": text}
    own = [{"type": "text", "text": text}] if text else []
    return {"text": text, "contents": [*earlier, *own, *contents]}


def _quotes(messages: list[dict[str, Any]], param: str) -> list[dict[str, Any]]:
    """Returns the newest earlier messages that fit into the limit, in their order."""
    quotes: list[dict[str, Any]] = []
    left = MAX_CONTEXT_BYTES
    for message in reversed(messages):
        text, _ = _read_content(message.get("content"), param)
        left -= len(text.encode(errors="replace"))
        if left < 0:
            break
        if text:
            quotes.append({"type": "quote", "sender": message["role"], "contents": [{"type": "text", "text": text}]})
    return quotes[::-1]


def _read_content(content: Any, param: str) -> tuple[str, list[dict[str, Any]]]:
    """Returns the text and the files of a message."""
    if isinstance(content, str) or content is None:
        return content or "", []
    if not isinstance(content, list) or not all(isinstance(part, dict) for part in content):
        raise OpenAiProblem(400, "invalid_value", f"{param}: content must be a text or a list of parts", param)
    texts: list[str] = []
    files: list[dict[str, Any]] = []
    for part in content:
        match part.get("type"):
            case "text" | "input_text" | "output_text":
                texts.append(str(part.get("text") or ""))
            case "image_url" | "input_image":
                image = part.get("image_url")
                files.append(_linked("image", image.get("url") if isinstance(image, dict) else image, param))
            case "file" | "input_file":
                files.append(_file(part.get("file") or part, param))
            case "input_audio":
                files.append(_audio(part.get("input_audio"), param))
            case other:
                raise OpenAiProblem(400, "invalid_value", f"{param}: a part has the unknown type '{other}'", param)
    return "\n".join(texts), files


def _linked(kind: str, url: Any, param: str, name: str | None = None) -> dict[str, Any]:
    """Returns a file that is given by its link, or by its bytes in a `data:` link."""
    named = {"name": name} if name else {}
    if isinstance(url, str) and url.startswith(_IMAGE_PREFIX):
        header, _, content = url.removeprefix(_IMAGE_PREFIX).partition(",")
        mime_type, _, encoding = header.partition(";")
        if encoding == "base64" and content:
            return {
                "type": kind,
                "mime_type": mime_type or "application/octet-stream",
                "content_base64": content,
            } | named
    elif isinstance(url, str) and urlsplit(url).scheme in ("http", "https"):
        return {"type": kind, "url": url} | named
    raise OpenAiProblem(400, "invalid_value", f"{param}: a file must be a link, or a data: link with base64", param)


def _file(file: Mapping[str, Any], param: str) -> dict[str, Any]:
    name = file.get("filename")
    if file.get("file_id"):
        return {"type": "file", "artifact_id": str(file["file_id"])}
    data = file.get("file_data") or file.get("file_url")
    if isinstance(data, str) and file.get("file_data") and not data.startswith(_IMAGE_PREFIX):
        data = f"data:application/octet-stream;base64,{data}"
    return _linked("file", data, param, name if isinstance(name, str) else None)


def _audio(audio: Any, param: str) -> dict[str, Any]:
    if not isinstance(audio, dict) or not audio.get("data"):
        raise OpenAiProblem(400, "invalid_value", f"{param}: input_audio needs data and format", param)
    return {"type": "audio", "mime_type": f"audio/{audio.get('format', 'wav')}", "content_base64": str(audio["data"])}


def _refuse_format(name: str, wanted: Any) -> None:
    if isinstance(wanted, dict) and wanted.get("type", "text") != "text":
        raise unsupported(name)
