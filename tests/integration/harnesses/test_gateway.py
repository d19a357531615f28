"""Tests the MCP server of a run with the unmodified client of the standard, called by a coding agent."""

import json
from pathlib import Path
from typing import Any

import httpx
import pytest

from tests.integration.harnesses.conftest import MakeAgent
from tests.support.harness import Host, Json, texts

OFFERED = {"context", "history_page", "history_search", "state_get", "state_set", "state_list", "artifact_create"}


def gateway(host: Host, agent_id: str, era: str, *calls: str, chat: str = "one") -> Json:
    text = "\n".join([f"gw {era}", *calls])
    result = host.ask(agent_id, text, conversation_id=chat)
    assert result["run"]["status"] == "completed", result["run"]["error"]
    found: Json = json.loads("".join(texts(result)))
    return found


def access(host: Host) -> tuple[str, dict[str, str]]:
    """Returns the address and the headers that the latest coding agent was given."""
    files = Path(host.home, "programs", "workspaces").rglob("access.json")
    newest = max(files, key=lambda each: each.stat().st_mtime)
    given = json.loads(newest.read_text())
    return str(given["url"]), dict(given["headers"])


def list_tools(url: str, headers: dict[str, str]) -> httpx.Response:
    body = {"jsonrpc": "2.0", "id": 1, "method": "tools/list", "params": {}}
    wanted = {"accept": "application/json, text/event-stream", "mcp-protocol-version": "2025-06-18"}
    return httpx.post(url, json=body, headers={**wanted, **headers})


@pytest.mark.parametrize("era", ["auto", "legacy"])
def test_a_coding_agent_reads_the_chat_and_keeps_values_with_the_rights_of_its_run(
    acp_host: Host, scripted: MakeAgent, era: str
) -> None:
    agent = scripted(use_host=True)
    acp_host.ask(agent, "say something first", conversation_id="one")
    set_value = 'state_set {"key": "color", "value": {"name": "blue"}}'
    create = 'artifact_create {"name": "a.txt", "text": "made here"}'

    first = gateway(acp_host, agent, era, "history_page", "context", set_value, create)
    second = gateway(
        acp_host, agent, era, 'state_get {"key": "color"}', "state_list", 'history_search {"query": "color"}'
    )

    assert set(first["tools"]) >= OFFERED
    assert "call_tool" in first["tools"]
    [[failed, page], [_, context], [_, stored], [_, artifact]] = first["answers"]
    assert not failed
    assert "say something first" in [each["text"] for each in json.loads(page)["items"]]
    assert json.loads(context)["event_type"] == "message.received"
    assert stored == "stored"
    assert acp_host.http().get(f"/artifacts/{json.loads(artifact)['artifact_id']}/content").text == "made here"
    [[_, value], [_, keys], [failed, _]] = second["answers"]
    assert json.loads(value) == {"found": True, "value": {"name": "blue"}}
    assert json.loads(keys) == ["color"]
    assert not failed

    refused = gateway(acp_host, agent, era, 'call_tool {"name": "box.exec", "arguments": {}}', 'state_set {"key": "x"}')
    assert refused["answers"][0][0] is True
    assert refused["answers"][0][1].startswith("unauthorized")
    assert refused["answers"][1] == [True, "invalid_argument: value is missing"]
    denied = [
        each for each in acp_host.items("/audit") if each["action"] == "call_tool" and each["outcome"] == "denied"
    ]
    assert {"via": "gateway"} in [each["detail"] for each in denied]
    own = {each["action"] for each in acp_host.items("/audit") if each["detail"] == {"via": "gateway"}}
    assert own >= {"history_page", "state_set", "artifact_create"}


def test_a_token_is_refused_when_its_run_has_ended_and_from_elsewhere(acp_host: Host, scripted: MakeAgent) -> None:
    agent = scripted(use_host=True)
    gateway(acp_host, agent, "auto")
    url, headers = access(acp_host)

    answer = list_tools(url, headers)

    assert answer.status_code == 401
    assert "www-authenticate" not in answer.headers
    assert answer.json()["error"]["message"] == "no active run has this token"
    for wrong in ({}, {"authorization": "Bearer pgw_wrong"}, {"authorization": f"Bearer {acp_host.key()}"}):
        assert list_tools(url, wrong).json()["error"]["message"] == answer.json()["error"]["message"]
    assert list_tools(url, {**headers, "x-forwarded-for": "203.0.113.9"}).status_code == 404
    assert httpx.get(f"{acp_host.address}/gateway/.well-known/oauth-protected-resource").status_code == 404
    for _ in range(12):
        last = list_tools(url, {"authorization": "Bearer pgw_wrong"})
    assert last.status_code == 429
    everything: list[Any] = [acp_host.log(), *acp_host.items("/audit"), *acp_host.items("/runs", agent_id=agent)]
    assert headers["Authorization"].removeprefix("Bearer ") not in json.dumps(everything)
