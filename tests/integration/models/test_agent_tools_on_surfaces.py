"""Tests tools of the local agent on the chat socket, QQ and Telegram, by the exact requests of the model's services."""

import asyncio
import json
import sys
from collections.abc import Iterator
from typing import Any

import pytest

from parlour.testing.model_server import ModelServer, Raw, Say
from tests.support.agent_doors import DOORS, open_door, open_group
from tests.support.agents import AgentHost
from tests.support.chat import Chat
from tests.support.harness import ROOT, Json, eventually

from .test_agent_findings import calls, results

pytestmark = pytest.mark.long

SERVER = ROOT / "tests" / "fixtures" / "plugins" / "desk_server.py"
USER = 501
LOG_LINE_CHARACTERS = len("entry 000000\n")
MARK = {"type": "ephemeral"}


@pytest.fixture(scope="module")
def host(tmp_path_factory: pytest.TempPathFactory) -> Iterator[AgentHost]:
    with ModelServer() as server:
        settings = {"PARLOUR__MCP__ALLOW_UNSANDBOXED": "true", "PARLOUR__RUNS__PER_SENDER_PER_MINUTE": "10000"}
        host = AgentHost(tmp_path_factory.mktemp("tools on surfaces"), server, **settings)
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


def decide(host: AgentHost, agent: str, decision: str) -> None:
    def pending() -> list[Json]:
        return [each for each in host.items("/approvals", status="pending") if each["agent_id"] == agent]

    [approval] = eventually(pending, "the call waits for a decision", 30)
    assert len(host.server.requests) == 1, "the model waits for the decision too"
    decided = host.http().post(f"/approvals/{approval['approval_id']}", json={"decision": decision})
    assert decided.status_code == 200, decided.text


@pytest.mark.parametrize("decision", ["approve", "deny"])
@pytest.mark.parametrize("door", DOORS)
async def test_a_tool_that_changes_something_waits_for_the_decision_of_a_person(
    host: AgentHost, door: str, decision: str
) -> None:
    agent = host.local(host.model(), tools=["desk.drop_db"])
    host.server.will(calls("desk_drop_db", name=door), Say("So be it."))
    if door == "chat":  # only groups ask by default
        await ask_in_private(host, agent, decision)
    else:
        async with open_group(door, host, agent) as group:
            prompt = await group.ask(USER, "delete it")
            assert "desk.drop_db" in prompt
            await asyncio.to_thread(decide, host, agent, decision)
            heard = [await group.hear()]
            while heard[-1] != "So be it.":
                heard.append(await group.hear())
    [result] = results(host.requests(2)[1])
    assert (result == f"{door} is deleted") is (decision == "approve")
    assert decision == "approve" or "a person did not allow it" in result


async def ask_in_private(host: AgentHost, agent: str, decision: str) -> None:
    body = host.http().get(f"/agents/{agent}").json()
    asking = {**body, "tool_policy": [{"tools": ["desk.*"], "decide": "ask"}]}
    assert host.http().put(f"/agents/{agent}", json=asking).status_code == 200
    async with Chat(host, agent, key=host.key("operator")) as chat:
        await chat.say("delete it")
        await asyncio.to_thread(decide, host, agent, decision)
        await chat.until("run", status="completed")
    asked, decided = chat.of("approval")
    assert (asked["status"], decided["status"]) == ("pending", "approved" if decision == "approve" else "denied")
    assert "desk.drop_db" in asked["words"]
    assert [frame["message"]["content"] for frame in chat.of("message")] == ["So be it."]


