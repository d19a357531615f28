"""Reads what an A2A agent answers: messages, artifacts and states of a task, in the versions 1.0 and 0.3."""

import json
from collections.abc import Iterable, Mapping
from typing import Any

from parlour_sdk.agents import http_agent as http

KINDS = {"task": "task", "message": "message", "status-update": "statusUpdate", "artifact-update": "artifactUpdate"}
"""Names of results in 1.0 by their kind in 0.3."""
REASONS: dict[int, http.FailureReason] = {-32001: "session_unknown", -32005: "input"}
REASONS |= dict.fromkeys((-32601, -32009), "config")
"""Reasons of JSON-RPC errors; all others are errors that the agent reports."""


class A2aReader(http.EventReader):
    def __init__(self) -> None:
        self._artifact = ""
        self._has_text = False
        self._task = ""

    def read(self, event: http.ServerEvent) -> Iterable[http.Update] | None:
        return self.read_result(event.json_object())

    def read_result(self, data: dict[str, Any]) -> list[http.Update] | None:
        """Reads one result, in a JSON-RPC envelope or without."""
        if data.get("error"):
            raise failure(data["error"])
        result = data.get("result", data)
        if not isinstance(result, dict):
            return None
        kind = KINDS.get(str(result.get("kind"))) or next((name for name in KINDS.values() if name in result), "")
        body = result.get(kind) if isinstance(result.get(kind), dict) else result
        match kind:
            case "message":
                return [*self._ids(body), *self._parts(body), http.StreamEnd()]
            case "artifactUpdate":
                return [*self._ids(body), *self._artifact_parts(body["artifact"], bool(body.get("append")))]
            case "statusUpdate":
                return [*self._ids(body), *self._status(body)]
            case "task":
                parts = [part for each in body.get("artifacts") or [] for part in self._artifact_parts(each, False)]
                return [*self._ids(body), *parts, *self._status(body)]
        return None

    def _ids(self, body: Mapping[str, Any]) -> list[http.Update]:
        updates: list[http.Update] = []
        if body.get("contextId"):
            updates.append(http.SessionNamed(str(body["contextId"])))
        if task := str(body.get("taskId") or (body.get("id") if "status" in body else "") or ""):
            self._task = task
            updates.append(http.TaskNamed(task))
        return updates

    def _artifact_parts(self, artifact: Mapping[str, Any], appends: bool) -> list[http.Update]:
        before, self._artifact = self._artifact, str(artifact.get("artifactId") or "")
        updates = self._parts(artifact)
        if before and before != self._artifact:
            return [http.AnswerEnd(), *updates]
        if before and not appends:  # the whole artifact once more
            return [http.AnswerText(each.text) if isinstance(each, http.AnswerDelta) else each for each in updates]
        return updates

    def _status(self, body: Mapping[str, Any]) -> list[http.Update]:
        status = body.get("status") or {}
        state = str(status.get("state") or "").upper().removeprefix("TASK_STATE_").replace("-", "_")
        message = status.get("message") or {}
        text = parts_text(message)
        match state:
            case "SUBMITTED" | "WORKING":
                return [http.ThinkingDelta(f"{text}\n")] if text else []
            case "COMPLETED":
                said = self._parts(message) if not self._has_text else []
                return [*said, http.StreamEnd()]
            case "INPUT_REQUIRED":
                return [http.Question(text or "?", pending={"task_id": self._task}), http.StreamEnd()]
            case "AUTH_REQUIRED":
                raise http.ServiceFailure("auth", text or "the agent asks for further credentials")
            case "FAILED" | "REJECTED" | "CANCELED":
                raise http.ServiceFailure("upstream", text or f"the task is {state.lower()}")
        return []

    def _parts(self, holder: Mapping[str, Any]) -> list[http.Update]:
        updates: list[http.Update] = []
        if text := parts_text(holder):
            self._has_text = True
            updates.append(http.AnswerDelta(text))
        return [*updates, *(file for part in holder.get("parts") or [] if (file := _file(part)))]


def parts_text(holder: Mapping[str, Any]) -> str:
    """Returns the text of a message or artifact; structured data is written as JSON."""
    parts = [each for each in holder.get("parts") or [] if each.get("text") or each.get("data") is not None]
    return "".join(str(each.get("text") or json.dumps(each["data"], ensure_ascii=False)) for each in parts)


def failure(error: Mapping[str, Any]) -> http.ServiceFailure:
    """Returns the failure of a JSON-RPC error, or of the error body of the REST binding."""
    code, message = int(error.get("code") or 0), str(error.get("message") or "")
    return http.ServiceFailure(REASONS.get(code, "upstream"), f"{code}: {message}")


def _file(part: Mapping[str, Any]) -> http.AnswerFile | None:
    inner = part["file"] if isinstance(part.get("file"), dict) else part
    mime_type = inner.get("mediaType") or inner.get("mimeType")
    url = str(inner.get("url") or inner.get("uri") or "")
    name, raw = inner.get("filename") or inner.get("name"), inner.get("raw") or inner.get("bytes")
    return http.answer_file(url, name, mime_type, content_base64=raw) if url or raw else None
