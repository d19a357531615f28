"""Answers the questions of a harness: by the configuration, or by asking people."""

import json
import re
from collections.abc import Sequence
from contextlib import aclosing
from typing import Any

from parlour_sdk.api import AgentRunAPI
from parlour_sdk.protocol.errors import AgentAPIException
from parlour_sdk.protocol.live_permissions import PermissionAnswer

from .config import HarnessConfig
from .updates import FIRST_TITLE, READ_KINDS, diffs, tool_name

GATEWAY_NAME = "parlour"
"""Name of the Host's own MCP server, which checks each call itself."""
MCP_CALL_FIELDS = frozenset(("server", "tool", "arguments"))
"""The input of a call of an MCP server, where a harness gives it as such."""
_GATEWAY_TITLE = re.compile(rf"mcp__{GATEWAY_NAME}__[a-z_]{{1,40}}|{GATEWAY_NAME}: [a-z_ ]{{1,40}}")
_GEMINI_TITLE = re.compile(rf"[a-z_]{{1,40}} \({GATEWAY_NAME} MCP Server\)")
"""Title of such a call in Gemini CLI. It is the argument `command` instead if the call has one."""
MAX_DETAIL_CHARACTERS = 6000
CANCELLED: dict[str, Any] = {"outcome": {"outcome": "cancelled"}}
Option = dict[str, Any]


def find_option(options: Sequence[Any], kind: str) -> Option | None:
    """Returns the first option of a kind. Ids, names and order say nothing: harnesses differ in all of them."""
    return next((each for each in options if isinstance(each, dict) and each.get("kind") == kind), None)


def selected(option: Option | None) -> dict[str, Any]:
    """Returns the answer that selects an option; `cancelled` without one."""
    if option is None:
        return CANCELLED
    return {"outcome": {"outcome": "selected", "optionId": option.get("optionId")}}


async def answer_question(
    api: AgentRunAPI, config: HarnessConfig, call: dict[str, Any], options: Sequence[Any]
) -> dict[str, Any]:
    """Answers one question. `call` is everything that is known of the tool call."""
    once, always = find_option(options, "allow_once"), find_option(options, "allow_always")
    reject = find_option(options, "reject_once") or find_option(options, "reject_always")
    if config.permissions == "deny_all":
        return selected(reject)
    if config.permissions == "allow_all" or is_gateway_call(call):
        return selected(once or always)
    if config.permissions == "allow_reads" and call.get("kind") in READ_KINDS:
        return selected(once)
    offers_always = config.allow_always and always is not None
    try:
        answer = await _ask(api, call, str(always.get("name") or "") if offers_always and always else None)
    except AgentAPIException:
        return CANCELLED
    if answer is None or answer.status == "expired":
        return selected(reject)
    if answer.status != "approved":
        return selected(reject)
    return selected(always if answer.always and offers_always else once)


async def _ask(api: AgentRunAPI, call: dict[str, Any], always: str | None) -> PermissionAnswer | None:
    """Asks people and returns their decision. A cancelled task withdraws the question."""
    questions = api.permissions.ask(
        tool_name(call), describe_call(call), offers_always=always is not None, always_label=always or ""
    )
    last = None
    async with aclosing(questions) as answers:
        async for answer in answers:
            last = answer
    return last


def is_gateway_call(call: dict[str, Any]) -> bool:
    """Returns whether this is a tool of the Host itself, which the Host checks like any other call of the run.

    Only the first title of a call counts, and only as a whole: later ones are summaries of a model, and a title may
    begin with the command that it stands for.
    """
    server = call.get("mcpServer")
    if isinstance(server, dict) and server.get("name") == GATEWAY_NAME:
        return True
    raw = call.get("rawInput")
    arguments = raw if isinstance(raw, dict) else {}
    if arguments.get("server") == GATEWAY_NAME and arguments.keys() <= MCP_CALL_FIELDS and "tool" in arguments:
        return True
    title = str(call.get(FIRST_TITLE) or call.get("title") or "")
    if arguments.keys() & {"command", "cmd"}:
        return False
    if _GEMINI_TITLE.fullmatch(title):
        return call.get("kind") == "other" and "command" not in _texts(call)
    return bool(_GATEWAY_TITLE.fullmatch(title))


def describe_call(call: dict[str, Any]) -> str:
    """Returns the changed lines, the command or the arguments of a tool call, for the people who decide."""
    changed = [f"{each['path']} (+{each['added']} -{each['removed']})\n{each['text']}" for each in diffs(call)]
    if changed:
        return "\n".join(changed)[:MAX_DETAIL_CHARACTERS]
    raw = call.get("rawInput")
    if isinstance(raw, dict):
        command = raw.get("command") or raw.get("cmd")
        if isinstance(command, list):
            command = " ".join(map(str, command))
        if isinstance(command, str) and command:
            return command[:MAX_DETAIL_CHARACTERS]
        if raw:
            return json.dumps(raw, ensure_ascii=False)[:MAX_DETAIL_CHARACTERS]
    return _texts(call)[:MAX_DETAIL_CHARACTERS]


def _texts(call: dict[str, Any]) -> str:
    """Returns the texts that a tool call came with."""
    parts = [each.get("content") for each in call.get("content") or () if isinstance(each, dict)]
    return "\n".join(str(each["text"]) for each in parts if isinstance(each, dict) and each.get("text"))
