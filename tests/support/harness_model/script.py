"""Decides the answers of the model that coding agents use in tests: by words in the messages, not by the number of the
request, since coding agents make requests of their own in between."""

import re
from dataclasses import field
from typing import Any
from uuid import uuid4

from parlour_sdk.values import dataclass

Json = dict[str, Any]
ORDER = re.compile(r"script:(write|run|history|count)(?: ([\w./-]+))?")
"""An order in a message: write a file, run a command that does not end, use the Host's tools, count the orders."""
_TOOLS = {
    "write": (r"^write$|write_?file", r"text_editor|edit_file", r"exec_command|shell|^bash$"),
    "run": (r"exec_command|^bash$|shell", r"execute|terminal"),
    "history": (r"parlour.*history_page$",),
}
_CODEX = {"sandbox_permissions": "require_escalated", "justification": "the test wants it"}


@dataclass(frozen=True, slots=True)
class Item:
    """One message of a request, or one call or result of a tool."""

    role: str
    """`user`, `assistant` or `tool`."""
    text: str


@dataclass(frozen=True, slots=True)
class Tool:
    """A tool that the coding agent offers to the model."""

    name: str
    schema: Json
    namespace: str = ""

    @property
    def whole_name(self) -> str:
        return f"{self.namespace}.{self.name}" if self.namespace else self.name


@dataclass(frozen=True, slots=True)
class Answer:
    """The answer of the model: a text, or the call of a tool."""

    text: str = ""
    tool: Tool | None = None
    arguments: Json | None = None
    call_id: str = field(default_factory=lambda: uuid4().hex)
    """Id of the call; a coding agent takes two calls with one id for the same."""


def answer(items: list[Item], tools: list[Tool]) -> Answer:
    """Returns the answer to a request. It depends on everything since the last answer: coding agents add reminders."""
    last = max((number for number, item in enumerate(items) if item.role == "assistant"), default=-1)
    earlier = {found.group() for item in items[: last + 1] if (found := _order(item))}
    new = [item for item in items[last + 1 :] if item.role == "tool" or _is_new(item, earlier)]
    newest = new[-1] if new else None
    if newest is not None and newest.role == "tool":
        return Answer(f"The tool says: {newest.text[:2000]}")
    order = _order(newest) if newest is not None else None
    if order is None or not tools:
        return Answer("A title")
    deed, argument = order.groups()
    if deed == "count":
        seen = {found.group() for item in items if item.role == "user" for found in ORDER.finditer(item.text)}
        return Answer(f"orders seen: {len(seen)}")
    tool = _find(deed, tools)
    if tool is None:
        return Answer(f"no tool for {deed} among {', '.join(each.whole_name for each in tools)}")
    return Answer(tool=tool, arguments=_arguments(deed, argument or "", tool))


def _order(item: Item) -> re.Match[str] | None:
    """Returns the last order in a message of the user."""
    found = list(ORDER.finditer(item.text)) if item.role == "user" else []
    return found[-1] if found else None


def _is_new(item: Item, earlier: set[str]) -> bool:
    """Returns whether a message has an order that no message before the last answer has: it may be a reminder."""
    order = _order(item)
    return order is not None and order.group() not in earlier


def _find(deed: str, tools: list[Tool]) -> Tool | None:
    for pattern in _TOOLS[deed]:
        for tool in tools:
            if re.search(pattern, tool.whole_name, re.IGNORECASE):
                return tool
    return None


def _arguments(deed: str, argument: str, tool: Tool) -> Json:
    """Returns the arguments of a call: those of the tool's schema, and no others, since coding agents are strict."""
    command = f"touch {argument} && tail -f {argument}" if deed == "run" else f"printf written > {argument}"
    known: Json = {
        **dict.fromkeys(("path", "file_path", "filePath", "absolute_path"), argument),
        **dict.fromkeys(("content", "file_text", "contents"), "written"),
        **dict.fromkeys(("cmd", "command"), command),
        **dict.fromkeys(("description", "explanation"), "the test wants it"),
        **_CODEX,
    }
    properties: Json = tool.schema.get("properties") or {}
    if "enum" in properties.get("command", {}):
        known["command"] = next(each for each in properties["command"]["enum"] if each in ("write", "create"))
    if properties.get("command", {}).get("type") == "array":
        known["command"] = ["bash", "-lc", command]
    found = {name: known[name] for name in properties if name in known}
    for name in tool.schema.get("required") or ():
        found.setdefault(name, _example(properties.get(name, {})))
    return found


def _example(schema: Json) -> Any:
    examples: Json = {"boolean": False, "integer": 1, "number": 1, "array": [], "object": {}}
    return examples.get(str(schema.get("type")), "x")
