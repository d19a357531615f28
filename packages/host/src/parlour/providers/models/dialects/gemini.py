"""Dialect of Gemini's generateContent API."""

from collections.abc import Mapping, Sequence
from typing import Any
from urllib.parse import quote

from parlour_sdk.protocol.content import ContentElement, MediaElement
from parlour_sdk.protocol.messages import Message
from parlour_sdk.protocol.models import Embed, InvokeModel, Rerank
from parlour_sdk.protocol.usage import Usage

from . import reasoning as thoughts
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
    text_of,
    with_details,
)
from .common import as_object, content_text, mime_type, parse_arguments, serialize_arguments, to_text

FINISHES = {"STOP": "stop", "MAX_TOKENS": "length"}
FILTERED = ("SAFETY", "RECITATION", "BLOCKLIST", "PROHIBITED_CONTENT", "SPII", "IMAGE_SAFETY", "LANGUAGE")
_SETTINGS = {
    "temperature": "temperature",
    "top_p": "topP",
    "top_k": "topK",
    "max_tokens": "maxOutputTokens",
    "stop": "stopSequences",
    "seed": "seed",
    "presence_penalty": "presencePenalty",
    "frequency_penalty": "frequencyPenalty",
}
_MODES = {"auto": "AUTO", "required": "ANY", "none": "NONE"}
MISSING_SIGNATURE = "skip_thought_signature_validator"
"""Placeholder for a missing signature: newer models require the signature of the reasoning behind a call."""


class Gemini:
    def headers(self, key: str) -> dict[str, str]:
        return {"x-goog-api-key": key} if key else {}

    def chat(self, target: CallTarget, request: InvokeModel, names: ToolNameMap, stream: bool) -> ModelHttpRequest:
        body: dict[str, Any] = {"contents": _turns(target, request.messages, names), **_parameters(target, request)}
        system = [content_text(each.content) for each in request.messages if each.role == "system"]
        if system:
            body["systemInstruction"] = {"parts": [{"text": "\n\n".join(system)}]}
        if request.tools:
            declared = [
                {
                    "name": names.wire(each.name),
                    "description": each.description or "",
                    **({"parametersJsonSchema": each.parameters_schema} if each.parameters_schema else {}),
                }
                for each in request.tools
            ]
            body["tools"] = [{"functionDeclarations": declared}]
        verb = "streamGenerateContent?alt=sse" if stream else "generateContent"
        return ModelHttpRequest(f"{_model(target)}:{verb}", body)

    def response_parser(self) -> "GeminiResponseParser":
        return GeminiResponseParser()

    def embed(self, target: CallTarget, request: Embed) -> ModelHttpRequest:
        model_path = f"models/{target.model.name}"
        requests = [
            {**target.model.parameters, "model": model_path, "content": {"parts": [{"text": text}]}}
            for text in request.texts
        ]
        return ModelHttpRequest(f"{_model(target)}:batchEmbedContents", {"requests": requests})

    def parse_embeddings(self, body: Any) -> tuple[list[list[float]], Usage | None]:
        embeddings = entries(body, "embeddings")
        return [each["values"] for each in embeddings if isinstance(each.get("values"), list)], None

    def rerank(self, target: CallTarget, request: Rerank) -> ModelHttpRequest:
        raise not_supported("rerank")


class GeminiResponseParser:
    def __init__(self) -> None:
        self.calls = ToolCallBuffer()
        self.signed_reasoning: list[dict[str, Any]] = []

    def parse_event(self, event: Any) -> ResponseChunk:
        if not isinstance(event, dict):
            raise malformed("an event that is no object")
        if event.get("error"):
            raise error_in_response(event["error"])
        candidates = entries(event, "candidates")
        usage = event.get("usageMetadata")
        piece = ResponseChunk(usage=_usage(usage) if isinstance(usage, dict) else None)
        if not candidates and text_of(event.get("promptFeedback"), "blockReason"):
            piece.finish_reason = "content_filter"
        for part in entries(candidates[0].get("content"), "parts") if candidates else ():
            piece.add(self._part(part))
        reason = text_of(candidates[0], "finishReason") if candidates else ""
        if reason:
            finish_reason = "content_filter" if reason in FILTERED else FINISHES.get(reason, reason.lower())
            piece.finish_reason = "tool_calls" if finish_reason == "stop" and len(self.calls) else finish_reason
        return piece

    def parse_whole(self, body: Any) -> ResponseChunk:
        if not isinstance(body, dict) or not ("candidates" in body or "promptFeedback" in body or "error" in body):
            raise malformed("an answer without candidates")
        return self.parse_event(body)

    def _part(self, part: Mapping[str, Any]) -> ResponseChunk:
        function_call = part.get("functionCall")
        if isinstance(function_call, dict):
            call = self.calls.at(len(self.calls))
            call.id, call.name = text_of(function_call, "id"), text_of(function_call, "name")
            call.arguments = serialize_arguments(function_call.get("args"))
            if signature := text_of(part, "thoughtSignature"):
                self.signed_reasoning.append({"call": len(self.calls) - 1, "signature": signature})
            return ResponseChunk()
        text = text_of(part, "text")
        return ResponseChunk(reasoning=text) if part.get("thought") else ResponseChunk(text)


