"""Dialect of Anthropic's messages API."""

from collections.abc import Sequence
from typing import Any

from parlour_sdk.protocol.content import ContentElement, MediaElement
from parlour_sdk.protocol.messages import Message
from parlour_sdk.protocol.models import Embed, InvokeModel, Rerank
from parlour_sdk.protocol.usage import Usage

from . import reasoning
from .base import (
    DEFAULT_MAX_OUTPUT_TOKENS,
    CallTarget,
    ModelHttpRequest,
    ResponseChunk,
    ToolCallBuffer,
    ToolNameMap,
    entries,
    error_in_response,
    malformed,
    not_supported,
    number,
    parameters,
    text_of,
    with_details,
)
from .common import as_object, content_text, mime_type, serialize_arguments, to_text

VERSION = "2023-06-01"
FINISHES = {
    "end_turn": "stop",
    "stop_sequence": "stop",
    "pause_turn": "stop",
    "max_tokens": "length",
    "model_context_window_exceeded": "length",
    "tool_use": "tool_calls",
    "refusal": "content_filter",
}
_PARAMETER_NAMES = {"stop": "stop_sequences"}
_UNKNOWN = ("seed", "n", "presence_penalty", "frequency_penalty", "reasoning_effort", "logprobs")
"""Parameters of other services that this one would refuse."""
THINKING = {"thinking": ("type", "thinking", "signature"), "redacted_thinking": ("type", "data")}
"""Blocks that are sent back unchanged, with their fields."""
CACHE = {"type": "ephemeral"}
CACHED_TURNS = 2
USUAL_ANSWER_TOKENS = 8192
"""Longest answer without a limit of the agent or the model's own parameters; a cut answer is continued once."""
TOOL_ERROR = "is_error"
"""Key in the metadata of a message of role `tool`: the tool failed."""
JSON_ONLY = "Answer with one JSON object and nothing else."


class Anthropic:
    def headers(self, key: str) -> dict[str, str]:
        return {"x-api-key": key, "anthropic-version": VERSION}

    def chat(self, target: CallTarget, request: InvokeModel, names: ToolNameMap, stream: bool) -> ModelHttpRequest:
        options = parameters(target, request)
        system = [content_text(each.content) for each in request.messages if each.role == "system"]
        output, instructions = _output(options.pop("response_format", None))
        body: dict[str, Any] = {
            "model": target.model.name,
            "max_tokens": _answer_tokens(target, options),
            "messages": _turns(target, request.messages, names),
            **output,
            **_parameters(options, names),
            "stream": stream,
        }
        if system or instructions:
            body["system"] = [_text("\n\n".join([*system, *instructions]))]
        if request.tools:
            body["tools"] = [
                {
                    "name": names.wire(each.name),
                    "description": each.description or "",
                    "input_schema": each.parameters_schema or {"type": "object", "properties": {}},
                }
                for each in request.tools
            ]
        _mark_cached(body)
        return ModelHttpRequest("/v1/messages", body)

    def response_parser(self) -> "AnthropicResponseParser":
        return AnthropicResponseParser()

    def embed(self, target: CallTarget, request: Embed) -> ModelHttpRequest:
        raise not_supported("embedding")

    def parse_embeddings(self, body: Any) -> tuple[list[list[float]], Usage | None]:
        raise not_supported("embedding")

    def rerank(self, target: CallTarget, request: Rerank) -> ModelHttpRequest:
        raise not_supported("rerank")


class AnthropicResponseParser:
    def __init__(self) -> None:
        self.calls = ToolCallBuffer()
        self._usage_fields: dict[str, Any] = {}
        self._thoughts: dict[Any, dict[str, Any]] = {}

    @property
    def signed_reasoning(self) -> list[dict[str, Any]]:
        return [each for each in self._thoughts.values() if each.get("signature") or each.get("data")]

    def parse_event(self, event: Any) -> ResponseChunk:
        match event:
            case {"type": "message_start", "message": {"usage": dict() as usage}}:
                self._usage_fields.update(usage)
            case {"type": "content_block_start", "index": index, "content_block": block}:
                return self._block(block, index)
            case {"type": "content_block_delta", "index": index, "delta": {"type": "input_json_delta"} as delta}:
                self.calls.at(index).arguments += text_of(delta, "partial_json")
            case {"type": "content_block_delta", "index": index, "delta": {"type": "signature_delta"} as delta}:
                self._think(index, "signature", text_of(delta, "signature"))
            case {"type": "content_block_delta", "index": index, "delta": {"type": "thinking_delta"} as delta}:
                self._think(index, "thinking", text_of(delta, "thinking"))
                return ResponseChunk(reasoning=text_of(delta, "thinking"))
            case {"type": "content_block_delta", "delta": delta}:
                return ResponseChunk(text_of(delta, "text"))
            case {"type": "message_delta", "delta": delta}:
                usage = event.get("usage")
                self._usage_fields.update(usage if isinstance(usage, dict) else {})
                return ResponseChunk(usage=self._usage(), finish_reason=_finish(delta))
            case {"type": "message_stop"}:
                return ResponseChunk(done=True)
            case {"type": "error", "error": error}:
                raise error_in_response(error)
            case dict():
                pass
            case _:
                raise malformed("an event that is no object")
        return ResponseChunk()

    def parse_whole(self, body: Any) -> ResponseChunk:
        if not isinstance(body, dict) or "content" not in body:
            raise malformed("an answer without content")
        self._usage_fields.update(body.get("usage") or {})
        piece = ResponseChunk(usage=self._usage(), finish_reason=_finish(body))
        for index, block in enumerate(entries(body, "content")):
            piece.add(self._block(block, index))
        return piece

    def _block(self, block: Any, index: Any) -> ResponseChunk:
        kind = text_of(block, "type")
        if kind in THINKING:
            self._thoughts[index] = {name: block[name] for name in THINKING[kind] if name in block}
        if kind != "tool_use":
            return ResponseChunk(text_of(block, "text"), text_of(block, "thinking"))
        call = self.calls.at(index)
        call.id, call.name = text_of(block, "id"), text_of(block, "name")
        call.arguments = serialize_arguments(block["input"]) if block.get("input") else ""
        return ResponseChunk()

    def _think(self, index: Any, name: str, text: str) -> None:
        if index in self._thoughts:
            self._thoughts[index][name] = text_of(self._thoughts[index], name) + text

    def _usage(self) -> Usage:
        cached = number(self._usage_fields, "cache_read_input_tokens")
        prompt = (
            number(self._usage_fields, "input_tokens")
            + number(self._usage_fields, "cache_creation_input_tokens")
            + cached
        )
        usage = Usage(prompt_tokens=prompt, completion_tokens=number(self._usage_fields, "output_tokens"))
        return with_details(usage, cached, 0)


