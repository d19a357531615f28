"""Tests what the services of a local agent get in their own formats: marks for caches, reasoning items, documents."""

import json
from collections.abc import Iterator
from typing import Any

import pytest

from parlour.testing.model_server import ModelServer, Raw, Refuse, Say, event
from tests.support.agents import AgentHost
from tests.support.harness import Json, texts


@pytest.fixture(scope="module")
def host(tmp_path_factory: pytest.TempPathFactory) -> Iterator[AgentHost]:
    with ModelServer() as server:
        host = AgentHost(tmp_path_factory.mktemp("providers"), server)
        yield host
        host.close()


@pytest.fixture(autouse=True)
def nothing_asked(host: AgentHost) -> None:
    host.server.forget()


def events(*parts: Json) -> Raw:
    return Raw(b"".join(b"data: " + json.dumps(each).encode() + b"\n\n" for each in parts))


def anthropic(text: str, **call: Any) -> Raw:
    block = {"type": "tool_use", "id": "t1", "name": call["name"], "input": call["input"]} if call else None
    return events(
        {"type": "message_start", "message": {"usage": {"input_tokens": 10, "cache_read_input_tokens": 90}}},
        {"type": "content_block_start", "index": 0, "content_block": block or {"type": "text", "text": text}},
        {
            "type": "message_delta",
            "delta": {"stop_reason": "tool_use" if call else "end_turn"},
            "usage": {"output_tokens": 3},
        },
        {"type": "message_stop"},
    )


def responses(*items: Json) -> Raw:
    usage = {"input_tokens": 50, "output_tokens": 5, "input_tokens_details": {"cached_tokens": 40}}
    said = [
        {"type": "response.output_text.delta", "delta": part["text"]}
        for item in items
        if item["type"] == "message"
        for part in item["content"]
    ]
    done = [{"type": "response.output_item.done", "output_index": at, "item": item} for at, item in enumerate(items)]
    return events(*said, *done, {"type": "response.completed", "response": {"status": "completed", "usage": usage}})


def message(text: str) -> Json:
    return {"type": "message", "role": "assistant", "content": [{"type": "output_text", "text": text}]}


def send(host: AgentHost, agent: str, conversation: str, *contents: Json) -> list[str]:
    body = {"agent_id": agent, "input": {"contents": list(contents)}, "conversation_id": conversation}
    return texts(host.http().post("/events?wait=result", json=body).json())


def test_anthropic_gets_marks_for_its_cache_and_cached_tokens_are_in_the_usage(host: AgentHost) -> None:
    agent = host.local(host.model("anthropic", max_output_tokens=64000), tools=["time.now"])
    host.server.will(anthropic("", name="time_now", input={}), anthropic("It is noon."), anthropic("Still noon."))
    result = host.ask(agent, "when?", conversation_id="cached")
    assert texts(result) == ["It is noon."]
    host.ask(agent, "and now?", conversation_id="cached")
    first, second, third = host.requests(3)
    mark = {"type": "ephemeral"}
    assert first["max_tokens"] == 8192
    assert (first["tools"][-1]["cache_control"], first["system"][-1]["cache_control"]) == (mark, mark)
    marked = [turn["content"][-1].get("cache_control") for turn in third["messages"] if turn["role"] == "user"]
    assert marked[-2:] == [mark, mark]
    assert json.dumps(third).count("cache_control") == 4
    assert second["messages"][0]["content"][0]["text"] == first["messages"][0]["content"][0]["text"]
    [usage] = [
        each["data"]["usage"]
        for each in host.items(f"/runs/{result['run']['run_id']}/events")
        if "usage" in each["data"]
    ][:1]
    assert usage.get("cached_tokens")


def test_reasoning_items_go_back_with_the_calls_that_followed_from_them(host: AgentHost) -> None:
    model = host.model("openai-responses", abilities=["tools", "reasoning", "vision", "files"])
    agent = host.local(model, tools=["time.now"], reasoning_effort="low")
    thought = {"type": "reasoning", "id": "rs_1", "summary": [], "encrypted_content": "c2VjcmV0"}
    call = {"type": "function_call", "id": "fc_1", "call_id": "c1", "name": "time_now", "arguments": "{}"}
    host.server.will(responses(thought, call), responses(message("It is noon.")))
    assert texts(host.ask(agent, "when?", conversation_id="responses")) == ["It is noon."]
    first, second = host.requests(2)
    assert (first["store"], first["include"], first["reasoning"]) == (
        False,
        ["reasoning.encrypted_content"],
        {"effort": "low"},
    )
    assert first["prompt_cache_key"] == second["prompt_cache_key"]
    assert first["tools"][0]["name"] == "time_now"
    assert "You are a helpful assistant" in first["instructions"]
    kinds = [each.get("type") or each["role"] for each in second["input"]]
    assert kinds == ["user", "reasoning", "function_call", "function_call_output"]
    assert second["input"][1] == {"type": "reasoning", "summary": [], "encrypted_content": "c2VjcmV0"}
    assert second["input"][2]["call_id"] == second["input"][3]["call_id"] == "c1"


def test_reasoning_details_go_back_with_the_calls_and_only_to_the_model_that_gave_them(host: AgentHost) -> None:
    model, other = host.model(abilities=["tools", "reasoning"]), host.model(name="other")
    host.server.will(
        Raw(
            event({"reasoning_details": [{"type": "reasoning.text", "index": 0, "text": "Let me "}]})
            + event({"reasoning_details": [{"type": "reasoning.text", "index": 0, "text": "look.", "signature": "s1"}]})
            + event({"reasoning_details": [{"type": "reasoning.encrypted", "index": 1, "data": "c2Vj"}]})
            + event({"tool_calls": [{"index": 0, "id": "c1", "function": {"name": "time_now", "arguments": "{}"}}]})
            + event({}, "tool_calls")
            + b"data: [DONE]\n\n"
        ),
        Say("It is noon."),
    )
    assert texts(host.ask(host.local(model, tools=["time.now"]), "when?", conversation_id="details")) == ["It is noon."]
    [called] = [each for each in host.requests(2)[1]["messages"] if each.get("tool_calls")]
    assert called["reasoning_details"] == [
        {"type": "reasoning.text", "index": 0, "text": "Let me look.", "signature": "s1"},
        {"type": "reasoning.encrypted", "index": 1, "data": "c2Vj"},
    ]

    host.server.forget()
    host.server.will(
        Raw(
            event({"reasoning_details": [{"type": "reasoning.text", "index": 0, "text": "Hm."}]})
            + event({"tool_calls": [{"index": 0, "id": "c2", "function": {"name": "time_now", "arguments": "{}"}}]})
            + event({}, "tool_calls")
            + b"data: [DONE]\n\n"
        ),
        Refuse(500, "down"),
        Refuse(500, "down"),
        Refuse(500, "down"),
        Say("Noon."),
    )
    agent = host.local(model, other, tools=["time.now"])
    assert texts(host.ask(agent, "when?", conversation_id="details of another")) == ["Noon."]
    last = host.server.requests[-1].body
    assert last["model"] == "other"
    assert "reasoning_details" not in str(last)
