"""Turns updates of a harness into results of the run."""

import difflib
from collections.abc import Iterator
from typing import Any

from parlour_sdk import results
from parlour_sdk.protocol.usage import Usage
from parlour_sdk.results import Result

READ_KINDS = frozenset(("read", "search", "think", "fetch"))
"""Kinds of tools that change nothing."""
FIRST_TITLE = "_first_title"
"""Key of the title that a tool call began with. Some harnesses replace it by a summary that a model wrote."""
MAX_RESULT_CHARACTERS = 8 * 1024
MAX_DIFF_CHARACTERS = 8 * 1024
MAX_UPDATES = 10_000
"""Updates of one turn that are reported one by one; later ones only add to the text."""
ENDED = ("completed", "failed")


class UpdateReader:
    """Reads the updates of one turn in order."""

    def __init__(self, folder: str = "") -> None:
        """`folder` is the working directory: paths of files below it are shown from there."""
        self.text = ""
        """The message that is being written."""
        self.has_text = False
        self.last_error = ""
        self.usage: Usage | None = None
        self._message_id: str | None = None
        self._tools: dict[str, dict[str, Any]] = {}
        self._ended: set[str] = set()
        self._count = 0
        self._folder = folder.rstrip("/")

    def read(self, update: dict[str, Any]) -> Iterator[Result]:
        self._count += 1
        match update.get("sessionUpdate"):
            case "agent_message_chunk":
                yield from self._text(update)
            case "agent_thought_chunk":
                if text := _text_of(update.get("content")):
                    yield results.thinking(text)
            case "tool_call" | "tool_call_update":
                yield from self.read_tool(update)
            case "plan" | "plan_update" if self._count <= MAX_UPDATES:
                entries = [_plan_entry(each) for each in update.get("entries") or () if isinstance(each, dict)]
                yield Result("harness.plan", {"entries": entries[:100]})
            case "usage_update":
                self.usage = self.usage or _usage(update)

    def read_tool(self, call: dict[str, Any]) -> Iterator[Result]:
        """Reads a tool call, wherever it is seen first: in an update or in a question."""
        call_id = str(call.get("toolCallId") or "")
        if not call_id or call_id in self._ended or self._count > MAX_UPDATES:
            return
        is_new = call_id not in self._tools
        known = self._tools.setdefault(call_id, {FIRST_TITLE: call.get("title")})
        known |= {key: value for key, value in call.items() if value is not None}
        known["content"] = [self._with_short_path(each) for each in known.get("content") or ()]
        name = tool_name(known)
        if is_new:
            yield from self.end_message()
            yield results.tool_started(call_id, name, known.get("rawInput"))
        if known.get("status") in ENDED:
            self._ended.add(call_id)
            text = _content_text(known.get("content"))[:MAX_RESULT_CHARACTERS]
            if known["status"] == "failed":
                self.last_error = text or f"{name} failed"
                yield results.tool_completed(call_id, name, error=self.last_error)
            else:
                yield results.tool_completed(call_id, name, {"text": text, "diffs": diffs(known)})

    def known(self, call: dict[str, Any]) -> dict[str, Any]:
        """Returns everything that is known of a tool call."""
        return self._tools.get(str(call.get("toolCallId") or ""), call)

    def end_message(self) -> Iterator[Result]:
        """Completes the message that is being written."""
        if self.text.strip():
            yield results.completed(self.text)
        self.text, self._message_id = "", None

    def read_answer(self, answer: dict[str, Any]) -> None:
        """Reads the answer to a prompt, for its use of tokens."""
        meta = answer.get("_meta") if isinstance(answer.get("_meta"), dict) else {}
        for found in (answer.get("usage"), (meta or {}).get("usage"), (meta or {}).get("quota")):
            if isinstance(found, dict) and (usage := _usage(found)) is not None:
                self.usage = usage
                return

    def _with_short_path(self, content: Any) -> Any:
        if not self._folder or not isinstance(content, dict) or content.get("type") != "diff":
            return content
        return {**content, "path": str(content.get("path")).removeprefix(f"{self._folder}/")}

    def _text(self, update: dict[str, Any]) -> Iterator[Result]:
        text = _text_of(update.get("content"))
        message_id = update.get("messageId")
        if not text or (message_id is None and not self.has_text and text.startswith("Warning:")):
            return
        if message_id is not None and self._message_id not in (None, message_id):
            yield from self.end_message()
        self._message_id = message_id if message_id is not None else self._message_id
        self.text += text
        self.has_text = True
        yield results.delta(text)


def tool_name(call: dict[str, Any]) -> str:
    return str(call.get("title") or call.get("kind") or "tool")[:200]


def diffs(call: dict[str, Any]) -> list[dict[str, Any]]:
    """Returns the changed files of a tool call, each with its changed lines."""
    found = []
    for each in call.get("content") or ():
        if isinstance(each, dict) and each.get("type") == "diff":
            before, after = str(each.get("oldText") or ""), str(each.get("newText") or "")
            lines = list(difflib.unified_diff(before.splitlines(), after.splitlines(), lineterm="", n=1))[2:]
            added = sum(line.startswith("+") for line in lines)
            removed = sum(line.startswith("-") for line in lines)
            text = "\n".join(lines)[:MAX_DIFF_CHARACTERS]
            found.append({"path": str(each.get("path")), "added": added, "removed": removed, "text": text})
    return found


def _text_of(content: Any) -> str:
    if not isinstance(content, dict):
        return ""
    match content.get("type"):
        case "text":
            return str(content.get("text") or "")
        case "resource_link":
            return f"[{content.get('name') or 'file'}]({content.get('uri')})"
        case "resource" if isinstance(content.get("resource"), dict):
            return str(content["resource"].get("text") or "")
    return ""


def _content_text(content: Any) -> str:
    parts = [each for each in content or () if isinstance(each, dict) and each.get("type") == "content"]
    return "\n".join(filter(None, (_text_of(each.get("content")) for each in parts)))


def _plan_entry(entry: dict[str, Any]) -> dict[str, str]:
    return {name: str(entry.get(name) or "")[:500] for name in ("content", "status", "priority")}


def _usage(found: dict[str, Any]) -> Usage | None:
    prompt, completion = found.get("inputTokens"), found.get("outputTokens")
    if not isinstance(prompt, int) or not isinstance(completion, int) or prompt + completion == 0:
        return None
    return Usage(prompt_tokens=prompt, completion_tokens=completion)
