"""What the constructors make is what the protocol's payloads accept."""

from typing import get_args

import pytest
from hypothesis import given
from hypothesis import strategies as st

from parlour_sdk import results
from parlour_sdk.protocol.content import TextElement
from parlour_sdk.protocol.messages import Message
from parlour_sdk.protocol.results import PAYLOADS, AgentRunResult, FinishReason, Usage
from parlour_sdk.results import Result

MESSAGE = Message(role="assistant", content=[TextElement(text="hi")], metadata={"a": 1})
MADE: dict[str, Result] = {
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
}


@pytest.mark.parametrize("name", MADE)
def test_what_a_constructor_makes_is_accepted(name: str) -> None:
    made = MADE[name]
    AgentRunResult.model_validate({"run_id": "run", "type": made.type, "data": made.data, "sequence": 1})
    PAYLOADS[made.type].model_validate(made.data)


@given(st.text())
def test_any_text_can_be_said(text: str) -> None:
    for made in (results.delta(text), results.completed(text), results.finished("stop", text)):
        payload = PAYLOADS[made.type].model_validate(made.data).model_dump()
        assert (payload.get("chunk") or payload["message"])["content"] == text


@pytest.mark.parametrize("reason", get_args(FinishReason))
def test_a_run_may_finish_for_every_reason_of_the_protocol(reason: FinishReason) -> None:
    assert (
        PAYLOADS["run.completed"].model_validate(results.finished(reason).data).model_dump()["finish_reason"] == reason
    )


def test_silence_is_a_good_end_without_a_message() -> None:
    assert results.silent() == Result("run.completed", {"finish_reason": "silent"})


def test_a_message_keeps_its_parts() -> None:
    data = results.completed(MESSAGE).data
    assert data["message"] == {
        "role": "assistant",
        "content": [{"type": "text", "text": "hi"}],
        "metadata": {"a": 1},
    }
