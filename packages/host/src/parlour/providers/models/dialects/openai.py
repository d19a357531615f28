"""Dialect of OpenAI's chat completions and embeddings, which most other services have adopted."""

import hashlib
from collections.abc import Mapping, Sequence
from typing import Any

from parlour_sdk.protocol.content import ContentElement, MediaElement
from parlour_sdk.protocol.messages import Message
from parlour_sdk.protocol.models import Embed, InvokeModel, Rerank, ToolDefinition
from parlour_sdk.protocol.usage import Usage

from . import reasoning
from . import rerank as reranking
from .base import (
    CallTarget,
    ModelHttpRequest,
    ResponseChunk,
    ToolCallBuffer,
    ToolNameMap,
    entries,
    error_in_response,
    malformed,
    number,
    parameters,
    parse_usage,
    text_of,
    with_details,
)
from .common import content_text, data_address, mime_type, serialize_arguments, to_text, valid_arguments

MAX_KEY_CHARACTERS = 2000
JOINED_ROLES = ("user", "assistant")
DETAIL_TEXTS = ("text", "summary", "data")
FINISHES = {"function_call": "tool_calls", "max_tokens": "length", "eos": "stop"}


class OpenAI:
    def headers(self, key: str) -> dict[str, str]:
        return {"Authorization": f"Bearer {key}"} if key else {}

    def chat(self, target: CallTarget, request: InvokeModel, names: ToolNameMap, stream: bool) -> ModelHttpRequest:
        body: dict[str, Any] = {
            "model": target.model.name,
            "messages": _turns(request.messages, names, target),
            **({"prompt_cache_key": prompt_cache_key(request.messages)} if target.kind.caches_by_key else {}),
            **({"tools": [_tool(each, names) for each in request.tools]} if request.tools else {}),
            **({"stream_options": {"include_usage": True}} if stream else {}),
            **_parameters(target, request),
            "stream": stream,
        }
        # null values are left out, so that a parameter that a service does not know can be removed
        return ModelHttpRequest("/chat/completions", {name: value for name, value in body.items() if value is not None})

    def response_parser(self) -> "OpenAIResponseParser":
        return OpenAIResponseParser()

    def embed(self, target: CallTarget, request: Embed) -> ModelHttpRequest:
        body = {**target.model.parameters, "model": target.model.name, "input": request.texts}
        return ModelHttpRequest("/embeddings", {"encoding_format": "float", **body})

    def parse_embeddings(self, body: Any) -> tuple[list[list[float]], Usage | None]:
        embeddings = sorted(entries(body, "data"), key=lambda each: number(each, "index"))
        usage = body.get("usage") if isinstance(body, dict) else None
        vectors = [each["embedding"] for each in embeddings if isinstance(each.get("embedding"), list)]
        return vectors, parse_usage(usage, "prompt_tokens", "") if isinstance(usage, dict) else None

    def rerank(self, target: CallTarget, request: Rerank) -> ModelHttpRequest:
        return reranking.build_request(target, request)


class OpenAIResponseParser:
    def __init__(self) -> None:
        self.calls = ToolCallBuffer()
        self._details: dict[Any, dict[str, Any]] = {}

    def parse_event(self, event: Any) -> ResponseChunk:
        if not isinstance(event, dict):
            raise malformed("an event that is no object")
        _raise_for_error(event)
        choices = entries(event, "choices")
        choice = choices[0] if choices else {}
        return self._piece(event, choice, choice.get("delta"))

    def parse_whole(self, body: Any) -> ResponseChunk:
        _raise_for_error(body)
        choices = entries(body, "choices")
        if not choices:
            raise malformed("an answer without choices")
        return self._piece(body, choices[0], choices[0].get("message"))

    def _piece(self, event: Mapping[str, Any], choice: Mapping[str, Any], delta: Any) -> ResponseChunk:
        for index, call in enumerate(entries(delta, "tool_calls")):
            self._call(call, call.get("index", index))
        for detail in entries(delta, "reasoning_details"):
            self._detail(detail)
        finish = text_of(choice, "finish_reason")
        usage = event.get("usage") or choice.get("usage")
        return ResponseChunk(
            text=text_of(delta, "content"),
            reasoning=text_of(delta, "reasoning_content") or text_of(delta, "reasoning"),
            usage=_usage(usage) if isinstance(usage, dict) else None,
            finish_reason=FINISHES.get(finish, finish),
        )

    def _detail(self, detail: Mapping[str, Any]) -> None:
        """Adds a part of the reasoning that the service wants back; fragments of one part have the same index."""
        place = (detail.get("index", len(self._details)), text_of(detail, "type"))
        part = self._details.setdefault(place, {})
        for name, value in detail.items():
            is_fragment = name in DETAIL_TEXTS and isinstance(value, str) and isinstance(part.get(name), str)
            part[name] = part[name] + value if is_fragment else value if value is not None else part.get(name)

    @property
    def signed_reasoning(self) -> list[dict[str, Any]]:
        """The reasoning to send back with the tool calls, in the format of OpenRouter."""
        return list(self._details.values())

    def _call(self, call: Mapping[str, Any], number: Any) -> None:
        function, partial = call.get("function"), self.calls.at(number)
        partial.id = partial.id or text_of(call, "id")
        partial.name = partial.name or text_of(function, "name")
        arguments = function.get("arguments") if isinstance(function, dict) else None
        partial.arguments += (
            arguments if isinstance(arguments, str) else serialize_arguments(arguments) if arguments else ""
        )


