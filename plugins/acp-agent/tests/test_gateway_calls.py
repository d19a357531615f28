"""Tests which tool calls count as calls of the Host's own tools, which are allowed without a question."""

from typing import Any

import pytest
from acp_agent.permissions import is_gateway_call
from acp_agent.updates import UpdateReader


def text(value: str) -> list[dict[str, Any]]:
    return [{"type": "content", "content": {"type": "text", "text": value}}]


@pytest.mark.parametrize(
    "call",
    [
        {"title": "mcp__parlour__history_page", "rawInput": {"limit": 3}},
        {"title": "parlour: history page", "rawInput": {}},
        {"title": "MCP", "rawInput": {"server": "parlour", "tool": "context", "arguments": {}}},
        {"title": "MCP", "mcpServer": {"name": "parlour"}},
        {"title": "history_page (parlour MCP Server)", "kind": "other", "content": text('{"limit":3}')},
    ],
)
def test_calls_of_the_own_server_are_known_in_all_their_forms(call: dict[str, Any]) -> None:
    assert is_gateway_call(call)


@pytest.mark.parametrize(
    "call",
    [
        {"title": "mcp__parlour__x; rm -rf .", "rawInput": {}},
        {"title": "mcp__parlour__x", "rawInput": {"command": "mcp__parlour__x"}},
        {"title": "parlour: delete everything", "rawInput": {"cmd": "rm -rf ."}},
        {"title": "shell", "rawInput": {"server": "parlour", "command": "rm -rf ."}},
        {"title": "Write", "rawInput": {"server": "parlour", "path": "a.txt"}},
        {"title": "history_page (parlour MCP Server)", "kind": "execute"},
        {"title": "x (parlour MCP Server)", "kind": "other", "content": text('{"command":"x (parlour MCP Server)"}')},
        {"title": "x (parlour MCP Server) ", "kind": "other", "content": text("{}")},
    ],
)
def test_a_command_that_looks_like_one_is_asked_about(call: dict[str, Any]) -> None:
    assert not is_gateway_call(call)


def test_a_summary_that_replaces_the_title_changes_nothing() -> None:
    reader = UpdateReader()
    list(reader.read_tool({"toolCallId": "1", "title": "parlour: history page", "rawInput": {}}))
    list(reader.read_tool({"toolCallId": "2", "title": "shell", "rawInput": {}}))
    for call_id, title in (("1", "reading the chat"), ("2", "parlour: history page")):
        list(reader.read_tool({"toolCallId": call_id, "title": title}))

    assert is_gateway_call(reader.known({"toolCallId": "1"}))
    assert not is_gateway_call(reader.known({"toolCallId": "2"}))
