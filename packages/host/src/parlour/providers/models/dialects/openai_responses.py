"""Dialect of OpenAI's Responses API, which keeps the reasoning of a model across its tool calls.

Nothing is stored at the service: reasoning items come encrypted with the answer and go back with its calls.
"""

from collections.abc import Mapping, Sequence
from typing import Any

from parlour_sdk.protocol.content import ContentElement, MediaElement
from parlour_sdk.protocol.messages import Message
from parlour_sdk.protocol.models import Embed, InvokeModel, Rerank
from parlour_sdk.protocol.usage import Usage

from . import reasoning
from .base import (
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
    parse_usage,
    text_of,
    with_details,
)
from .common import content_text, data_address, mime_type, to_text, valid_arguments
from .openai import prompt_cache_key

LIMIT_WORD = "max_output_tokens"
INCOMPLETE = {"max_output_tokens": "length", "content_filter": "content_filter"}
NOT_SUPPORTED = ("stop", "seed", "n", "presence_penalty", "frequency_penalty", "logit_bias")
"""Parameters of the older API that this one would refuse."""


class OpenAIResponses:
    def headers(self, key: str) -> dict[str, str]:
        return {"Authorization": f"Bearer {key}"} if key else {}

    def chat(self, target: CallTarget, request: InvokeModel, names: ToolNameMap, stream: bool) -> ModelHttpRequest:
        instructions = [content_text(each.content) for each in request.messages if each.role == "system"]
        body: dict[str, Any] = {
            "model": target.model.name,
            "input": [item for each in request.messages for item in _items(each, target, names)],
            "store": False,
            "prompt_cache_key": prompt_cache_key(request.messages),
            **_parameters(parameters(target, request), names),
            "stream": stream,
        }
        if "reasoning" in target.model.abilities:
            body["include"] = ["reasoning.encrypted_content"]
        if instructions:
            body["instructions"] = "\n\n".join(instructions)
        if request.tools:
            body["tools"] = [
                {
                    "type": "function",
                    "name": names.wire(each.name),
                    "description": each.description or "",
                    "parameters": each.parameters_schema or {"type": "object", "properties": {}},
                    "strict": False,
                }
                for each in request.tools
            ]
        return ModelHttpRequest("/responses", {name: value for name, value in body.items() if value is not None})

    def response_parser(self) -> "OpenAIResponsesParser":
        return OpenAIResponsesParser()

    def embed(self, target: CallTarget, request: Embed) -> ModelHttpRequest:
        raise not_supported("embedding")

    def parse_embeddings(self, body: Any) -> tuple[list[list[float]], Usage | None]:
        raise not_supported("embedding")

    def rerank(self, target: CallTarget, request: Rerank) -> ModelHttpRequest:
        raise not_supported("rerank")


class OpenAIResponsesParser:
    def __init__(self) -> None:
        self.calls = ToolCallBuffer()
        self.signed_reasoning: list[dict[str, Any]] = []

    def parse_event(self, event: Any) -> ResponseChunk:
        match event:
            case {"type": "response.output_text.delta" | "response.refusal.delta"}:
                return ResponseChunk(text_of(event, "delta"))
            case {"type": "response.reasoning_summary_text.delta" | "response.reasoning_text.delta"}:
                return ResponseChunk(reasoning=text_of(event, "delta"))
            case {"type": "response.reasoning_summary_part.done"}:
                return ResponseChunk(reasoning="\n\n")
            case {"type": "response.output_item.done", "item": dict() as item}:
                self._item(item, event.get("output_index"))
            case {"type": "response.completed" | "response.incomplete", "response": dict() as response}:
                return ResponseChunk(usage=_usage(response), finish_reason=_finish(response), done=True)
            case {"type": "response.failed", "response": dict() as response}:
                raise error_in_response(response.get("error"))
            case {"type": "error"}:
                raise error_in_response(event.get("error") or event)
            case dict():
                pass
            case _:
                raise malformed("an event that is no object")
        return ResponseChunk()

    def parse_whole(self, body: Any) -> ResponseChunk:
        if isinstance(body, dict) and body.get("error"):
            raise error_in_response(body["error"])
        if not isinstance(body, dict) or "output" not in body:
            raise malformed("an answer without output")
        piece = ResponseChunk(usage=_usage(body), finish_reason=_finish(body))
        for index, item in enumerate(entries(body, "output")):
            self._item(item, index)
            for part in entries(item, "content"):
                piece.text += text_of(part, "text") or text_of(part, "refusal")
            piece.reasoning += "\n\n".join(text_of(part, "text") for part in entries(item, "summary"))
        return piece

    def _item(self, item: Mapping[str, Any], index: Any) -> None:
        kind = text_of(item, "type")
        if kind == "function_call":
            call = self.calls.at(index)
            call.id, call.name = text_of(item, "call_id"), text_of(item, "name")
            call.arguments = text_of(item, "arguments")
        elif kind == "reasoning" and item.get("encrypted_content"):
            kept = {name: item[name] for name in ("type", "summary", "encrypted_content") if name in item}
            self.signed_reasoning.append(kept)


