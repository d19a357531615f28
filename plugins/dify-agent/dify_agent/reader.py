"""Reads the events of Dify's streams: chat messages, agent thoughts, workflow nodes and questions to people."""

import json
import re
from collections.abc import Iterable, Mapping
from typing import Any

from parlour_sdk.agents import http_agent as http
from parlour_sdk.protocol.usage import Usage

TEXT_OUTPUTS = ("text", "answer", "result", "output")
"""Names of outputs that are taken as the answer of a workflow if none is configured."""
SHOWN_NODES = frozenset({"tool", "agent", "http-request", "code", "knowledge-retrieval"})
FAILED = frozenset({"failed", "exception", "stopped"})
SESSION_CODES = frozenset({"conversation_completed"})
CODES: Mapping[str, http.FailureReason] = {
    "unauthorized": "auth",
    "forbidden": "auth",
    "not_found": "not_found",
    "too_many_requests": "rate_limited",
    "file_too_large": "input",
    "unsupported_file_type": "input",
    **dict.fromkeys(("not_chat_app", "not_workflow_app", "not_completion_app"), "config"),
}
"""Reasons of Dify's error codes; all others are errors that the app reports."""
NEEDS_DIFY = "(This step has to be answered in Dify. / 此步骤需要在 Dify 中处理。)"
"""Said where Dify gives no token with which a chat could answer."""
_PLACEHOLDER = re.compile(r"\{\{#[^}]*#\}\}")


