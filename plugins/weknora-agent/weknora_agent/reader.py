"""Reads the events of WeKnora's chats: answer, thinking, tools, references and errors."""

from collections.abc import Iterable, Mapping
from typing import Any

from parlour_sdk.agents import http_agent as http

WAITS = frozenset({"tool_approval_required", "mcp_oauth_required"})
SILENT = frozenset({"tool_approval_resolved", "mcp_oauth_resolved", "memory_recalled"})


class WeKnoraReader(http.EventReader):
    def __init__(self, turn: http.ServiceTurn[Any]) -> None:
        self._turn = turn
        self._error = ""
        self._is_named = self._is_answered = False

    def read(self, event: http.ServerEvent) -> Iterable[http.Update] | None:
        data = event.json_object()
        updates = self._read_event(data)
        if updates is None or self._is_named:
            return updates
        self._is_named = True
        return [http.SessionNamed(str(self._turn.notes["session_id"])), *updates]

    def _read_event(self, data: dict[str, Any]) -> list[http.Update] | None:
        content, details = str(data.get("content") or ""), data.get("data") or {}
        kind = str(data.get("response_type"))
        match kind:
            case "agent_query":
                return [http.TaskNamed(str(data.get("assistant_message_id") or ""))]
            case "answer":
                self._is_answered = self._is_answered or bool(content.strip())
                return [http.AnswerDelta(content)]
            case "thinking" | "reflection":
                return [http.ThinkingDelta(content)]
            case "tool_call":
                name = str(details.get("tool_name") or "tool")
                return [http.ToolStart(str(details.get("tool_call_id")), name, details.get("arguments"))]
            case "tool_result":
                error = str(details.get("error") or "the tool failed") if details.get("success") is False else None
                step, name = str(details.get("tool_call_id")), str(details.get("tool_name") or "tool")
                return [http.ToolEnd(step, name, None if error else content, error)]
            case "references":
                return [http.Citations(tuple(_citation(each) for each in data.get("knowledge_references") or []))]
            case "session_title":
                return [http.AnswerMetadata({"title": content})]
            case "error":
                return self._failed(data, str(details.get("error") or content))
            case "complete":
                return self._complete(details)
            case "stop":
                raise http.ServiceFailure("upstream", "the answer was stopped in WeKnora")
        if kind in WAITS:
            raise http.ServiceFailure("upstream", "a tool waits for an approval that can only be given in WeKnora")
        return [] if kind in SILENT else None

    def finish(self) -> Iterable[http.Update]:
        """Ends the stream of a knowledge chat, which has no last event of its own after the answer."""
        if self._error and not self._is_answered:
            raise http.ServiceFailure("upstream", self._error)
        return [http.StreamEnd()] if self._is_answered else ()

    def _failed(self, data: Mapping[str, Any], error: str) -> list[http.Update]:
        """Reads an error; that of a tool is not the end of the answer."""
        self._error = error
        if data.get("done"):
            raise http.ServiceFailure("upstream", error)
        return []

    def _complete(self, details: Mapping[str, Any]) -> list[http.Update]:
        if self._error and not self._is_answered:
            raise http.ServiceFailure("upstream", self._error)
        return [*http.usage_report(details.get("usage"), "prompt_tokens", "completion_tokens"), http.StreamEnd()]


def _citation(reference: Mapping[str, Any]) -> dict[str, Any]:
    title = reference.get("knowledge_title") or reference.get("knowledge_filename")
    return http.citation(title=title, text=reference.get("content"), score=reference.get("score"))
