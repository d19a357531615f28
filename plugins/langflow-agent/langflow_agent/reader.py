"""Reads the events of a Langflow run: tokens, whole messages with their steps, and the result at the end."""

import json
from collections.abc import Iterable, Mapping
from typing import Any

from parlour_sdk.agents import http_agent as http


class LangflowReader(http.EventReader):
    def __init__(self) -> None:
        self._texts: dict[str, str] = {}
        """Text of each message so far."""
        self._message = ""
        self._steps: set[str] = set()

    def read(self, event: http.ServerEvent) -> Iterable[http.Update] | None:
        value = event.json_object()
        data = value.get("data") if isinstance(value.get("data"), dict) else {}
        match value.get("event"):
            case "token":
                return self._grow(str(data.get("id")), str(data.get("chunk") or ""))
            case "add_message":
                return self._message_so_far(data)
            case "remove_message":
                return self._remove(str(data.get("id")))
            case "end":
                return self._end(data.get("result") or {})
            case "error":
                raise failure(data.get("error") or data.get("text") or data)
            case "vertices_sorted" | "build_start" | "build_end" | "end_vertex" | "log":
                return []
        if "outputs" in value:  # an answer in one piece
            return self._end(value)
        return None

    def _grow(self, message: str, text: str) -> list[http.Update]:
        self._texts[message] = self._texts.get(message, "") + text
        return [*self._begin(message), http.AnswerDelta(text)]

    def _message_so_far(self, message: Mapping[str, Any]) -> list[http.Update]:
        """Reads a message of the flow. A message of the user is only the echo of the input."""
        if message.get("sender") == "User":
            return []
        if message.get("category") == "error" or message.get("error") is True:
            raise failure(message.get("text") or "the flow failed")
        updates = self._tools(message.get("content_blocks") or [])
        key, text = str(message.get("id")), str(message.get("text") or "")
        known = self._texts.get(key, "")
        if text and text != known:
            updates += self._begin(key)
            self._texts[key] = text
            updates.append(http.AnswerDelta(text[len(known) :]) if text.startswith(known) else http.AnswerText(text))
        updates += self._attached(message.get("files") or [])
        return [*updates, *http.usage_report((message.get("properties") or {}).get("usage"))]

    def _begin(self, message: str) -> list[http.Update]:
        before, self._message = self._message, message
        return [http.AnswerEnd()] if before and before != message else []

    def _remove(self, message: str) -> list[http.Update]:
        self._texts.pop(message, None)
        return [http.AnswerText("")] if message == self._message else []

    def _tools(self, blocks: Iterable[Mapping[str, Any]]) -> list[http.Update]:
        contents = [each for block in blocks for each in block.get("contents") or [] if each.get("type") == "tool_use"]
        updates: list[http.Update] = []
        for number, tool in enumerate(contents):
            step, name = f"tool-{number}", str(tool.get("name") or "tool")
            if step not in self._steps:
                self._steps.add(step)
                updates.append(http.ToolStart(step, name, tool.get("tool_input")))
            is_over = tool.get("output") is not None or tool.get("error")
            if is_over and f"{step}-end" not in self._steps:
                self._steps.add(f"{step}-end")
                error = str(tool["error"]) if tool.get("error") else None
                updates.append(http.ToolEnd(step, name, tool.get("output"), error))
        return updates

    def _attached(self, files: Iterable[Any]) -> list[http.Update]:
        paths = [str(each.get("path") if isinstance(each, dict) else each) for each in files]
        return [http.AnswerFile(path.rpartition("/")[2], url=_download_path(path)) for path in paths]

    def _end(self, result: Mapping[str, Any]) -> list[http.Update]:
        if not any(text.strip() for text in self._texts.values()) and (text := result_text(result)):
            return [http.AnswerDelta(text), http.StreamEnd()]
        return [http.StreamEnd()]


def result_text(result: Mapping[str, Any]) -> str:
    """Returns the text of the last output that has one."""
    outputs = [each for output in result.get("outputs") or [] for each in output.get("outputs") or [] if each]
    for output in reversed(outputs):
        message = (output.get("results") or {}).get("message") or {}
        candidates = (
            message.get("text"),
            (message.get("data") or {}).get("text"),
            (output.get("artifacts") or {}).get("message"),
            *(each.get("message") for each in output.get("messages") or []),
        )
        for text in candidates:
            if isinstance(text, str) and text.strip():
                return text
    return ""


def failure(detail: Any) -> http.ServiceFailure:
    """Returns the failure of a flow; the detail may be a JSON text with message and traceback."""
    try:
        parsed = json.loads(detail) if isinstance(detail, str) else detail
    except ValueError:
        parsed = detail
    message = parsed.get("message") if isinstance(parsed, dict) else None
    return http.ServiceFailure("upstream", str(message or parsed))


def _download_path(path: str) -> str:
    return f"/api/v1/files/download/{path}"