def _usage(response: Mapping[str, Any]) -> Usage | None:
    usage = response.get("usage")
    if not isinstance(usage, dict):
        return None
    cached = number(usage.get("input_tokens_details"), "cached_tokens")
    thought = number(usage.get("output_tokens_details"), "reasoning_tokens")
    return with_details(parse_usage(usage, "input_tokens", "output_tokens"), cached, thought)


def _finish(response: Mapping[str, Any]) -> str:
    reason = text_of(response.get("incomplete_details"), "reason")
    return INCOMPLETE.get(reason, reason or "stop")


def _parameters(options: dict[str, Any], names: ToolNameMap) -> dict[str, Any]:
    kept = {name: value for name, value in options.items() if name not in NOT_SUPPORTED}
    for older in ("max_tokens", "max_completion_tokens"):
        if (limit := kept.pop(older, None)) is not None:
            kept[LIMIT_WORD] = limit
    if effort := kept.pop("reasoning_effort", None):
        kept["reasoning"] = {"effort": effort, **(kept.get("reasoning") or {})}
    match kept.pop("response_format", None):
        case {"type": "json_schema", "json_schema": dict() as schema}:
            kept["text"] = {"format": {"type": "json_schema", **schema}}
        case {"type": "json_object"}:
            kept["text"] = {"format": {"type": "json_object"}}
    choice = kept.get("tool_choice")
    if isinstance(choice, dict) and "function" in choice:
        kept["tool_choice"] = {"type": "function", "name": names.wire(text_of(choice["function"], "name"))}
    return kept


def _items(message: Message, target: CallTarget, names: ToolNameMap) -> list[dict[str, Any]]:
    if message.role == "system":
        return []
    if message.role == "tool":
        output = content_text(message.content)
        return [{"type": "function_call_output", "call_id": message.tool_call_id or "", "output": output}]
    is_answer = message.role == "assistant"
    items = list(reasoning.from_message(message, target)) if message.tool_calls else []
    content = _content(message.content, is_answer)
    items += [{"role": message.role, "content": content}] if content else []
    items += [
        {
            "type": "function_call",
            "call_id": call.id,
            "name": names.wire(call.name),
            "arguments": valid_arguments(call.arguments),
        }
        for call in message.tool_calls or ()
    ]
    return items


def _content(content: str | Sequence[ContentElement], is_answer: bool) -> Any:
    if isinstance(content, str):
        return content
    return "".join(map(to_text, content)) if is_answer else [_part(each) for each in content]


def _part(element: ContentElement) -> dict[str, Any]:
    if not isinstance(element, MediaElement) or element.artifact_id is not None:
        return {"type": "input_text", "text": to_text(element)}
    if element.type == "image":
        return {"type": "input_image", "image_url": data_address(element)}
    if element.type == "file" and mime_type(element) == "application/pdf":
        if element.url:
            return {"type": "input_file", "file_url": element.url}
        return {"type": "input_file", "filename": element.name or "file.pdf", "file_data": data_address(element)}
    return {"type": "input_text", "text": to_text(element)}
