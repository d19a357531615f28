"""Tests that the payloads of the protocol accept the results of the constructors."""

from typing import get_args

import pytest
from hypothesis import given
from hypothesis import strategies as st

from parlour_sdk import results
from parlour_sdk.protocol.content import TextElement
from parlour_sdk.protocol.messages import Message
from parlour_sdk.protocol.results import PAYLOADS, AgentRunResult, FinishReason
from parlour_sdk.protocol.usage import Usage
from parlour_sdk.results import Result

MESSAGE = Message(role="assistant", content=[TextElement(text="hi")], metadata={"a": 1})
RESULTS: dict[str, Result] = {
    "delta": results.delta("hel"),
    "an empty delta": results.delta(""),
    "completed text": results.completed("hello"),
    "completed message": results.completed(MESSAGE),
    "finished": results.finished(),
    "finished with all": results.finished("length", MESSAGE, Usage(prompt_tokens=1, cost_micros=2)),
    "silent": results.silent(),
    "failed": results.failed("hello.sad", "no reason"),
    "failed for now": results.failed("hello.busy", "later", retryable=True),
    "tool started": results.tool_started("1", "look", {"at": "this"}),
    "tool completed": results.tool_completed("1", "look", result=[1]),
    "tool failed": results.tool_completed("1", "look", error="dark"),
    "state": results.state_updated("actor", "k", {"a": None}),
    "thinking": results.thinking("hm"),
    "completed contents": results.completed([TextElement(text="hi")]),
    "artifact": results.artifact_created("file", b"abc", mime_type="text/plain", name="a.txt", metadata={"a": 1}),
    "artifact that the host has": results.artifact_created("image", artifact_id="a-1"),
    "action": results.action_requested("message.react"),
    "action with all": results.action_requested("message.react", {"message_id": "m"}, {"reaction": "+1"}, "r-1"),
}


@pytest.mark.parametrize("name", RESULTS)
def test_results_of_constructors_are_valid(name: str) -> None:
    result = RESULTS[name]
    AgentRunResult.model_validate({"run_id": "run", "type": result.type, "data": result.data, "sequence": 1})
    payload = PAYLOADS[result.type].model_validate(result.data)
    assert payload.model_dump(mode="json", exclude_unset=True).keys() == result.data.keys(), (
        "every field is one of the payload"
    )


def test_every_result_type_has_a_constructor() -> None:
    assert {result.type for result in RESULTS.values()} == set(PAYLOADS)


def test_an_artifact_has_its_content_and_size() -> None:
    data = results.artifact_created("file", b"abc").data
    assert (data["content_base64"], data["size_bytes"]) == ("YWJj", 3)


@pytest.mark.parametrize(("content", "artifact_id"), [(None, None), (b"abc", "a-1")])
def test_an_artifact_needs_either_content_or_an_id(content: bytes | None, artifact_id: str | None) -> None:
    with pytest.raises(ValueError, match="give the content, or the artifact_id"):
        results.artifact_created("file", content, artifact_id=artifact_id)


@given(st.text())
def test_any_text_can_be_sent(text: str) -> None:
    for result in (results.delta(text), results.completed(text), results.finished("stop", text)):
        payload = PAYLOADS[result.type].model_validate(result.data).model_dump()
        assert (payload.get("chunk") or payload["message"])["content"] == text


@pytest.mark.parametrize("reason", get_args(FinishReason))
def test_a_run_may_finish_with_every_finish_reason(reason: FinishReason) -> None:
    assert (
        PAYLOADS["run.completed"].model_validate(results.finished(reason).data).model_dump()["finish_reason"] == reason
    )


def test_silent_completes_the_run_without_a_message() -> None:
    assert results.silent() == Result("run.completed", {"finish_reason": "silent"})


def test_a_message_keeps_its_content_and_metadata() -> None:
    data = results.completed(MESSAGE).data
    assert data["message"] == {
        "role": "assistant",
        "content": [{"type": "text", "text": "hi"}],
        "metadata": {"a": 1},
    }