def _model(target: CallTarget) -> str:
    return f"/v1beta/models/{quote(target.model.name.removeprefix('models/'), safe='')}"


def _usage(usage: Mapping[str, Any]) -> Usage:
    """Converts the usage. Reasoning is counted separately from the answer and billed like it."""
    thoughts = number(usage, "thoughtsTokenCount")
    total = Usage(
        prompt_tokens=number(usage, "promptTokenCount") + number(usage, "toolUsePromptTokenCount"),
        completion_tokens=number(usage, "candidatesTokenCount") + thoughts,
    )
    return with_details(total, number(usage, "cachedContentTokenCount"), thoughts)


def _parameters(target: CallTarget, request: InvokeModel) -> dict[str, Any]:
    options = parameters(target, request)
    settings = {_SETTINGS[name]: options.pop(name) for name in list(options) if name in _SETTINGS}
    if isinstance(settings.get("stopSequences"), str):
        settings["stopSequences"] = [settings["stopSequences"]]
    match options.pop("response_format", None):
        case {"type": "json_schema", "json_schema": {"schema": schema}}:
            settings |= {"responseMimeType": "application/json", "responseJsonSchema": schema}
        case {"type": "json_object"}:
            settings["responseMimeType"] = "application/json"
    mode = options.pop("tool_choice", None)
    if isinstance(mode, str) and mode in _MODES:
        options["toolConfig"] = {"functionCallingConfig": {"mode": _MODES[mode]}}
    settings |= options.pop("generationConfig", {})
    return {**options, **({"generationConfig": settings} if settings else {})}


def _turns(target: CallTarget, messages: Sequence[Message], names: ToolNameMap) -> list[dict[str, Any]]:
    """Builds the turns. A tool result is labelled with the name of the call that it answers."""
    turns: list[dict[str, Any]] = []
    asked_for: dict[str, str] = {}
    for message in messages:
        if message.role == "system":
            continue
        asked_for |= {call.id: names.wire(call.name) for call in message.tool_calls or ()}
        role = "model" if message.role == "assistant" else "user"
        is_result = message.role == "tool"
        parts = [_result(message, asked_for, names)] if is_result else _parts(target, message, names)
        if turns and turns[-1]["role"] == role:
            turns[-1]["parts"] += parts
        elif parts:
            turns.append({"role": role, "parts": parts})
    return turns


def _result(message: Message, asked_for: Mapping[str, str], names: ToolNameMap) -> dict[str, Any]:
    name = asked_for.get(message.tool_call_id or "") or names.wire(message.name or "tool")
    text = content_text(message.content)
    value = parse_arguments(text)
    failed = (message.metadata or {}).get("is_error") is True
    response = {"error": text} if failed else value if isinstance(value, dict) and value else {"output": text}
    return {"functionResponse": {"name": name, "response": response}}


def _parts(target: CallTarget, message: Message, names: ToolNameMap) -> list[dict[str, Any]]:
    content = message.content
    parts: list[dict[str, Any]] = [{"text": content}] if isinstance(content, str) and content else []
    parts += [] if isinstance(content, str) else [_part(each) for each in content]
    calls: list[dict[str, Any]] = [
        {"functionCall": {"name": names.wire(call.name), "args": as_object(call.arguments)}}
        for call in message.tool_calls or ()
    ]
    if calls:
        calls[0]["thoughtSignature"] = MISSING_SIGNATURE
    for signed in thoughts.from_message(message, target):
        if number(signed, "call") < len(calls):
            calls[number(signed, "call")]["thoughtSignature"] = text_of(signed, "signature")
    return parts + calls


def _part(element: ContentElement) -> dict[str, Any]:
    if not isinstance(element, MediaElement) or element.artifact_id is not None:
        return {"text": to_text(element)}
    if element.url:
        return {"fileData": {"mimeType": mime_type(element), "fileUri": element.url}}
    return {"inlineData": {"mimeType": mime_type(element), "data": element.content_base64}}
