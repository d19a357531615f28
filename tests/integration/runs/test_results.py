"""Tests invalid results: each has no effect, and the run continues to its answer."""

import json
from typing import Any

import pytest

from tests.support.harness import PUPPET, Host, Json, texts

pytestmark = pytest.mark.both_runtimes

KIBIBYTE = 1024


def delta(text: str, **envelope: Any) -> Json:
    chunk = {"chunk": {"role": "assistant", "content": text}}
    return {"run_id": "{run}", "type": "message.delta", "data": chunk, **envelope}


def play(host: Host, *oddities: Json) -> Json:
    """Returns the outcome of a run that yields these results and then the message `fine`."""
    return host.ask(host.agent(PUPPET), f"odd {json.dumps(oddities)}")


def event_types(host: Host, result: Json) -> list[str]:
    return [event["type"] for event in host.items(f"/runs/{result['run']['run_id']}/events")]


def recorded(host: Host, result: Json) -> str:
    """Returns all records and messages of the run as text, without the user's message."""
    replies = [said for said in host.transcript(result["conversation_id"]) if said[0] != "user"]
    return json.dumps([host.items(f"/runs/{result['run']['run_id']}/events"), replies, result["messages"]])


INVALID: dict[str, Json] = {
    "a delta without a chunk": {"type": "message.delta", "data": {}},
    "a delta with an unknown field": {"type": "message.delta", "data": {"chunk": {}, "wrongly": "wrongly"}},
    "a message without content": {"type": "message.completed", "data": {"message": "wrongly"}},
    "a message of a role that is none": {
        "type": "message.completed",
        "data": {"message": {"role": "king", "content": "wrongly"}},
    },
    "state in no scope": {"type": "state.updated", "data": {"scope": "wrongly", "key": "k", "value": 1}},
    "state in a scope that was not granted": {
        "type": "state.updated",
        "data": {"scope": "runner", "key": "wrongly", "value": 1},
    },
    "an end for no known reason": {"type": "run.completed", "data": {"finish_reason": "wrongly"}},
    "a failure without a code": {"type": "run.failed", "data": {"error": "wrongly"}},
    "a result of another run": delta("wrongly", run_id="another"),
    "no envelope at all": {"wrongly": "wrongly"},
    "an envelope with a wrong number": delta("wrongly", sequence=0),
    "an envelope with a text for a number": delta("wrongly", sequence="first"),
}


@pytest.mark.parametrize("fault", INVALID)
def test_an_invalid_result_leaves_no_trace_and_the_run_goes_on(host: Host, fault: str) -> None:
    result = play(host, INVALID[fault])

    assert (result["outcome"], result["run"]["status"], texts(result)) == ("answered", "completed", ["fine"])
    assert "message.completed" in event_types(host, result)
    assert "wrongly" not in recorded(host, result)


def test_an_envelope_with_a_field_of_a_newer_plugin_counts(host: Host) -> None:
    result = play(host, delta("newer", colour="red"))

    assert "newer" in recorded(host, result)


def test_a_result_with_a_repeated_number_counts_once(host: Host) -> None:
    result = play(host, delta("once ", sequence=1), delta("twice ", sequence=1), delta("more ", sequence=2))

    deltas = [event for event in host.items(f"/runs/{result['run']['run_id']}/events") if "chunk" in event["data"]]
    assert "".join(event["data"]["chunk"]["content"] for event in deltas) == "once more "


def test_a_gap_in_the_numbers_does_not_block_and_a_late_result_counts(host: Host) -> None:
    result = play(host, delta("b", sequence=3), delta("a", sequence=2), delta("again", sequence=3))

    deltas = [event for event in host.items(f"/runs/{result['run']['run_id']}/events") if "chunk" in event["data"]]
    assert "".join(event["data"]["chunk"]["content"] for event in deltas) == "ba"
    assert texts(result) == ["fine"]


def test_an_unknown_result_type_is_stored_and_has_no_effect(host: Host) -> None:
    result = play(host, {"type": "weather.changed", "data": {"sky": "grey"}})

    assert event_types(host, result) == ["weather.changed", "message.completed"]
    assert texts(result) == ["fine"]


@pytest.mark.parametrize(
    "oversize",
    [
        {"type": "weather.changed", "data": {"sky": "x" * 257 * KIBIBYTE}},
        {"type": "state.updated", "data": {"scope": "conversation", "key": "big", "value": "x" * 257 * KIBIBYTE}},
    ],
    ids=["unknown type", "state"],
)
def test_an_oversize_result_is_dropped_and_the_run_goes_on(host: Host, oversize: Json) -> None:
    result = play(host, oversize)

    assert event_types(host, result) == ["message.completed"]
    assert texts(result) == ["fine"]


def test_an_oversize_message_is_shown_as_a_preview_and_stored_completely(host: Host) -> None:
    text = "x" * 300 * KIBIBYTE

    result = host.ask(host.agent(PUPPET), f"say {text}")

    [shown] = texts(result)
    assert len(shown) == 256 * KIBIBYTE
    [event] = host.items(f"/runs/{result['run']['run_id']}/events")
    [ref] = event["data"]["message"]["artifact_refs"]
    assert host.http().get(f"/artifacts/{ref['artifact_id']}/content").text == text
