"""Tests the Responses interface with the unmodified OpenAI SDK against a real Host."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import openai
import pytest

from tests.support.harness import PUPPET, Host, eventually

from .conftest import OpenAi

Publish = Callable[..., str]


def test_a_response_is_the_answer_of_the_agent(publish: Publish, openai_client: OpenAi) -> None:
    agent, client = publish(PUPPET), openai_client()

    made = client.responses.create(model=f"agent:{agent}", input="two")

    assert (made.status, made.output_text) == ("completed", "firstsecond")
    assert [item.type for item in made.output] == ["message", "message"]
    read = client.responses.retrieve(made.id)
    assert (read.id, read.status, read.output_text) == (made.id, "completed", "firstsecond")


def test_a_response_that_names_the_previous_one_continues_its_conversation(
    publish: Publish, openai_client: OpenAi
) -> None:
    agent, client = publish(config={"remember": True}), openai_client()
    model = f"agent:{agent}"

    first = client.responses.create(model=model, input="a")
    second = client.responses.create(model=model, input="b", previous_response_id=first.id)
    third = client.responses.create(model=model, input="c", previous_response_id=second.id)

    assert [each.output_text for each in (first, second, third)] == ["1 a", "2 b", "3 c"]
    assert third.previous_response_id == second.id


def test_a_stream_has_all_events_of_the_standard_in_order(publish: Publish, openai_client: OpenAi) -> None:
    agent = publish(config={"delay_ms": 20})

    events = list(openai_client().responses.create(model=f"agent:{agent}", input="one two three", stream=True))

    kinds = [event.type for event in events]
    assert kinds[:4] == [
        "response.created",
        "response.in_progress",
        "response.output_item.added",
        "response.content_part.added",
    ]
    assert kinds[-4:] == [
        "response.output_text.done",
        "response.content_part.done",
        "response.output_item.done",
        "response.completed",
    ]
    deltas = [event for event in events if event.type == "response.output_text.delta"]
    assert "".join(event.delta for event in deltas) == "one two three"
    assert len(deltas) > 1
    numbers = [event.sequence_number for event in events]
    assert numbers == sorted(set(numbers))


def test_the_sdk_helper_collects_a_stream(publish: Publish, openai_client: OpenAi) -> None:
    agent = publish(PUPPET)

    with openai_client().responses.stream(model=f"agent:{agent}", input="two") as stream:
        final = stream.get_final_response()

    assert (final.status, final.output_text) == ("completed", "firstsecond")


def test_a_dropped_stream_is_read_again_after_the_last_event(
    host: Host, publish: Publish, openai_client: OpenAi, gate_file: Path
) -> None:
    agent, client = publish(PUPPET), openai_client()
    stream = client.responses.create(model=f"agent:{agent}", input=f"gate {gate_file}", stream=True)
    response_id, last, text = "", -1, ""
    for event in stream:
        last = event.sequence_number
        if event.type == "response.created":
            response_id = event.response.id
        if event.type == "response.output_text.delta":
            text += event.delta
            break
    stream.close()

    resumed = client.responses.retrieve(response_id, stream=True, starting_after=last)
    gate_file.touch()
    rest = list(resumed)

    assert text == "waiting "
    assert min(event.sequence_number for event in rest) > last
    assert "".join(event.delta for event in rest if event.type == "response.output_text.delta") == "is over"
    assert rest[-1].type == "response.completed"
    late = list(client.responses.retrieve(response_id, stream=True, starting_after=last))
    assert [event.sequence_number for event in late][-1] == rest[-1].sequence_number
    assert "".join(event.delta for event in late if event.type == "response.output_text.delta") == "is over"


def test_a_background_response_is_cancelled(host: Host, publish: Publish, openai_client: OpenAi) -> None:
    agent, client = publish(PUPPET), openai_client()
    made = client.responses.create(model=f"agent:{agent}", input="sleep", background=True)
    assert made.status == "in_progress"
    run_id = host.active_run(agent)
    assert client.responses.retrieve(made.id).status == "in_progress"

    cancelled = client.responses.cancel(made.id)

    assert cancelled.status == "cancelled"
    assert host.run(run_id)["status"] == "cancelled"
    assert client.responses.retrieve(made.id).status == "cancelled"
    [entry] = eventually(lambda: host.items("/audit", run_id=run_id, action="run.cancel"), "the audit entry")
    assert entry["detail"] == {"via": "openai"}


def test_a_failed_response_is_an_error_and_stays_readable(publish: Publish, openai_client: OpenAi) -> None:
    agent, client = publish(PUPPET, restart_policy="never"), openai_client()
    made = client.responses.create(model=f"agent:{agent}", input="fail", background=True)

    failed = eventually(
        lambda: (seen := client.responses.retrieve(made.id)).status == "failed" and seen, "the response has failed"
    )

    assert failed.error is not None
    assert (failed.error.code, failed.error.message) == ("puppet.broken", "The string of the puppet broke.")


def test_a_response_of_another_key_is_not_found(host: Host, publish: Publish, openai_client: OpenAi) -> None:
    agent = publish()
    made = openai_client().responses.create(model=f"agent:{agent}", input="secret")
    stranger = openai_client(host.key("chat", "stranger"))
    requests: list[Callable[[], Any]] = [
        lambda: stranger.responses.retrieve(made.id),
        lambda: stranger.responses.cancel(made.id),
        lambda: stranger.responses.create(model=f"agent:{agent}", input="x", previous_response_id=made.id),
        lambda: stranger.responses.retrieve("resp_99999999999999999999999"),
    ]

    for request in requests:
        with pytest.raises(openai.NotFoundError):
            request()
