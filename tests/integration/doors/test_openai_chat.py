"""Tests chat completions with the unmodified OpenAI SDK against a real Host."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import openai
import pytest

from tests.support.harness import ECHO, PUPPET, Host, eventually

from .conftest import OpenAi

Publish = Callable[..., str]


def user(text: Any) -> list[Any]:
    return [{"role": "user", "content": text}]


def test_models_are_the_published_agents(host: Host, publish: Publish, openai_client: OpenAi) -> None:
    agent = publish(name="Weather Expert")
    host.agent(name="Private Agent")
    client = openai_client()

    listed = [model.id for model in client.models.list()]

    assert "weather-expert" in listed
    assert "private-agent" not in listed
    assert client.models.retrieve(f"agent:{agent}").owned_by == "parlour"


def test_agents_of_one_name_are_listed_by_their_ids(publish: Publish, openai_client: OpenAi) -> None:
    twins = {f"agent:{publish(name='Twin')}", f"agent:{publish(name='Twin')}"}

    listed = {model.id for model in openai_client().models.list()}

    assert twins <= listed
    assert "twin" not in listed


def test_a_completion_is_the_answer_of_the_agent(host: Host, publish: Publish, openai_client: OpenAi) -> None:
    agent = publish()

    answer = openai_client().chat.completions.create(model=f"agent:{agent}", messages=user("one two"))

    [choice] = answer.choices
    assert (choice.message.content, choice.finish_reason) == ("one two", "stop")
    [event] = [each for each in host.items("/events") if answer.id == f"chatcmpl-{each['seq']}"]
    assert event["source"] == "openai"
    [entry] = host.items("/audit", kind="door", action="turn")[:1]
    assert (entry["resource"], entry["detail"]) == (agent, {"via": "openai"})


def test_a_stream_has_the_answer_in_chunks_and_its_usage(publish: Publish, openai_client: OpenAi) -> None:
    agent = publish(config={"delay_ms": 20})

    stream = openai_client().chat.completions.create(
        model=f"agent:{agent}",
        messages=user("one two three four"),
        stream=True,
        stream_options={"include_usage": True},
    )
    chunks = list(stream)

    texts = [chunk.choices[0].delta.content or "" for chunk in chunks if chunk.choices]
    assert "".join(texts) == "one two three four"
    assert len([text for text in texts if text]) > 1
    assert [chunk.choices[0].finish_reason for chunk in chunks if chunk.choices][-1] == "stop"
    assert chunks[-1].usage is not None
    assert chunks[-1].choices == []


def test_several_messages_of_a_run_are_one_answer(publish: Publish, openai_client: OpenAi) -> None:
    agent, client = publish(PUPPET), openai_client()

    whole = client.chat.completions.create(model=f"agent:{agent}", messages=user("two"))
    stream = client.chat.completions.create(model=f"agent:{agent}", messages=user("two"), stream=True)
    streamed = "".join(chunk.choices[0].delta.content or "" for chunk in stream)

    assert whole.choices[0].message.content == streamed == "first\n\nsecond"


@pytest.mark.parametrize(
    "naming",
    [
        {"extra_headers": {"X-Parlour-Session": "mine"}},
        {"metadata": {"session_id": "mine"}},
        {"user": "mine"},
    ],
)
def test_a_session_continues_its_conversation(publish: Publish, openai_client: OpenAi, naming: dict[str, Any]) -> None:
    agent, client = publish(config={"remember": True}), openai_client()
    model = f"agent:{agent}"

    first = client.chat.completions.create(model=model, messages=user("a"), **naming)
    second = client.chat.completions.create(model=model, messages=user("b"), **naming)
    other = client.chat.completions.create(model=model, messages=user("c"))

    texts = [each.choices[0].message.content for each in (first, second, other)]
    assert texts == ["1 a", "2 b", "1 c"]


def test_sessions_of_two_keys_never_meet(host: Host, publish: Publish, openai_client: OpenAi) -> None:
    model = f"agent:{publish(config={'remember': True})}"
    mine, other = openai_client(), openai_client(host.key("chat", "another"))

    answers = [client.chat.completions.create(model=model, messages=user("x"), user="same") for client in (mine, other)]

    assert [each.choices[0].message.content for each in answers] == ["1 x", "1 x"]


def test_earlier_messages_are_handed_over_without_being_written_as_said(
    host: Host, publish: Publish, openai_client: OpenAi
) -> None:
    agent = publish()
    messages: list[Any] = [
        {"role": "system", "content": "Obey nobody."},
        {"role": "user", "content": "My name is Ann."},
        {"role": "assistant", "content": "Hello Ann."},
        {"role": "user", "content": "Who am I?"},
    ]

    answer = openai_client().chat.completions.create(model=f"agent:{agent}", messages=messages)

    seq = int(answer.id.removeprefix("chatcmpl-"))
    [event] = [each for each in host.items("/events") if each["seq"] == seq]
    transcript = host.items(f"/conversations/{event['conversation_id']}/transcript")
    assert [(item["role"], item["content"]) for item in transcript] == [
        ("user", "Who am I?"),
        ("assistant", "Who am I?"),
    ]
    quotes = [part for part in transcript[0]["content_json"] if part["type"] == "quote"]
    assert [(quote["sender"], quote["contents"][0]["text"]) for quote in quotes] == [
        ("user", "My name is Ann."),
        ("assistant", "Hello Ann."),
    ]


def test_an_image_becomes_a_file_of_the_conversation(host: Host, publish: Publish, openai_client: OpenAi) -> None:
    agent = publish()
    pixel = "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNkYPhfDwAChwGA60e6kgAAAABJRU5ErkJggg=="
    parts = [
        {"type": "text", "text": "look"},
        {"type": "image_url", "image_url": {"url": f"data:image/png;base64,{pixel}"}},
    ]

    answer = openai_client().chat.completions.create(model=f"agent:{agent}", messages=user(parts))

    seq = int(answer.id.removeprefix("chatcmpl-"))
    [event] = [each for each in host.items("/events") if each["seq"] == seq]
    [item, _] = host.items(f"/conversations/{event['conversation_id']}/transcript")
    assert [ref["mime_type"] for ref in item["artifact_refs"]] == ["image/png"]


def test_the_same_idempotency_key_reads_a_dropped_stream_again(
    host: Host, publish: Publish, openai_client: OpenAi, gate_file: Path
) -> None:
    agent, client = publish(PUPPET), openai_client()
    request: dict[str, Any] = {
        "model": f"agent:{agent}",
        "messages": user(f"gate {gate_file}"),
        "stream": True,
        "extra_headers": {"Idempotency-Key": "dropped"},
    }
    first = client.chat.completions.create(**request)
    begun = next(text for chunk in first if (text := chunk.choices[0].delta.content))
    first.close()

    again = client.chat.completions.create(**request)
    gate_file.touch()
    read_again = "".join(chunk.choices[0].delta.content or "" for chunk in again)
    finished = client.chat.completions.create(**{**request, "stream": False})

    assert begun == "waiting "
    assert read_again == finished.choices[0].message.content == "waiting is over"
    assert len(host.items("/runs", agent_id=agent)) == 1


def test_a_client_that_leaves_cancels_the_run_if_it_asks_for_that(
    host: Host, publish: Publish, openai_client: OpenAi
) -> None:
    agent = publish(PUPPET)
    stream = openai_client().chat.completions.create(
        model=f"agent:{agent}",
        messages=user("deaf begun"),
        stream=True,
        extra_headers={"X-Parlour-On-Disconnect": "cancel"},
    )
    assert next(text for chunk in stream if (text := chunk.choices[0].delta.content)) == "begun"

    stream.close()

    cancelled = eventually(lambda: host.items("/runs", agent_id=agent, status="cancelled"), "the run is cancelled")
    assert len(cancelled) == 1


def refusal(client: openai.OpenAI, **request: Any) -> Any:
    with pytest.raises(openai.APIStatusError) as caught:
        client.chat.completions.create(**{"messages": user("hello"), **request})
    return caught.value


def test_errors_have_the_form_of_the_standard(host: Host, publish: Publish, openai_client: OpenAi) -> None:
    agent, hidden = publish(), host.agent()
    client, model = openai_client(), f"agent:{agent}"

    unknown = refusal(client, model="nothing")
    assert (type(unknown), unknown.code, unknown.param) == (openai.NotFoundError, "model_not_found", "model")
    assert refusal(client, model=f"agent:{hidden}").code == "model_not_found"
    wrong_key = refusal(openai_client("sk-wrong"), model=model)
    assert (type(wrong_key), wrong_key.code) == (openai.AuthenticationError, "invalid_api_key")
    assert type(refusal(openai_client(host.key("viewer")), model=model)) is openai.PermissionDeniedError
    tools = [{"type": "function", "function": {"name": "f", "parameters": {}}}]
    for option in ({"tools": tools}, {"n": 2}, {"response_format": {"type": "json_object"}}, {"logprobs": True}):
        refused = refusal(client, model=model, **option)
        assert (type(refused), refused.code) == (openai.BadRequestError, "unsupported_parameter")
        assert refused.param == next(iter(option))
    assert refusal(client, model=model, messages=[{"role": "assistant", "content": "x"}]).param == "messages"


@pytest.mark.parametrize("streamed", [False, True])
def test_a_failed_run_is_an_error_that_clients_do_not_repeat(
    host: Host, publish: Publish, openai_client: OpenAi, streamed: bool
) -> None:
    agent = publish(PUPPET, restart_policy="never")

    failure = refusal(openai_client(max_retries=2), model=f"agent:{agent}", messages=user("fail"), stream=streamed)

    assert (failure.status_code, failure.code) == (500, "puppet.broken")
    assert len(host.items("/events", type="message.received")) >= 1
    assert len(host.items("/runs", agent_id=agent)) == 1


def test_an_echo_agent_is_not_reached_without_being_published(host: Host, openai_client: OpenAi) -> None:
    agent = host.agent(ECHO)

    assert refusal(openai_client(), model=f"agent:{agent}").status_code == 404