class DifyReader(http.EventReader):
    def __init__(self, turn: http.ServiceTurn[Any]) -> None:
        self._turn = turn
        self._output_key: str = turn.config.output_key
        self._text = ""
        self._has_agent_text = self._has_usage = self._is_asking = False
        self._run_id = ""

    def read(self, event: http.ServerEvent) -> Iterable[http.Update] | None:
        data = event.json_object()
        updates = self._read_event(data)
        if updates is None or data["event"] == "ping":
            return updates
        return [*self._identity(data), *updates]

    def _read_event(self, data: dict[str, Any]) -> list[http.Update] | None:
        inner = data.get("data") if isinstance(data.get("data"), dict) else {}
        match data.get("event"):
            case "message":
                return self._message(str(data.get("answer") or ""))
            case "agent_message":
                self._has_agent_text = True
                return self._delta(data.get("answer"))
            case "text_chunk":
                return self._delta(inner.get("text"))
            case "reasoning_chunk":
                return [http.ThinkingDelta(str(inner.get("reasoning") or ""))]
            case "message_replace":
                return self._replace(str(data.get("answer") or ""))
            case "text_replace":
                return self._replace(str(inner.get("text") or ""))
            case "agent_thought":
                return self._thought(data)
            case "message_file" if data.get("belongs_to") == "assistant":
                return _file(data)
            case "node_started" | "node_finished":
                return self._node(str(data["event"]), inner)
            case "message_end":
                return self._message_end(data)
            case "workflow_started":
                self._run_id = str(data.get("workflow_run_id") or inner.get("id") or "")
                return []
            case "workflow_finished":
                return self._workflow_finished(inner)
            case "human_input_required":
                return self._question(inner, str(data.get("workflow_run_id") or self._run_id))
            case "workflow_paused":
                return [http.StreamEnd()] if self._is_asking else []
            case "error":
                raise failure(data)
            case "ping" | "node_retry" | "message_file" | "tts_message" | "tts_message_end" | "agent_log":
                return []
        return None

    def finish(self) -> Iterable[http.Update]:
        return [http.StreamEnd()] if self._is_asking else ()

    def _identity(self, data: Mapping[str, Any]) -> Iterable[http.Update]:
        """Yields the ids, which are on every event; the stop call and the next message need them."""
        if data.get("message_id"):
            self._turn.notes["message_id"] = str(data["message_id"])
        if data.get("task_id"):
            yield http.TaskNamed(str(data["task_id"]))
        if data.get("conversation_id"):
            yield http.SessionNamed(str(data["conversation_id"]))

    def _message(self, answer: str) -> list[http.Update]:
        """Reads a fragment; after fragments of an agent it is the whole answer once more."""
        return self._replace(answer) if self._has_agent_text and answer else self._delta(answer)

    def _delta(self, text: object) -> list[http.Update]:
        self._text += str(text or "")
        return [http.AnswerDelta(str(text))] if text else []

    def _replace(self, text: str) -> list[http.Update]:
        self._text = text
        return [http.AnswerText(text)]

    def _thought(self, data: Mapping[str, Any]) -> list[http.Update]:
        """Reads a step of an agent, which comes several times with the same id and ever more fields."""
        step, tool, found = str(data.get("id") or ""), str(data.get("tool") or ""), data.get("observation")
        if not tool:
            return []
        start = http.ToolStart(step, tool, http.decoded(data.get("tool_input")))
        return [start, http.ToolEnd(step, tool, http.decoded(found))] if found else [start]

    def _node(self, event: str, node: Mapping[str, Any]) -> list[http.Update]:
        if node.get("node_type") not in SHOWN_NODES:
            return []
        step, name = str(node.get("id") or node.get("node_id")), str(node.get("title") or node["node_type"])
        if event == "node_started":
            return [http.NodeProgress(step, name, "started")]
        if node.get("status") in FAILED:
            return [http.NodeProgress(step, name, "failed", node.get("error"))]
        return [http.NodeProgress(step, name, "completed", node.get("outputs"))]

    def _message_end(self, data: Mapping[str, Any]) -> list[http.Update]:
        metadata = data.get("metadata") or {}
        usage = http.usage_report(metadata.get("usage"), "prompt_tokens", "completion_tokens")
        self._has_usage = self._has_usage or bool(usage)
        sources = http.Citations(tuple(_citation(source) for source in metadata.get("retriever_resources") or []))
        files = [each for file in data.get("files") or [] for each in _file(file)]
        return [*usage, sources, *files, *([] if self._run_id else [http.StreamEnd()])]

    def _workflow_finished(self, run: Mapping[str, Any]) -> list[http.Update]:
        if run.get("status") in FAILED or (run.get("error") and run.get("status") != "succeeded"):
            raise http.ServiceFailure("upstream", str(run.get("error") or f"the workflow is {run.get('status')}"))
        updates: list[http.Update] = []
        if not self._text.strip():
            updates += self._delta(self._output(run.get("outputs") or {}))
        for file in run.get("files") or []:
            updates += _file(file)
        if run.get("total_tokens") and not self._has_usage:
            # Only the sum is known here.
            updates.append(http.UsageReport(Usage(prompt_tokens=int(run["total_tokens"]))))
        return [*updates, http.StreamEnd()]

    def _output(self, outputs: Mapping[str, Any]) -> str:
        """Returns the answer in a workflow's outputs."""
        names = [self._output_key] if self._output_key else [name for name in TEXT_OUTPUTS if name in outputs]
        texts = [value for value in outputs.values() if isinstance(value, str)]
        if self._output_key and self._output_key not in outputs:
            known = ", ".join(outputs) or "none"
            raise http.ServiceFailure("config", f"output_key: there is no '{self._output_key}'; there is {known}")
        value = outputs[names[0]] if names else texts[0] if len(texts) == 1 else outputs or ""
        return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)

    def _question(self, form: Mapping[str, Any], run_id: str) -> list[http.Update]:
        """Reads a form that a person has to fill in before the workflow goes on."""
        self._is_asking = True
        actions = [each for each in form.get("actions") or [] if isinstance(each, dict)]
        titles = tuple(str(each.get("title") or each.get("id")) for each in actions)
        text = _PLACEHOLDER.sub("", str(form.get("form_content") or form.get("node_title") or "")).strip()
        if not form.get("form_token") or not run_id:
            return [http.AnswerDelta(f"{text}\n\n{NEEDS_DIFY}")]
        pending = {
            "form_token": str(form["form_token"]),
            "run_id": run_id,
            "actions": [[str(each.get("id")), str(each.get("title") or "")] for each in actions],
            "inputs": [str(each.get("output_variable_name") or each.get("name")) for each in form.get("inputs") or []],
        }
        return [http.Question(text or "?", titles, pending)]


def failure(data: Mapping[str, Any]) -> http.ServiceFailure:
    """Returns the failure of an error event or an error body."""
    code, message = str(data.get("code") or ""), str(data.get("message") or "")
    if code in SESSION_CODES or "conversation not exist" in message.lower():
        return http.ServiceFailure("session_unknown", message)
    if code in ("not_chat_app", "not_workflow_app"):
        message = f"app_type: the key belongs to an app of another type ({message})"
    return http.ServiceFailure(CODES.get(code, "upstream"), ": ".join(each for each in (code, message) if each))


def _file(file: Mapping[str, Any]) -> list[http.Update]:
    url, file_id = str(file.get("url") or file.get("remote_url") or ""), file.get("id") or file.get("related_id")
    name, mime_type = file.get("filename"), file.get("mime_type")
    return [http.answer_file(url, name, mime_type, file.get("type"), file_id)] if url else []


def _citation(source: Mapping[str, Any]) -> dict[str, Any]:
    title, dataset = source.get("document_name"), source.get("dataset_name")
    return http.citation(title=title, source=dataset, text=source.get("content"), score=source.get("score"))
