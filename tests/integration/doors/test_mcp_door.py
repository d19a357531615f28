"""Tests the MCP door with the unmodified Python client, in both eras of the standard, against a real Host."""

import asyncio
import json
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any, Literal

import httpx
import mcp_types as types
import pytest
from mcp.client import Client
from mcp.client.streamable_http import streamable_http_client
from mcp.shared.exceptions import MCPError

from tests.support.harness import PUPPET, Host, bearer

Publish = Callable[..., str]
Era = Literal["auto", "legacy"]
both_eras = pytest.mark.parametrize("era", ["auto", "legacy"])


@asynccontextmanager
async def connected(host: Host, era: Era = "auto", key: str | None = None) -> AsyncIterator[Client]:
    headers = bearer(host.key("mcp") if key is None else key)
    async with httpx.AsyncClient(headers=headers, timeout=30) as http:
        transport = streamable_http_client(f"{host.address}/api/v1/mcp", http_client=http)
        async with Client(transport, mode=era) as client:
            yield client


def text_of(result: types.CallToolResult) -> str:
    return "".join(part.text for part in result.content if isinstance(part, types.TextContent))


@both_eras
async def test_published_agents_are_tools(host: Host, publish: Publish, era: Era) -> None:
    publish(name=f"Mcp {era} Agent", door="mcp", description="Repeats everything.")
    publish(name=f"Only {era} Openai")

    async with connected(host, era) as client:
        tools = {tool.name: tool for tool in (await client.list_tools()).tools}
        version = client.protocol_version

    assert {f"ask_mcp_{era}_agent", "get_answer", "cancel_answer"} <= set(tools)
    assert f"ask_only_{era}_openai" not in tools
    assert "Repeats everything." in str(tools[f"ask_mcp_{era}_agent"].description)
    assert version.startswith("2026") is (era == "auto")


@both_eras
async def test_a_tool_call_is_answered_by_the_agent_and_continues_its_session(
    host: Host, publish: Publish, era: Era
) -> None:
    agent = publish(name=f"Counting {era}", door="mcp", config={"remember": True})

    async with connected(host, era) as client:
        calls = [await client.call_tool(f"ask_counting_{era}", {"text": text, "session": "one"}) for text in ("a", "b")]

    assert [text_of(call) for call in calls] == ["1 a", "2 b"]
    assert calls[0].structured_content["session"] == "one"
    events = [each for each in host.items("/events") if each["source"] == "mcp"]
    assert {run["event_id"] for run in host.items("/runs", agent_id=agent)} <= {each["event_id"] for each in events}
    entries = host.items("/audit", kind="door", action="turn")
    assert {"via": "mcp"} in [entry["detail"] for entry in entries if entry["resource"] == agent]


@both_eras
async def test_what_the_agent_writes_is_reported_as_progress(host: Host, publish: Publish, era: Era) -> None:
    publish(name=f"Slow {era}", door="mcp", config={"delay_ms": 20})
    reported: list[str] = []

    async def report(progress: float, total: float | None, message: str | None) -> None:
        reported.append(message or "")

    async with connected(host, era) as client:
        answer = await client.call_tool(f"ask_slow_{era}", {"text": "one two three"}, progress_callback=report)

    assert text_of(answer) == "one two three"
    assert "".join(reported) == "one two three"
    assert len(reported) > 1


async def test_an_answer_that_takes_longer_is_fetched_later(host: Host, publish: Publish, gate_file: Path) -> None:
    publish(PUPPET, name="Patient", door="mcp")

    async with connected(host) as client:
        early = await client.call_tool("ask_patient", {"text": f"gate {gate_file}", "wait_seconds": 0.2})
        await asyncio.to_thread(gate_file.touch)
        late = await client.call_tool("get_answer", {"turn_id": early.structured_content["turn_id"]})

    assert (early.structured_content["state"], early.is_error) == ("working", False)
    assert text_of(late) == "waiting is over"


async def test_the_same_request_id_asks_once(host: Host, publish: Publish) -> None:
    agent = publish(name="Once", door="mcp")
    arguments = {"text": "hello", "request_id": "mine"}

    async with connected(host) as client:
        answers = [await client.call_tool("ask_once", arguments) for _ in range(2)]

    assert answers[0].structured_content == answers[1].structured_content
    assert len(host.items("/runs", agent_id=agent)) == 1


