"""Tests the MCP door with the unmodified MCP Inspector, as a program of the command line."""

import asyncio
import json
from collections.abc import Callable
from typing import Any

import pytest

from tests.support.harness import Host
from tests.support.peers import ROOT

PACKAGES = ROOT / ".tools" / "harnesses" / "node_modules"
INSPECTOR = PACKAGES / "@modelcontextprotocol/inspector/clients/launcher/build/index.js"
Publish = Callable[..., str]

pytestmark = pytest.mark.long


async def inspect(host: Host, key: str, *arguments: str) -> tuple[int | None, str, str]:
    assert INSPECTOR.exists(), "the MCP Inspector is not installed: make harnesses"
    [node] = PACKAGES.glob("node-linux-*/bin/node")
    address = [f"{host.address}/api/v1/mcp", "--transport", "http", "--header", f"Authorization: Bearer {key}"]
    pipe = asyncio.subprocess.PIPE
    process = await asyncio.create_subprocess_exec(
        node, INSPECTOR, "--cli", *address, *arguments, stdout=pipe, stderr=pipe
    )
    output, errors = await process.communicate()
    return process.returncode, output.decode(), errors.decode()


async def test_the_inspector_lists_and_calls_the_tools(host: Host, publish: Publish) -> None:
    publish(name="Inspected", door="mcp", description="Repeats everything.")
    key = host.key("mcp")

    _, listed, errors = await inspect(host, key, "--method", "tools/list")
    call = ("--method", "tools/call", "--tool-name", "ask_inspected", "--tool-arg", "text=hello")
    _, called, call_errors = await inspect(host, key, *call)

    assert "ask_inspected" in {tool["name"] for tool in json.loads(listed)["tools"]}, errors
    answer: Any = json.loads(called)
    assert answer["content"][0]["text"] == "hello", call_errors


async def test_the_inspector_reports_a_wrong_key(host: Host) -> None:
    status, output, errors = await inspect(host, "parlour_wrong", "--method", "tools/list")

    assert status != 0
    assert "auth_required" in output + errors
