"""Reads the events of a LangGraph run as DeerFlow sends them: messages, whole states, tasks and questions."""

import json
from collections.abc import Iterable, Mapping
from typing import Any

from parlour_sdk.agents import http_agent as http

CLARIFICATION = "ask_clarification"
HIDDEN_SOURCES = ("subagent", "title", "summar")
"""Parts of the names of nodes and tags whose messages are no answer."""
TASK_STATUS: Mapping[str, str] = {
    "task_started": "started",
    "task_completed": "completed",
    **dict.fromkeys(("task_failed", "task_timed_out", "task_cancelled"), "failed"),
}
MESSAGE_EVENTS = frozenset({"messages", "messages-tuple", "message", "messages/partial"})
IGNORED_EVENTS = frozenset({"updates", "tasks", "checkpoints", "debug", "events", "messages/metadata"})


class DeerFlowReader(http.EventReader):
    def __init__(self, thread_id: str, human_id: str) -> None:
        self._thread_id = thread_id
        self._human_id = human_id
        self._text = ""
        self._question: http.Question | None = None
        self._usage: list[http.UsageReport] = []

    def read(self, event: http.ServerEvent) -> Iterable[http.Update] | None:
        if event.name in MESSAGE_EVENTS:
            updates = [each for value in event.json_values() for each in self._message(value)]
        elif event.name == "metadata":
            updates = [http.TaskNamed(str(event.json_object().get("run_id") or ""))]
        elif event.name == "values":
            updates = self._state(event.json_object())
        elif event.name == "custom":
            updates = self._task(event.json())
        elif event.name == "error":
            raise failure(event.json_object())
        elif event.name == "end":
            return [http.SessionNamed(self._thread_id), *self.finish()]
        else:
            event.json()
            return [] if event.name in IGNORED_EVENTS else None
        return [http.SessionNamed(self._thread_id), *updates]

    def finish(self) -> Iterable[http.Update]:
        """Ends the answer: a plain LangGraph server sends no last event, so the end of the response is its end."""
        asked: list[http.Update] = [self._question] if self._question else []
        return [*asked, *self._usage, http.StreamEnd()]

    def _message(self, value: Any) -> list[http.Update]:
        """Reads a message, which comes alone or as a pair with its metadata."""
        message, meta = [*(value if isinstance(value, list) else [value]), {}, {}][:2]
        if not isinstance(message, dict) or (isinstance(meta, dict) and _is_hidden(meta)):
            return []
        match str(message.get("type")):
            case "AIMessageChunk" | "ai":
                return self._ai(message)
            case "tool":
                return self._tool_end(message)
        return []

    def _ai(self, message: Mapping[str, Any]) -> list[http.Update]:
        updates: list[http.Update] = []
        text, thinking = _contents(message)
        if thinking:
            updates.append(http.ThinkingDelta(thinking))
        if message["type"] == "ai" and text.startswith(self._text):
            text = text[len(self._text) :]  # a whole message after its fragments
        if text:
            self._text += text
            updates.append(http.AnswerDelta(text))
        for call in [*(message.get("tool_calls") or []), *(message.get("tool_call_chunks") or [])]:
            updates += self._tool_start(call)
        self._count(message)
        return updates

    def _tool_start(self, call: Mapping[str, Any]) -> list[http.Update]:
        step, name = str(call.get("id") or ""), str(call.get("name") or "")
        if not step or not name:
            return []
        self._text = ""  # what the agent says before a tool is not its answer
        return [http.ToolStart(step, name, call.get("args"))]

    def _tool_end(self, message: Mapping[str, Any]) -> list[http.Update]:
        name, (text, _) = str(message.get("name") or "tool"), _contents(message)
        if name == CLARIFICATION:
            self._question = http.Question(text)
            return []
        error = text if message.get("status") == "error" else None
        return [http.ToolEnd(str(message.get("tool_call_id")), name, None if error else text, error)]

    def _state(self, state: Mapping[str, Any]) -> list[http.Update]:
        """Reads the whole state. It begins with the history, which is never shown."""
        if interrupts := state.get("__interrupt__"):
            value = interrupts[0].get("value") if isinstance(interrupts[0], dict) else interrupts[0]
            text = value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)
            self._question = http.Question(text, pending={"interrupt": True})
        messages = [each for each in state.get("messages") or [] if isinstance(each, dict)]
        own = next((number for number, each in enumerate(messages) if each.get("id") == self._human_id), None)
        if own is None:
            return []
        answers = [each for each in messages[own + 1 :] if each.get("type") == "ai"]
        updates: list[http.Update] = []
        if answers and not answers[-1].get("tool_calls"):
            self._count(answers[-1])
            text, _ = _contents(answers[-1])
            if text.strip() and text != self._text:
                self._text = text
                updates.append(http.AnswerText(text))
        return [*updates, *self._artifacts(state.get("artifacts") or [])]

    def _artifacts(self, paths: Iterable[Any]) -> list[http.Update]:
        base = f"/api/threads/{self._thread_id}/artifacts"
        return [http.answer_file(f"{base}/{str(path).lstrip('/')}") for path in paths]

    def _task(self, task: Any) -> list[http.Update]:
        status = TASK_STATUS.get(str(task.get("type"))) if isinstance(task, dict) else None
        if status is None:
            return []
        name = str(task.get("description") or "task")
        detail = task.get("error") or task.get("message")
        return [http.NodeProgress(str(task.get("task_id")), name, status, detail)]  # type: ignore[arg-type]

    def _count(self, message: Mapping[str, Any]) -> None:
        self._usage = http.usage_report(message.get("usage_metadata")) or self._usage


def failure(error: Mapping[str, Any]) -> http.ServiceFailure:
    """Returns the failure of a run."""
    kind, message = str(error.get("error") or ""), str(error.get("message") or "")
    if kind == "GraphRecursionError":
        message = f"{message}; raise the recursion limit in the agent's configuration"
    return http.ServiceFailure("upstream", f"{kind}: {message}" if message else kind)


def _is_hidden(meta: Mapping[str, Any]) -> bool:
    names = [str(meta.get("langgraph_node") or ""), *map(str, meta.get("tags") or [])]
    return any(hidden in name.lower() for name in names for hidden in HIDDEN_SOURCES)


def _contents(message: Mapping[str, Any]) -> tuple[str, str]:
    """Returns the text and the thinking of a message, whose content is a text or a list of parts."""
    content = message.get("content")
    extra = str((message.get("additional_kwargs") or {}).get("reasoning_content") or "")
    return http.content_text(content), extra + http.content_text(content, "thinking")