async def test_a_client_that_leaves_reads_the_answer_with_its_request_id(
    host: Host, publish: Publish, gate_file: Path
) -> None:
    agent = publish(PUPPET, name="Dropped", door="mcp", restart_policy="never")
    arguments = {"text": f"gate {gate_file}", "request_id": "mine"}

    async with connected(host) as client:
        dropped = asyncio.create_task(client.call_tool("ask_dropped", arguments))
        await asyncio.to_thread(host.active_run, agent)
        dropped.cancel()
        await asyncio.wait({dropped})
    async with connected(host) as client:
        again = asyncio.create_task(client.call_tool("ask_dropped", arguments))
        await asyncio.to_thread(gate_file.touch)
        answer = await again

    assert dropped.cancelled()
    assert text_of(answer) == "waiting is over"
    assert len(host.items("/runs", agent_id=agent)) == 1


async def test_an_answer_is_cancelled(host: Host, publish: Publish) -> None:
    agent = publish(PUPPET, name="Sleepy", door="mcp")

    async with connected(host) as client:
        early = await client.call_tool("ask_sleepy", {"text": "sleep", "wait_seconds": 0.2})
        host.active_run(agent)
        cancelled = await client.call_tool("cancel_answer", {"turn_id": early.structured_content["turn_id"]})

    assert cancelled.structured_content["code"] == "cancelled"
    assert [run["status"] for run in host.items("/runs", agent_id=agent)] == ["cancelled"]


async def test_conversations_and_files_of_the_key_are_resources(host: Host, publish: Publish) -> None:
    publish(name="Archive", door="mcp")
    stranger = host.key("mcp", "stranger to archives")

    async with connected(host) as client:
        await client.call_tool("ask_archive", {"text": "remember me", "session": "for resources"})
        listed = (await client.list_resources()).resources
        uri = next(str(each.uri) for each in listed if each.name == "mcp: for resources")
        [contents] = (await client.read_resource(uri)).contents
        templates = (await client.list_resource_templates()).resource_templates
    async with connected(host, key=stranger) as client:
        with pytest.raises(MCPError):
            await client.read_resource(uri)
        foreign = [str(each.uri) for each in (await client.list_resources()).resources]

    assert isinstance(contents, types.TextResourceContents)
    assert [(item["role"], item["content"]) for item in json.loads(contents.text)] == [
        ("user", "remember me"),
        ("assistant", "remember me"),
    ]
    assert len(templates) == 2
    assert uri not in foreign


@both_eras
async def test_errors_have_the_form_of_the_standard(host: Host, publish: Publish, era: Era) -> None:
    publish(PUPPET, name=f"Broken {era}", door="mcp", restart_policy="never")

    async with connected(host, era) as client:
        failed = await client.call_tool(f"ask_broken_{era}", {"text": "fail"})
        wrong: list[dict[str, Any]] = [{"text": ""}, {"text": "x", "wait_seconds": 900}, {"text": ["x"]}]
        refused = [await client.call_tool(f"ask_broken_{era}", arguments) for arguments in wrong]
        missing = await client.call_tool("get_answer", {"turn_id": "turn_999999999"})
        with pytest.raises(MCPError):
            await client.call_tool("ask_nobody", {"text": "x"})

    assert (failed.is_error, failed.structured_content["code"]) == (True, "puppet.broken")
    assert [each.structured_content["code"] for each in refused] == ["invalid_argument"] * 3
    assert missing.structured_content == {"code": "not_found"}


@pytest.mark.parametrize(("key", "status"), [("wrong", 401), ("chat", 403), ("viewer", 403), ("mcp", 405)])
def test_requests_that_are_not_served_are_refused_without_an_invitation_to_log_in(
    host: Host, key: str, status: int
) -> None:
    secret = "parlour_wrong" if key == "wrong" else host.key(key)

    refused = httpx.get(f"{host.address}/api/v1/mcp", headers=bearer(secret))

    assert refused.status_code == status
    assert "www-authenticate" not in refused.headers
    assert refused.json()["error"]["message"]


def test_paths_beside_the_door_stay_those_of_the_host(host: Host) -> None:
    assert host.http().get("/mcp-servers").status_code == 200