@pytest.mark.parametrize("door", DOORS)
async def test_structured_content_and_the_end_of_long_outputs_reach_the_model(host: AgentHost, door: str) -> None:
    agent = host.local(host.model(), tools=["desk.weigh", "desk.print_log"])
    short, long, huge = (count // LOG_LINE_CHARACTERS for count in (20_000, 100_000, 400_000))
    counts = {"a": short, "b": long, "c": huge}
    host.server.will(calls("desk_weigh", "w", item="tea"))
    host.server.will(*(calls("desk_print_log", id, lines=count) for id, count in counts.items()), Say("Read."))
    async with open_door(door, host, agent) as chat:
        assert await chat.ask("what is in the log?") == "Read."
    weighed, *printed = results(host.requests(5)[4])
    assert weighed == 'tea was weighed\n{"item": "tea", "grams": 471}'
    for count, text in zip(counts.values(), printed, strict=True):
        assert text.startswith("entry 000000\nentry 000001\n")
        assert f"entry {count - 1:06d}" in text, "the end is there too"
        assert len(text) < 32_000
        assert ("artifact" in text and "read on with artifact.read" in text) is (count != short)


def whole(content: Json) -> Raw:
    return Raw(json.dumps(content).encode(), content_type="application/json")


@pytest.mark.parametrize("door", DOORS)
async def test_anthropic_gets_failed_results_as_errors_and_a_sensible_length(host: AgentHost, door: str) -> None:
    def answer(*blocks: Json, reason: str = "end_turn") -> Raw:
        usage = {"input_tokens": 10, "output_tokens": 2}
        return whole({"content": list(blocks), "stop_reason": reason, "usage": usage})

    used = {"type": "tool_use", "id": "t1", "name": "calculator_evaluate", "input": {"expression": "1/0"}}
    fine = {"type": "tool_use", "id": "t2", "name": "calculator_evaluate", "input": {"expression": "2+2"}}
    host.server.will(answer(used, fine, reason="tool_use"), answer({"type": "text", "text": "It is 4."}))
    agent = host.local(host.model("anthropic", max_output_tokens=64_000), streaming=False)
    async with open_door(door, host, agent) as chat:
        assert await chat.ask("1/0 and 2+2?") == "It is 4."
    first, second = host.requests(2)
    assert first["max_tokens"] == second["max_tokens"] == 8192
    assert (first["tools"][-1]["cache_control"], first["system"][-1]["cache_control"]) == (MARK, MARK)
    blocks = second["messages"][-1]["content"]
    assert [(each["tool_use_id"], each.get("is_error")) for each in blocks] == [("t1", True), ("t2", None)]
    assert blocks[-1]["cache_control"] == MARK


@pytest.mark.parametrize("door", DOORS)
async def test_gemini_gets_failed_results_as_errors_and_texts_as_texts(host: AgentHost, door: str) -> None:
    def answer(*parts: Json) -> Raw:
        return whole({"candidates": [{"content": {"parts": list(parts)}, "finishReason": "STOP"}]})

    used = [{"functionCall": {"name": "calculator_evaluate", "args": {"expression": each}}} for each in ("1/0", "2+2")]
    host.server.will(answer(*used), answer({"text": "It is 4."}))
    agent = host.local(host.model("gemini"), streaming=False)
    async with open_door(door, host, agent) as chat:
        assert await chat.ask("1/0 and 2+2?") == "It is 4."
    failed, done = [part["functionResponse"]["response"] for part in host.requests(2)[1]["contents"][-1]["parts"]]
    assert list(failed) == ["error"]
    assert done == {"output": "4"}


@pytest.mark.parametrize("door", DOORS)
async def test_reasoning_items_go_back_with_their_calls(host: AgentHost, door: str) -> None:
    def answer(*items: Json) -> Raw:
        return whole({"status": "completed", "output": list(items), "usage": {"input_tokens": 5, "output_tokens": 5}})

    thought = {"type": "reasoning", "id": "rs_1", "summary": [], "encrypted_content": "c2VjcmV0"}
    call = {"type": "function_call", "id": "fc_1", "call_id": "c1", "name": "time_now", "arguments": "{}"}
    text = {"type": "message", "role": "assistant", "content": [{"type": "output_text", "text": "Noon."}]}
    host.server.will(answer(thought, call), answer(text))
    agent = host.local(host.model("openai-responses", abilities=["tools", "reasoning"]), streaming=False)
    async with open_door(door, host, agent) as chat:
        assert await chat.ask("when?") == "Noon."
    first, second = host.requests(2)
    kinds = [each.get("type") or each["role"] for each in second["input"]]
    assert kinds == ["user", "reasoning", "function_call", "function_call_output"]
    assert second["input"][1]["encrypted_content"] == "c2VjcmV0"
    assert first["prompt_cache_key"] == second["prompt_cache_key"]


@pytest.mark.parametrize("door", DOORS)
async def test_of_many_tools_some_are_offered_and_others_found(host: AgentHost, door: str) -> None:
    agent = host.local(host.model(), resource_policy={"mcp_servers": ["desk"]})
    host.server.will(calls("search_tools", query="weigh item"), calls("desk_weigh", "c2", item="tea"), Say("471."))
    async with open_door(door, host, agent) as chat:
        assert await chat.ask("how heavy is tea?") == "471."
    first, second, third = ([tool["function"]["name"] for tool in each["tools"]] for each in host.requests(3))
    assert len(first) < 15
    assert second[: len(first)] == third[: len(first)] == first
    assert "grams" in results(host.requests(3)[2])[-1]


@pytest.mark.parametrize("door", DOORS)
async def test_a_fresh_agent_knows_the_time_and_finds_what_was_said_before(host: AgentHost, door: str) -> None:
    async with open_door(door, host, host.local(host.model())) as chat:
        host.server.will(
            Say("I will."), calls("history_search", query="albatross"), calls("time_now", "c2"), Say("Ok.")
        )
        await chat.ask("remember the room albatross")
        await chat.ask("which room?")
    last = host.requests(4)[3]
    offered = {tool["function"]["name"] for tool in last["tools"]}
    assert offered == {"time_now", "calculator_evaluate", "web_fetch", "artifact_read", "history_search"}
    found, time = results(last)
    assert "remember the room albatross" in found
    assert str(host.requests(1)[0]["messages"]).partition("(Now: ")[2].split()[1][:10] in time


def test_switches_of_a_model_are_in_its_requests(host: AgentHost) -> None:
    parameters: dict[str, Any] = {"parallel_tool_calls": False, "temperature": 0.2}
    host.ask(host.local(host.model(parameters=parameters), temperature=0.7, reasoning_effort="low"), "hi")
    [request] = host.requests(1)
    assert (request["parallel_tool_calls"], request["temperature"]) == (False, 0.7)
    assert request["reasoning_effort"] == "low"
