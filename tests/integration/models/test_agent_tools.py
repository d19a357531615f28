"""Tests the tools of the local agent in a QQ group: those of MCP servers, actions of the platform, many at once."""

import json
import sys
from collections.abc import Iterator
from typing import Any

import pytest

from parlour.testing.model_server import ModelServer, Say
from tests.support.agents import AgentHost
from tests.support.harness import ROOT, Json, eventually
from tests.support.onebot import Peer

SERVER = ROOT / "tests" / "fixtures" / "plugins" / "desk_server.py"
GROUP = 77


@pytest.fixture(scope="module")
def host(tmp_path_factory: pytest.TempPathFactory) -> Iterator[AgentHost]:
    with ModelServer() as server:
        host = AgentHost(tmp_path_factory.mktemp("agent tools"), server, PARLOUR__MCP__ALLOW_UNSANDBOXED="true")
        desk = {"name": "desk", "transport": "stdio", "command": sys.executable, "arguments": [str(SERVER)]}
        made = host.http().post("/mcp-servers", json=desk)
        assert made.status_code == 201, made.text
        path = f"/mcp-servers/{made.json()['server_id']}"
        eventually(lambda: host.http().get(path).json()["status"]["state"] == "connected", "the server connects", 60)
        yield host
        host.close()


@pytest.fixture(autouse=True)
def nothing_asked(host: AgentHost) -> None:
    host.server.forget()


def calls(name: str, /, **arguments: Any) -> Say:
    function = {"name": name, "arguments": json.dumps(arguments)}
    return Say("", tool_calls=[{"index": 0, "id": "c1", "function": function}])


def tool_names(request: Json) -> list[str]:
    return [each["function"]["name"] for each in request.get("tools", ())]


def tool_result(request: Json) -> str:
    return str([each["content"] for each in request["messages"] if each["role"] == "tool"][-1])


def answered_in(host: AgentHost, peer: Peer, text: str, group: int = GROUP) -> str:
    peer.say(text, mention=bool(group), group=group)
    return peer.next_send()[1]


def test_a_tool_that_changes_something_is_asked_about_in_a_group_and_called_at_once_in_private(host: AgentHost) -> None:
    agent = host.local(host.model(), tools=["desk.drop_db", "desk.weigh"])
    _, peer = host.bot(agent)
    host.server.will(calls("desk_weigh", item="tea"), Say("471 grams."), calls("desk_drop_db", name="x"), Say("Done."))
    assert answered_in(host, peer, "how heavy is tea?") == "471 grams."
    prompt = answered_in(host, peer, "delete x")
    assert "desk.drop_db" in prompt
    assert "approve" in prompt
    assert len(host.requests(3)) == 3, "the model waits for the decision"
    [approval] = host.items("/approvals", status="pending")
    assert host.http().post(f"/approvals/{approval['approval_id']}", json={"decision": "approve"}).status_code == 200
    assert "was approved" in peer.next_send()[1]
    assert peer.next_send()[1] == "Done."
    assert tool_result(host.requests(4)[3]) == "x is deleted"

    host.server.forget()
    host.server.will(calls("desk_drop_db", name="y"), Say("Gone."))
    assert answered_in(host, peer, "delete y", group=0) == "Gone."
    assert tool_result(host.requests(2)[1]) == "y is deleted"
    peer.close()


def test_an_entry_of_the_tool_policy_goes_before_the_default(host: AgentHost) -> None:
    agent = host.local(host.model(), tools=["desk.drop_db"])
    body = host.http().get(f"/agents/{agent}").json()
    allowing = {**body, "tool_policy": [{"tools": ["desk.*"], "decide": "allow"}]}
    assert host.http().put(f"/agents/{agent}", json=allowing).status_code == 200
    _, peer = host.bot(agent)
    host.server.will(calls("desk_drop_db", name="z"), Say("Gone."))
    assert answered_in(host, peer, "delete z") == "Gone."
    peer.close()


def test_structured_content_reaches_the_model_and_is_not_repeated(host: AgentHost) -> None:
    agent = host.local(host.model(), tools=["desk.weigh", "desk.price"])
    host.server.will(calls("desk_weigh", item="tea"), calls("desk_price", item="tea"), Say("So."))
    host.ask(agent, "tea?")
    results = [each["content"] for each in host.requests(3)[2]["messages"] if each["role"] == "tool"]
    assert results[0] == 'tea was weighed\n{"item": "tea", "grams": 471}'
    assert json.loads(results[1]) == {"cents": 250}


def test_of_many_tools_the_model_gets_some_and_finds_the_others(host: AgentHost) -> None:
    agent = host.local(host.model(), resource_policy={"mcp_servers": ["desk"]})
    host.server.will(calls("search_tools", query="delete database"), calls("desk_drop_db", name="old"), Say("Gone."))
    host.ask(agent, "delete the old database")
    first, second, third = host.requests(3)
    assert len(tool_names(first)) == 9
    assert {"search_tools", "artifact_read"} <= set(tool_names(first))
    assert "desk_drop_db" not in tool_names(first)
    assert "desk.drop_db: Deletes a database." in tool_result(second)
    assert tool_names(second)[:9] == tool_names(first), "the tools before stay where they were, for the cache"
    assert "desk_drop_db" in tool_names(second)
    assert tool_result(third) == "old is deleted"


def test_a_fresh_agent_has_the_tools_that_a_chat_needs(host: AgentHost) -> None:
    agent = host.local(host.model())
    host.ask(agent, "hello", conversation_id="fresh")
    host.ask(agent, "and now?", conversation_id="fresh")
    wanted = {"time_now", "calculator_evaluate", "web_fetch", "artifact_read", "history_search"}
    assert set(tool_names(host.requests(2)[1])) == wanted


def test_actions_that_the_agents_policy_permits_are_tools(host: AgentHost) -> None:
    agent = host.local(host.model())
    body = host.http().get(f"/agents/{agent}").json()
    policy = {"message.react": "allow", "member.mute": "ask", "member.kick": "deny"}
    assert host.http().put(f"/agents/{agent}", json={**body, "approval_policy": policy}).status_code == 200
    _, peer = host.bot(agent)
    host.server.will(calls("member_mute", user_id="502", duration=60), Say("Muted."))
    prompt = answered_in(host, peer, "mute 502 for a minute")
    assert "member.mute" in prompt
    [request] = host.requests(1)
    offered = set(tool_names(request))
    assert {"member_mute"} <= offered
    assert not {"member_kick", "message_delete", "group_rename"} & offered
    assert "Tools that act in the chat" in request["messages"][0]["content"]
    [approval] = host.items("/approvals", status="pending")
    assert host.http().post(f"/approvals/{approval['approval_id']}", json={"decision": "approve"}).status_code == 200
    muted = peer.next_call("set_group_ban")
    assert (muted["group_id"], muted["user_id"], muted["duration"]) == (GROUP, 502, 60)
    sent = [peer.next_send()[1] for _ in range(2)]
    assert sent[1] == "Muted."
    assert tool_result(host.requests(2)[1]).startswith("Done.")

    host.server.forget()
    peer.say("mute them", user=7)
    peer.next_send()
    assert "member_mute" not in tool_names(host.requests(1)[0]), "a private chat has no members"
    peer.close()