def prompt_cache_key(messages: Sequence[Message]) -> str:
    """Returns a key that requests with the same beginning share, so that the service finds what it has cached."""
    beginning = [content_text(each.content)[:MAX_KEY_CHARACTERS] for each in messages[:2]]
    return hashlib.sha256("\n".join(beginning).encode(errors="replace")).hexdigest()[:32]


def _raise_for_error(data: Any) -> None:
    """Raises the error of a response.

    Some services report errors with a success status, and some in a format of their own.
    """
    if isinstance(data, dict) and data.get("error"):
        raise error_in_response(data["error"])
    message = text_of(data, "message") or text_of(data, "msg")
    if message and "choices" not in data:
        raise error_in_response(message)


def _usage(usage: Mapping[str, Any]) -> Usage:
    cached = number(usage.get("prompt_tokens_details"), "cached_tokens") or number(usage, "prompt_cache_hit_tokens")
    reasoning = number(usage.get("completion_tokens_details"), "reasoning_tokens")
    return with_details(parse_usage(usage, "prompt_tokens", "completion_tokens"), cached, reasoning)


def _parameters(target: CallTarget, request: InvokeModel) -> dict[str, Any]:
    options = parameters(target, request)
    limit = options.pop("max_tokens", None)
    return options if limit is None else {target.kind.limit_word: limit, **options}


def _tool(tool: ToolDefinition, names: ToolNameMap) -> dict[str, Any]:
    schema = tool.parameters_schema or {"type": "object", "properties": {}}
    function = {"name": names.wire(tool.name), "description": tool.description or "", "parameters": schema}
    return {"type": "function", "function": function}


def _turns(messages: Sequence[Message], names: ToolNameMap, target: CallTarget) -> list[dict[str, Any]]:
    """Builds the messages. Adjacent ones of one side are joined, because many templates need alternation."""
    turns: list[dict[str, Any]] = []
    for message in messages:
        turn, last = _message(message, names, target), turns[-1] if turns else {}
        if turn["role"] in JOINED_ROLES and last.get("role") == turn["role"] and "tool_calls" not in last:
            turns[-1] = {**last, **turn, "content": _joined(last["content"], turn["content"])}
        else:
            turns.append(turn)
    return turns


def _joined(first: Any, second: Any) -> Any:
    if not first or not second:
        return first or second
    if isinstance(first, str) and isinstance(second, str):
        return f"{first}\n\n{second}"
    return [*_as_parts(first), *_as_parts(second)]


def _as_parts(content: Any) -> list[dict[str, Any]]:
    return [{"type": "text", "text": content}] if isinstance(content, str) else list(content)


def _message(message: Message, names: ToolNameMap, target: CallTarget) -> dict[str, Any]:
    if message.role == "tool":
        return {"role": "tool", "tool_call_id": message.tool_call_id or "", "content": content_text(message.content)}
    turn: dict[str, Any] = {"role": message.role, "content": _content(message.content)}
    if message.tool_calls:
        turn["content"] = turn["content"] or None
        turn["tool_calls"] = [
            {
                "id": call.id,
                "type": "function",
                "function": {"name": names.wire(call.name), "arguments": valid_arguments(call.arguments)},
            }
            for call in message.tool_calls
        ]
        if target.kind.returns_reasoning and message.reasoning:
            turn["reasoning_content"] = message.reasoning
        if details := reasoning.from_message(message, target):
            turn["reasoning_details"] = details
    return turn


def _content(content: str | Sequence[ContentElement]) -> Any:
    """Returns the content as a string if it is only text, which every service accepts."""
    if isinstance(content, str):
        return content
    if not any(isinstance(each, MediaElement) and _is_taken(each) for each in content):
        return "".join(map(to_text, content))
    return [_part(element) for element in content]


def _is_taken(media: MediaElement) -> bool:
    return media.type in ("image", "audio") or (media.type == "file" and mime_type(media) == "application/pdf")


def _part(element: ContentElement) -> dict[str, Any]:
    if isinstance(element, MediaElement) and element.artifact_id is not None:
        return {"type": "text", "text": to_text(element)}
    if isinstance(element, MediaElement) and element.type == "image":
        return {"type": "image_url", "image_url": {"url": data_address(element)}}
    if isinstance(element, MediaElement) and element.type == "audio" and element.content_base64:
        format = mime_type(element).partition("/")[2].removeprefix("x-").replace("mpeg", "mp3")
        return {"type": "input_audio", "input_audio": {"data": element.content_base64, "format": format}}
    if isinstance(element, MediaElement) and element.content_base64 and _is_taken(element):
        return {"type": "file", "file": {"filename": element.name or "file.pdf", "file_data": data_address(element)}}
    return {"type": "text", "text": to_text(element)}
