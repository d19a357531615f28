"""Tests the AG-UI door with the unmodified `@ag-ui/client`, against a real Host."""

import asyncio
from collections.abc import Callable
from pathlib import Path
from typing import Any

import httpx
import pytest

from tests.support.door_clients import AgUiClient, asking
from tests.support.harness import PUPPET, Host, Json, bearer, eventually

Publish = Callable[..., str]
PIXEL = "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg=="


def kinds(run: Json) -> list[str]:
    return [event["type"] for event in run["events"]]


def text_of(run: Json) -> str:
    return "".join(event["delta"] for event in run["events"] if event["type"] == "TEXT_MESSAGE_CONTENT")


def events_of(host: Host, agent_id: str) -> list[Json]:
    events = {run["event_id"] for run in host.items("/runs", agent_id=agent_id)}
    return [each for each in host.items("/events") if each["event_id"] in events]


def custom(run: Json) -> list[Json]:
    return [event for event in run["events"] if event["type"] == "CUSTOM"]


async def test_an_answer_is_streamed_and_a_thread_continues_its_conversation(host: Host, publish: Publish) -> None:
    agent = publish(door="agui", config={"remember": True, "delay_ms": 5})
    client = AgUiClient(host, agent)

    first, second = await client.run("my thread", asking("run-1", "one two three"), asking("run-2", "b"))
    [other] = await client.run("another thread", asking("run-3", "c"))

    assert (first["error"], kinds(first)[0], kinds(first)[-1]) == (None, "RUN_STARTED", "RUN_FINISHED")
    assert {event["threadId"] for event in first["events"] if "threadId" in event} == {"my thread"}
    assert [text_of(run) for run in (first, second, other)] == ["1 one two three", "2 b", "1 c"]
    assert kinds(first).count("TEXT_MESSAGE_CONTENT") > 1
    assert [message["role"] for message in second["messages"]] == ["user", "assistant"] * 2
    assert {each["source"] for each in events_of(host, agent)} == {"agui"}
    [entry, *_] = [each for each in host.items("/audit", kind="door", action="turn") if each["resource"] == agent]
    assert entry["detail"] == {"via": "agui"}
    metrics = host.http().get(f"{host.address}/metrics").text
    assert 'parlour_door_requests_total{door="agui",result="accepted"}' in metrics


async def test_tool_calls_and_several_messages_become_messages_of_the_client(host: Host, publish: Publish) -> None:
    agent = publish(PUPPET, door="agui")

    with_tool, two = await AgUiClient(host, agent).run("t", asking("tool", "tool"), asking("two", "two"))

    [_, call, result, answer] = with_tool["messages"]
    assert [each["function"]["name"] for each in call["toolCalls"]] == ["weather"]
    assert (result["role"], result["content"], result["toolCallId"]) == ("tool", "completed", "call-1")
    assert answer["content"] == "blue"
    assert [each["content"] for each in two["messages"][-2:]] == ["first", "second"]


async def test_files_of_the_user_reach_the_agent(host: Host, publish: Publish) -> None:
    agent = publish(door="agui")
    parts = [
        {"type": "text", "text": "look"},
        {"type": "image", "source": {"type": "data", "value": PIXEL, "mimeType": "image/png"}},
    ]

    [run] = await AgUiClient(host, agent).run("t", asking("r", parts))

    assert text_of(run).startswith("look")
    [event] = events_of(host, agent)
    [item, _] = host.items(f"/conversations/{event['conversation_id']}/transcript")
    assert [ref["mime_type"] for ref in item["artifact_refs"]] == ["image/png"]


@pytest.mark.parametrize("on_disconnect", ["continue", "cancel"])
async def test_a_client_that_aborts_leaves_the_run_or_cancels_it(
    host: Host, publish: Publish, gate_file: Path, on_disconnect: str
) -> None:
    agent = publish(PUPPET, door="agui", restart_policy="never")
    client = AgUiClient(host, agent, **{"X-Parlour-On-Disconnect": on_disconnect})

    [aborted] = await client.run("t", asking("run", f"gate {gate_file}", abortAt="TEXT_MESSAGE_CONTENT"))

    assert text_of(aborted) == "waiting "
    if on_disconnect == "cancel":
        eventually(lambda: host.items("/runs", agent_id=agent, status="cancelled"), "the run is cancelled")
        return
    await asyncio.to_thread(gate_file.touch)
    [again] = await client.run("t", asking("run", f"gate {gate_file}"))
    assert (text_of(again), kinds(again)[-1]) == ("waiting is over", "RUN_FINISHED")
    assert len(host.items("/runs", agent_id=agent)) == 1


async def test_what_has_no_effect_is_named(host: Host, publish: Publish) -> None:
    tools = [{"name": "confirm", "description": "Asks the user.", "parameters": {"type": "object"}}]

    [run] = await AgUiClient(host, publish(door="agui")).run("t", asking("r", "hello", tools=tools))

    [event] = custom(run)
    assert (event["name"], event["value"]) == ("parlour:ignored", {"fields": ["tools"]})
    assert text_of(run) == "hello"


async def test_failures_have_the_form_of_the_standard(host: Host, publish: Publish) -> None:
    puppet = publish(PUPPET, door="agui", restart_policy="never")

    [failed] = await AgUiClient(host, puppet).run("t", asking("r", "fail"))
    [wrong] = await AgUiClient(host, puppet, key="parlour_wrong").run("t", asking("r", "x"))
    [unknown] = await AgUiClient(host, publish(door="a2a")).run("t", asking("r", "x"))

    [error] = [event for event in failed["events"] if event["type"] == "RUN_ERROR"]
    assert (error["code"], error["message"]) == ("puppet.broken", "The string of the puppet broke.")
    for run, status, code in ((wrong, 401, "unauthenticated"), (unknown, 404, "not_found")):
        assert (run["error"]["status"], run["error"]["payload"]["code"]) == (status, code)
        assert run["error"]["payload"]["type"] == "RUN_ERROR"


@pytest.mark.parametrize(
    ("body", "field"),
    [
        ({"runId": "r", "messages": []}, "threadId"),
        ({"threadId": "t", "runId": "r", "messages": []}, "messages"),
        ({"threadId": "t", "runId": "r", "messages": [{"role": "user", "content": " "}]}, "messages"),
        ({"threadId": "t", "runId": "r", "messages": [{"role": "user", "content": [{"type": "odd"}]}]}, "messages"),
        ({"threadId": "t", "runId": "r", "messages": [], "resume": [{"interruptId": "i"}]}, "resume"),
        ([], "body"),
    ],
)
def test_a_request_that_can_not_be_read_names_the_field(host: Host, publish: Publish, body: Any, field: str) -> None:
    address = f"{host.address}/agui/{publish(door='agui')}"

    refused = httpx.post(address, json=body, headers=bearer(host.key("chat")))

    assert (refused.status_code, refused.json()["type"]) == (400, "RUN_ERROR")
    assert refused.json()["message"].startswith(f"{field}:")
