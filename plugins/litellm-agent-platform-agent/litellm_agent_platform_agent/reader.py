"""Reads the events of a session of the LiteLLM Agent Platform, in both families that it sends."""

from collections.abc import Iterable, Mapping
from typing import Any

from parlour_sdk.agents import http_agent as http
from parlour_sdk.protocol.usage import Usage

ENDS = frozenset({"session.status_idle", "session.idle", "done"})
FAILURES = frozenset({"session.status_error", "session.error", "error"})
BEGINNINGS = frozenset({"session.status_running", "ready"})
QUIET = frozenset({*BEGINNINGS, "session.status", "user.message"})


class PlatformReader(http.EventReader):
    """Ignores what the stream repeats of earlier messages: events that were known before the prompt.

    Events of managed agents are named `agent.*`; those of an opencode harness are parts of messages.
    """

    def __init__(self, turn: http.ServiceTurn[Any]) -> None:
        self._turn = turn
        self._is_named = self._is_working = False
        self._texts: dict[str, str] = {}
        self._kinds: dict[str, str] = {}
        """Kinds of parts, which a delta of a part does not name."""
        self._user_messages: set[str] = set()
        self._tokens: dict[str, tuple[int, int]] = {}
        self._part = ""
        self._open_tools: set[str] = set()

    def read(self, event: http.ServerEvent) -> Iterable[http.Update] | None:
        data = event.json_object()
        if data.get("type") == "harness_event":
            data = data["event"]
        if str(data.get("id") or "") in self._turn.notes["known_events"]:
            return []
        updates = self._read_event(str(data.get("type") or event.name), data)
        if updates and not self._is_named:
            self._is_named = True
            return [http.SessionNamed(str(self._turn.notes["session_id"])), *updates]
        return updates

    def _read_event(self, kind: str, data: Mapping[str, Any]) -> list[http.Update] | None:
        properties = data.get("properties") or data
        if kind in FAILURES:
            error = properties.get("error") or properties.get("message") or kind
            raise http.ServiceFailure("upstream", str(error.get("message") if isinstance(error, dict) else error))
        if kind in ENDS:
            return [*self._usage(), http.StreamEnd()] if self._is_working else []
        if kind in QUIET or kind.startswith("server."):
            self._is_working |= kind in BEGINNINGS
            return []
        self._is_working = True
        match kind:
            case "agent.message":
                return [http.AnswerDelta(_text(data.get("content")))]
            case "agent.thinking":
                return [http.ThinkingDelta(str(data.get("thinking") or _text(data.get("content"))))]
            case "agent.tool_use":
                return self._tool(str(data.get("id")), data, "input")
            case "agent.tool_result":
                step, error = str(data.get("tool_use_id") or data.get("id")), data.get("error")
                name = str(data.get("name") or "tool")
                return [http.ToolEnd(step, name, None if error else data.get("content"), str(error) if error else None)]
            case "message.part.delta":
                return self._grow(properties)
            case "message.part.updated":
                return self._whole(properties.get("part") or {})
            case "message.updated":
                self._message(properties.get("info") or {})
                return []
        return None

    def _tool(self, step: str, data: Mapping[str, Any], key: str) -> list[http.Update]:
        """Reads the start of a tool call, which comes several times."""
        if step in self._open_tools:
            return []
        self._open_tools.add(step)
        return [http.ToolStart(step, str(data.get("name") or data.get("tool") or "tool"), data.get(key))]

    def _message(self, info: Mapping[str, Any]) -> None:
        if info.get("role") == "user":
            self._user_messages.add(str(info.get("id")))
        elif isinstance(info.get("tokens"), dict):
            used = info["tokens"]
            self._tokens[str(info.get("id"))] = (int(used.get("input") or 0), int(used.get("output") or 0))

    def _usage(self) -> list[http.Update]:
        if not self._tokens:
            return []
        prompt, completion = (sum(amounts) for amounts in zip(*self._tokens.values(), strict=True))
        return [http.UsageReport(Usage(prompt_tokens=prompt, completion_tokens=completion))]

    def _grow(self, delta: Mapping[str, Any]) -> list[http.Update]:
        part, text = str(delta.get("partID") or ""), str(delta.get("delta") or "")
        if self._kinds.get(part) == "reasoning":
            return [http.ThinkingDelta(text)]
        self._texts[part] = self._texts.get(part, "") + text
        return [*self._begin(part), http.AnswerDelta(text)]

    def _whole(self, part: Mapping[str, Any]) -> list[http.Update]:
        key, kind = str(part.get("id") or ""), str(part.get("type"))
        self._kinds[key] = kind
        if kind == "tool":
            return self._tool_part(key, part, part.get("state") or {})
        if kind != "text" or str(part.get("messageID")) in self._user_messages:
            return []
        text = str(part.get("text") or "")
        known, self._texts[key] = self._texts.get(key, ""), text
        if not text.startswith(known):
            return [*self._begin(key), http.AnswerText(text)]
        return [*self._begin(key), http.AnswerDelta(text[len(known) :])]

    def _tool_part(self, step: str, part: Mapping[str, Any], state: Mapping[str, Any]) -> list[http.Update]:
        status, name = state.get("status"), str(part.get("tool") or "tool")
        started = self._tool(step, {"name": name, **state}, "input")
        if status == "completed":
            return [*started, http.ToolEnd(step, name, state.get("output"))]
        if status == "error":
            return [*started, http.ToolEnd(step, name, None, str(state.get("error") or "it failed"))]
        return started

    def _begin(self, part: str) -> list[http.Update]:
        before, self._part = self._part, part
        return [http.AnswerEnd()] if before and before != part else []


def _text(content: Any) -> str:
    """Returns the text of a content, which is a text or a list of blocks."""
    if isinstance(content, str):
        return content
    blocks = [each for each in content or [] if isinstance(each, dict)]
    return "".join(str(each.get("text") or "") for each in blocks if each.get("type", "text") in ("text", "thinking"))