def _answer_tokens(target: CallTarget, options: dict[str, Any]) -> int:
    """Returns the longest answer. A service reserves it, so the whole ability of a model is used only for reasoning."""
    most = target.model.max_output_tokens or DEFAULT_MAX_OUTPUT_TOKENS
    return most if options.get("thinking") else min(most, USUAL_ANSWER_TOKENS)


def _mark_cached(body: dict[str, Any]) -> None:
    """Marks the ends of what later requests begin with: tools, instructions, and the last two turns of the user."""
    users = [turn["content"] for turn in body["messages"] if turn["role"] == "user"]
    for blocks in (body.get("tools"), body.get("system"), *users[-CACHED_TURNS:]):
        if blocks and blocks[-1].get("text") != "":
            blocks[-1] = {**blocks[-1], "cache_control": CACHE}


def _finish(body: Any) -> str:
    reason = text_of(body, "stop_reason")
    return FINISHES.get(reason, reason)


def _parameters(options: dict[str, Any], names: ToolNameMap) -> dict[str, Any]:
    named = {_PARAMETER_NAMES.get(name, name): value for name, value in options.items() if name not in _UNKNOWN}
    if isinstance(named.get("stop_sequences"), str):
        named["stop_sequences"] = [named["stop_sequences"]]
    choice = named.get("tool_choice")
    if isinstance(choice, str):
        named["tool_choice"] = {"type": {"required": "any"}.get(choice, choice)}
    elif isinstance(choice, dict) and "function" in choice:
        named["tool_choice"] = {"type": "tool", "name": names.wire(text_of(choice["function"], "name"))}
    return named


def _output(response_format: Any) -> tuple[dict[str, Any], list[str]]:
    """Converts the response format: a schema has its own field, while plain JSON output is requested in the system
    prompt.
    """
    match response_format:
        case {"type": "json_schema", "json_schema": {"schema": schema}}:
            return {"output_config": {"format": {"type": "json_schema", "schema": schema}}}, []
        case {"type": "json_object"}:
            return {}, [JSON_ONLY]
        case _:
            return {}, []


def _turns(target: CallTarget, messages: Sequence[Message], names: ToolNameMap) -> list[dict[str, Any]]:
    """Builds alternating turns: adjacent messages of one side are joined; tool results belong to the user's side."""
    turns: list[dict[str, Any]] = []
    for message in messages:
        if message.role == "system":
            continue
        role = "assistant" if message.role == "assistant" else "user"
        blocks = [*(reasoning.from_message(message, target) if message.tool_calls else ()), *_blocks(message, names)]
        if turns and turns[-1]["role"] == role:
            turns[-1]["content"] += blocks
        elif blocks:
            turns.append({"role": role, "content": blocks})
    return turns


def _blocks(message: Message, names: ToolNameMap) -> list[dict[str, Any]]:
    if message.role == "tool":
        answer = {
            "type": "tool_result",
            "tool_use_id": message.tool_call_id or "",
            "content": content_text(message.content),
        }
        return [{**answer, "is_error": True} if (message.metadata or {}).get(TOOL_ERROR) is True else answer]
    content = message.content
    blocks = [_text(content)] if isinstance(content, str) and content else []
    blocks += [] if isinstance(content, str) else [_part(each) for each in content]
    blocks += [
        {"type": "tool_use", "id": call.id, "name": names.wire(call.name), "input": as_object(call.arguments)}
        for call in message.tool_calls or ()
    ]
    return blocks


def _text(text: str) -> dict[str, Any]:
    return {"type": "text", "text": text}


def _part(element: ContentElement) -> dict[str, Any]:
    if not isinstance(element, MediaElement) or element.artifact_id is not None:
        return _text(to_text(element))
    kind = {"image": "image", "file": "document"}.get(element.type, "")
    if not kind or (kind == "document" and mime_type(element) != "application/pdf"):
        return _text(to_text(element))
    if element.url:
        return {"type": kind, "source": {"type": "url", "url": element.url}}
    source = {"type": "base64", "media_type": mime_type(element), "data": element.content_base64}
    return {"type": kind, "source": source}
