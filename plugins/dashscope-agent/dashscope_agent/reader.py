"""Reads the stream of a DashScope application: text, thoughts, messages of workflow nodes, sources and errors."""

import re
from collections.abc import Iterable, Mapping
from typing import Any

from parlour_sdk.agents import http_agent as http
from parlour_sdk.protocol.usage import Usage

STATUS_COMMENT = re.compile(r"HTTP_STATUS/(\d{3})")
MARKS = ("<ref>", "</ref>")
MARK = re.compile("|".join(MARKS))


class DashScopeReader(http.EventReader):
    def __init__(self, references_quote: str = "") -> None:
        self._quote = references_quote
        self._text = self._held = ""
        self._references: dict[str, dict[str, Any]] = {}
        self._open_tools: dict[str, str] = {}
        self._node = ""
        self._is_done = False

    def read(self, event: http.ServerEvent) -> Iterable[http.Update] | None:
        data = event.json_object()
        if event.name == "error" or (data.get("code") and "output" not in data):
            raise failure(_status(event), data)
        output = data.get("output")
        if not isinstance(output, dict):
            return None
        updates: list[http.Update] = []
        if output.get("session_id"):
            updates.append(http.SessionNamed(str(output["session_id"])))
        for thought in output.get("thoughts") or []:
            updates += self._thought(thought)
        updates += self._workflow_message(output.get("workflow_message") or {})
        updates += self._answer(str(output.get("text") or ""), output.get("finish_reason") == "stop")
        for reference in output.get("doc_references") or []:
            self._references.setdefault(str(reference.get("doc_id") or reference.get("doc_name")), reference)
        if models := (data.get("usage") or {}).get("models"):
            updates.append(http.UsageReport(_usage(models)))
        if output.get("finish_reason") == "stop":
            updates += self._end()
        return updates

    def _answer(self, text: str, is_last: bool) -> list[http.Update]:
        """Reads a fragment; an application that ignores `incremental_output` sends the whole text so far instead."""
        if self._text and text.startswith(self._text) and (is_last or len(text) > len(self._text)):
            text = text[len(self._text) :]
        return self._say(text)

    def _say(self, text: str) -> list[http.Update]:
        self._text += text
        shown = MARK.sub("", self._held + text)
        cut = _partial_mark(shown)
        self._held, shown = shown[cut:], shown[:cut]
        return [http.AnswerDelta(shown)] if shown else []

    def _workflow_message(self, node: Mapping[str, Any]) -> list[http.Update]:
        """Reads a fragment of a node that answers; each such node is a message of its own."""
        content = str((node.get("message") or {}).get("content") or "")
        if not content:
            return []
        before, self._node = self._node, str(node.get("node_id"))
        ended: list[http.Update] = [http.AnswerEnd()] if before and before != self._node else []
        return [*ended, *self._say(content)]

    def _thought(self, thought: Mapping[str, Any]) -> list[http.Update]:
        kind, name = str(thought.get("action_type") or ""), str(thought.get("action_name") or "")
        if kind == "reasoning" or (not kind and thought.get("thought")):
            text = str(thought.get("thought") or "")
            return [http.ThinkingDelta(text)] if text else []
        if not name or kind == "response":
            return []
        updates: list[http.Update] = []
        if name not in self._open_tools:
            self._open_tools[name] = f"{name}-{len(self._text)}-{len(self._open_tools)}"
            updates.append(http.ToolStart(self._open_tools[name], name, thought.get("action_input")))
        if thought.get("observation"):
            updates.append(http.ToolEnd(self._open_tools.pop(name), name, thought["observation"]))
        return updates

    def _end(self) -> list[http.Update]:
        held, self._held = self._held, ""
        updates: list[http.Update] = [http.AnswerDelta(held)] if held else []
        names = [str(each.get("doc_name") or each.get("title")) for each in self._references.values()]
        if self._quote and names:
            listed = "\n".join(f"{number}. {name}" for number, name in enumerate(dict.fromkeys(names), 1))
            updates.append(http.AnswerDelta(f"\n\n{self._quote}\n{listed}"))
        citations = tuple(_citation(each) for each in self._references.values())
        return [*updates, http.Citations(citations), http.StreamEnd()]


def _partial_mark(text: str) -> int:
    """Returns where the text ends with the beginning of a mark; the length of the text if it does not."""
    cut = text.rfind("<")
    return cut if cut >= 0 and any(mark.startswith(text[cut:]) and mark != text[cut:] for mark in MARKS) else len(text)


def failure(status: int, data: Mapping[str, Any]) -> http.ServiceFailure:
    """Returns the failure of an error, whose status is in a comment line of the stream."""
    code, message = str(data.get("code") or ""), str(data.get("message") or "")
    detail = f"{code}: {message} (request {data.get('request_id') or 'unknown'})"
    lowered = f"{code} {message}".lower()
    if status == 400 and "session" in lowered:
        return http.ServiceFailure("session_unknown", detail)
    if status in (401, 403) or code in ("InvalidApiKey", "AccessDenied"):
        return http.ServiceFailure("auth", detail)
    if status == 429 or code.startswith("Throttling"):
        return http.ServiceFailure("rate_limited", detail)
    if status == 404:
        return http.ServiceFailure("not_found", detail)
    return http.ServiceFailure("unavailable" if status >= 500 else "upstream", detail)


def _status(event: http.ServerEvent) -> int:
    found = next((match for comment in event.comments if (match := STATUS_COMMENT.search(comment))), None)
    return int(found.group(1)) if found else 400


def _usage(models: Iterable[Mapping[str, Any]]) -> Usage:
    """Adds up the tokens of all models that worked on the answer."""
    counts = [(int(each.get("input_tokens") or 0), int(each.get("output_tokens") or 0)) for each in models]
    return Usage(prompt_tokens=sum(given for given, _ in counts), completion_tokens=sum(made for _, made in counts))


def _citation(reference: Mapping[str, Any]) -> dict[str, Any]:
    found = {
        "title": reference.get("doc_name") or reference.get("title"),
        "url": reference.get("doc_url"),
        "text": reference.get("text"),
    }
    return {name: value for name, value in found.items() if value}
