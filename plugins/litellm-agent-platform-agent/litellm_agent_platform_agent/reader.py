"""Reads the events of a session of the LiteLLM Agent Platform, in both families that it sends."""

from collections.abc import Iterable, Mapping
from typing import Any

from parlour_sdk.agents import http_agent as http
from parlour_sdk.protocol.usage import Usage

ENDS = frozenset({"session.status_idle", "session.idle"})
FAILURES = frozenset({"session.status_error", "session.error"})


class PlatformReader(http.EventReader):
    """Ignores what the stream repeats of earlier messages: events that were known before the prompt."""

    def __init__(self, turn: http.ServiceTurn[Any]) -> None:
        self._turn = turn
        self._is_named = self._is_working = False
        self._texts: dict[str, str] = {}
        self._part = ""

    def read(self, event: http.ServerEvent) -> Iterable[http.Update] | None:
        data = event.json_object()
        if str(data.get("id") or "") in self._turn.notes["known_events"]:
            return []
        updates = self._read_event(str(data.get("type")), data)
        if updates and not self._is_named:
            self._is_named = True
            return [http.SessionNamed(str(self._turn.notes["session_id"])), *updates]
        return updates

    def _read_event(self, kind: str, data: Mapping[str, Any]) -> list[http.Update] | None:
        if kind in FAILURES:
            error = data.get("error") or data.get("message") or (data.get("properties") or {}).get("error") or kind
            raise http.ServiceFailure("upstream", str(error.get("message") if isinstance(error, dict) else error))
        if kind in ENDS:
            return [http.StreamEnd()] if self._is_working else []
        self._is_working = True
        match kind:
            case "agent.message":
                return [http.AnswerDelta(_text(data.get("content")))]
            case "agent.thinking":
                return [http.ThinkingDelta(_text(data.get("content")))]
            case "agent.tool_use":
                return [http.ToolStart(str(data.get("id")), str(data.get("name") or "tool"), data.get("input"))]
            case "agent.tool_result":
                step = str(data.get("tool_use_id") or data.get("id"))
                return [http.ToolEnd(step, str(data.get("name") or "tool"), data.get("content"))]
            case "message.part.delta":
                return self._grow(data.get("properties") or data)
            case "message.part.updated":
                return self._whole((data.get("properties") or data).get("part") or {})
            case "session.usage":
                used = data.get("usage") or {}
                tokens = int(used.get("input_tokens") or 0), int(used.get("output_tokens") or 0)
                return [http.UsageReport(Usage(prompt_tokens=tokens[0], completion_tokens=tokens[1]))]
            case "session.status_running" | "session.status" | "message.updated":
                return []
        return None

    def _grow(self, delta: Mapping[str, Any]) -> list[http.Update]:
        part, text = str(delta.get("partID") or ""), str(delta.get("delta") or "")
        self._texts[part] = self._texts.get(part, "") + text
        return [*self._begin(part), http.AnswerDelta(text)]

    def _whole(self, part: Mapping[str, Any]) -> list[http.Update]:
        if part.get("type") != "text" or part.get("role") == "user":
            return []
        key, text = str(part.get("id") or ""), str(part.get("text") or "")
        known, self._texts[key] = self._texts.get(key, ""), text
        if not text.startswith(known):
            return [*self._begin(key), http.AnswerText(text)]
        return [*self._begin(key), http.AnswerDelta(text[len(known) :])]

    def _begin(self, part: str) -> list[http.Update]:
        before, self._part = self._part, part
        return [http.AnswerEnd()] if before and before != part else []


def _text(content: Any) -> str:
    """Returns the text of a content, which is a text or a list of blocks."""
    if isinstance(content, str):
        return content
    blocks = [each for each in content or [] if isinstance(each, dict)]
    return "".join(str(each.get("text") or "") for each in blocks if each.get("type", "text") == "text")
