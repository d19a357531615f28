"""Reads the events of Coze's chats: fragments, whole messages, tools, suggestions and errors."""

import json
from collections.abc import Iterable, Mapping
from typing import Any

from parlour_sdk.agents import http_agent as http

REASONS: Mapping[int, http.FailureReason] = {4100: "auth", 4101: "auth", 4013: "rate_limited", 4028: "upstream"}
"""Reasons of codes whose HTTP status says nothing."""


class CozeReader(http.EventReader):
    def __init__(self) -> None:
        self._message = ""
        self._suggestions: list[str] = []
        self._is_complete = False

    def read(self, event: http.ServerEvent) -> Iterable[http.Update] | None:
        match event.name:
            case "conversation.chat.created" | "conversation.chat.in_progress":
                chat = event.json_object()
                return [http.TaskNamed(str(chat["id"])), http.SessionNamed(str(chat["conversation_id"]))]
            case "conversation.message.delta":
                return self._delta(event.json_object())
            case "conversation.message.completed":
                return self._completed(event.json_object())
            case "conversation.chat.completed":
                return self._end(event.json_object())
            case "conversation.chat.failed":
                problem = event.json_object().get("last_error") or {}
                raise failure(problem)
            case "conversation.chat.requires_action":
                raise http.ServiceFailure("upstream", "the bot calls a tool of its client, which is not supported here")
            case "error":
                raise failure(event.json_object())
            case "done":
                return [http.StreamEnd()]
            case "conversation.audio.delta":
                return []
        event.json()
        return None

    def finish(self) -> Iterable[http.Update]:
        return [http.StreamEnd()] if self._is_complete else ()

    def _delta(self, message: Mapping[str, Any]) -> list[http.Update]:
        updates: list[http.Update] = []
        if message.get("reasoning_content"):
            updates.append(http.ThinkingDelta(str(message["reasoning_content"])))
        if message.get("type") == "answer" and message.get("content"):
            updates += [*self._begin(message), http.AnswerDelta(str(message["content"]))]
        return updates

    def _completed(self, message: Mapping[str, Any]) -> list[http.Update]:
        content = str(message.get("content") or "")
        match message.get("type"):
            case "answer" if message.get("content_type") == "card":
                return [*self._begin(message), http.AnswerMetadata({"card": content})]
            case "answer" if content:
                return [*self._begin(message), *_answer(content, str(message.get("content_type")))]
            case "function_call":
                call = _object(content)
                parameters = call.get("arguments")
                return [http.ToolStart(str(message["id"]), str(call.get("name") or "tool"), parameters)]
            case "tool_output" | "tool_response":
                return [http.ToolEnd(str(message["id"]), "tool", content)]
            case "follow_up":
                self._suggestions.append(content)
        return []

    def _begin(self, message: Mapping[str, Any]) -> list[http.Update]:
        """Ends the message before this one; a chat may have several answers."""
        before, self._message = self._message, str(message.get("id") or "")
        return [http.AnswerEnd()] if before and before != self._message else []

    def _end(self, chat: Mapping[str, Any]) -> list[http.Update]:
        self._is_complete = True
        report = http.usage_report(chat.get("usage"), "input_count", "output_count")
        return [*report, http.Suggestions(tuple(self._suggestions))]


def failure(problem: Mapping[str, Any], log_id: str = "") -> http.ServiceFailure:
    """Returns the failure that Coze describes by code and message."""
    code, message = int(problem.get("code") or 0), str(problem.get("msg") or "")
    lowered = message.lower()
    detail = f"{code}: {message}" + (f" (log {log_id})" if log_id else "")
    if "conversation" in lowered and any(word in lowered for word in ("not exist", "not found", "invalid")):
        return http.ServiceFailure("session_unknown", detail)
    return http.ServiceFailure(REASONS.get(code, "upstream"), detail)


def _answer(content: str, content_type: str) -> list[http.Update]:
    """Returns a whole answer; one of several parts is a JSON text."""
    parts = _list(content) if content_type == "object_string" else []
    if not parts:
        return [http.AnswerText(content)]
    texts = [str(part.get("text") or "") for part in parts if part.get("type") == "text"]
    files = [part for part in parts if part.get("file_url")]
    kinds = {"image": "image", "audio": "audio"}
    return [
        http.AnswerText("".join(texts)),
        *(
            http.AnswerFile(
                str(part.get("name") or str(part["file_url"]).partition("?")[0].rpartition("/")[2] or "file"),
                url=str(part["file_url"]),
                kind=kinds.get(str(part.get("type")), "file"),
            )
            for part in files
        ),
    ]


def _object(text: str) -> dict[str, Any]:
    try:
        value = json.loads(text)
    except ValueError:
        return {}
    return value if isinstance(value, dict) else {}


def _list(text: str) -> list[dict[str, Any]]:
    try:
        value = json.loads(text)
    except ValueError:
        return []
    return [each for each in value if isinstance(each, dict)] if isinstance(value, list) else []
