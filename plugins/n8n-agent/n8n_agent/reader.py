"""Reads the answers of n8n: streams of begin, item, end and error, and answers in one JSON text."""

import json
from collections.abc import Iterable, Mapping
from typing import Any

from parlour_sdk.agents import http_agent as http

TEXT_FIELDS = ("output", "text", "response", "answer", "message", "data")
"""Fields that are taken as the answer if none is configured."""
STREAM_TYPES = frozenset({"begin", "item", "end", "error"})
STARTED = "Workflow was started"


class N8nReader(http.EventReader):
    def __init__(self, output_key: str = "") -> None:
        self._output_key = output_key
        self._held: dict[str, str] = {}
        """Contents of nodes that may be one JSON text, by the id of the node."""

    def read(self, event: http.ServerEvent) -> Iterable[http.Update] | None:
        data = event.json()
        if not isinstance(data, dict) or data.get("type") not in STREAM_TYPES or "metadata" not in data:
            return [http.AnswerDelta(answer_text(data, self._output_key))]
        metadata = data["metadata"]
        node, name = str(metadata.get("nodeId")), str(metadata.get("nodeName") or "n8n")
        content = str(data.get("content") or "")
        step = f"{node}-{metadata.get('runIndex', 0)}-{metadata.get('itemIndex', 0)}"
        match data["type"]:
            case "begin":
                return [http.NodeProgress(step, name, "started")]
            case "end":
                return [*self._release(step), http.NodeProgress(step, name, "completed")]
            case "error":
                raise http.ServiceFailure("upstream", f"{name}: {content}" if content else name)
        return self._item(step, content)

    def finish(self) -> Iterable[http.Update]:
        """Ends the answer: several nodes begin and end within one, and the end of the response is its end."""
        released = [update for step in list(self._held) for update in self._release(step)]
        return [*released, http.StreamEnd()]

    def _item(self, step: str, content: str) -> list[http.Update]:
        if step not in self._held and content.lstrip().startswith("{"):
            self._held[step] = ""
        if step in self._held:
            self._held[step] += content
            return []
        return [http.AnswerDelta(content)]

    def _release(self, step: str) -> list[http.Update]:
        """Returns what a node said; a Respond to Webhook node says it as a JSON text."""
        held = self._held.pop(step, "")
        if not held:
            return []
        try:
            value = json.loads(held)
        except ValueError:
            return [http.AnswerDelta(held)]
        return [http.AnswerDelta(answer_text(value, self._output_key))]


def answer_text(value: Any, output_key: str = "") -> str:
    """Returns the answer in what a workflow responds. Raises ServiceFailure if there is none."""
    first = value[0] if isinstance(value, list) and value else value
    if isinstance(first, Mapping) and first.get("message") == STARTED:
        detail = 'the webhook answers before the workflow ends; set its "Respond" to "When Last Node Finishes"'
        raise http.ServiceFailure("no_output", detail)
    for part in output_key.split(".") if output_key else ():
        if not isinstance(first, Mapping) or part not in first:
            known = ", ".join(first) if isinstance(first, Mapping) else "no fields"
            raise http.ServiceFailure("config", f"output_key: the answer has no field '{part}', it has {known}")
        first = first[part]
    if isinstance(first, Mapping) and not output_key:
        first = next((first[name] for name in TEXT_FIELDS if first.get(name)), first or "")
    if isinstance(first, Mapping | list):
        return json.dumps(first, ensure_ascii=False) if first else ""
    return "" if first is None else str(first)
