"""Tests how a fake Host applies the results of a runner, by the rules of the Host."""

import base64
from collections.abc import AsyncGenerator
from typing import Any

import pytest

from parlour_sdk import results
from parlour_sdk.protocol.content import ArtifactRef
from parlour_sdk.protocol.errors import AgentAPIError, AgentAPIException
from parlour_sdk.protocol.limits import ARTIFACT_CONTENT_BYTES, MESSAGE_TEXT_BYTES, STATE_VALUE_BYTES
from parlour_sdk.protocol.messages import Message
from parlour_sdk.protocol.usage import Usage
from parlour_sdk.results import Result
from parlour_sdk.testing import FakeAction, FakeHost

from .runners import runner, yielding


def artifact(content: bytes = b"abc", **facts: Any) -> Result:
    data = {"artifact_type": "file", "content_base64": base64.b64encode(content).decode(), **facts}
    return Result("artifact.created", data)


async def test_a_completed_message_is_what_the_user_reads() -> None:
    run = await FakeHost().run(yielding(results.delta("Hel"), results.completed("Hello"), results.finished()), "hi")
    assert run.text == "Hello"
    assert run.deltas == ["Hel"]
    assert [message.content for message in run.messages] == ["Hello"]
    assert [result.type for result in run.results] == ["message.delta", "message.completed", "run.completed"]
    assert (run.status, run.finish_reason, run.code, run.error) == ("completed", "stop", None, None)
    assert run.warnings == []


async def test_several_messages_are_joined_by_line_breaks() -> None:
    run = await FakeHost().run(yielding(results.completed("one"), results.completed("two"), results.finished()))
    assert run.text == "one\ntwo"


async def test_deltas_without_a_message_become_the_message() -> None:
    for end in ([], [results.finished()]):
        run = await FakeHost().run(yielding(results.delta("Hel"), results.delta("lo"), *end))
        assert (run.text, run.status) == ("Hello", "completed")


async def test_the_message_of_run_completed_counts_only_if_there_was_none_before() -> None:
    run = await FakeHost().run(yielding(results.finished("stop", "last")))
    assert run.text == "last"
    run = await FakeHost().run(yielding(results.completed("first"), results.finished("stop", "last")))
    assert run.text == "first"


SILENCES = {
    "nothing": [],
    "an end": [results.finished()],
    "a blank fragment": [results.delta(" ")],
    "a blank message": [results.completed(" \n\u200b"), results.finished()],
    "a blank last word": [results.finished("stop", [])],
}


@pytest.mark.parametrize("said", SILENCES.values(), ids=SILENCES)
async def test_a_run_without_an_answer_fails(said: list[Result]) -> None:
    run = await FakeHost().run(yielding(*said))
    assert run.failed_with("runner.no_output")
    assert run.text == ""


async def test_an_intended_silence_completes_the_run() -> None:
    run = await FakeHost().run(yielding(results.silent()))
    assert run.silent
    assert run.status == "completed"


async def test_a_failure_keeps_its_code_and_message() -> None:
    run = await FakeHost().run(yielding(results.failed("hello.sad", "no reason", retryable=True)))
    assert run.failed_with("hello.sad")
    assert not run.failed_with("runner.error")
    assert (run.error, run.retryable) == ("no reason", True)


async def test_results_after_the_end_are_ignored() -> None:
    run = await FakeHost().run(yielding(results.completed("a"), results.finished(), results.completed("b")))
    assert run.text == "a"


async def test_an_exception_fails_the_run_and_is_available_to_the_test() -> None:
    async def body(ctx: Any, api: Any) -> AsyncGenerator[Result, None]:
        yield results.delta("so far")
        raise KeyError("city")

    run = await FakeHost().run(runner(body))
    assert run.failed_with("runner.error")
    assert isinstance(run.exception, KeyError)
    assert "KeyError('city')" in repr(run)


async def test_an_api_exception_that_is_not_caught_fails_the_run_with_its_code() -> None:
    async def body(ctx: Any, api: Any) -> AsyncGenerator[Result, None]:
        raise AgentAPIException(AgentAPIError(code="budget_exceeded", message="no money left"))
        yield

    run = await FakeHost().run(runner(body))
    assert run.failed_with("budget_exceeded")


async def test_a_yielded_value_that_is_not_a_result_fails_the_run_with_the_remedy() -> None:
    run = await FakeHost().run(yielding("hello"))  # type: ignore[arg-type]
    assert run.failed_with("runner.error")
    assert "results.completed" in str(run.error)


async def test_an_invalid_result_is_ignored_with_a_warning() -> None:
    wrong = Result("message.completed", {"message": {"role": "assistant", "content": "hi", "colour": "red"}})
    run = await FakeHost().run(yielding(wrong, results.completed("ok"), results.finished()))
    assert run.text == "ok"
    [warning] = run.warnings
    assert "message.completed" in warning
    assert "colour" in warning


async def test_an_unknown_type_is_recorded_and_has_no_effect() -> None:
    run = await FakeHost().run(yielding(Result("moon.rose", {"at": 1}), results.completed("ok")))
    assert run.results[0].type == "moon.rose"
    assert "moon.rose" in run.warnings[0]


async def test_a_long_message_is_cut_and_stored_completely_as_an_artifact() -> None:
    text = "é" * MESSAGE_TEXT_BYTES
    run = await FakeHost().run(yielding(results.completed(text), results.finished()))
    assert len(run.text.encode()) == MESSAGE_TEXT_BYTES
    assert [stored.text for stored in run.artifacts] == [text]
    assert run.messages[0].artifact_refs is not None
    assert run.messages[0].artifact_refs[0].artifact_id == run.artifacts[0].metadata.artifact_id
    assert "longer" in run.warnings[0]


async def test_a_result_that_is_too_large_is_ignored_with_the_limit() -> None:
    large = results.state_updated("actor", "k", "x" * (STATE_VALUE_BYTES + 1))
    run = await FakeHost().run(yielding(large, results.completed("ok")))
    assert run.state["actor"] == {}
    assert str(STATE_VALUE_BYTES) in run.warnings[0]


async def test_updated_state_is_available_in_the_next_run() -> None:
    host = FakeHost()
    run = await host.run(yielding(results.state_updated("conversation", "k", {"n": None}), results.silent()))
    assert run.state["conversation"] == {"k": {"n": None}}
    again = await host.run(yielding(results.state_updated("conversation", "k", 2), results.silent()))
    assert again.context.state.conversation == {"k": {"n": None}}
    assert (run.state["conversation"], again.state["conversation"]) == ({"k": {"n": None}}, {"k": 2})


async def test_state_of_a_scope_that_was_not_granted_is_not_written() -> None:
    run = await FakeHost().run(yielding(results.state_updated("runner", "k", 1), results.silent()))
    assert "'runner'" in run.warnings[0]
    run = await FakeHost(state_scopes=["runner"]).run(
        yielding(results.state_updated("runner", "k", 1), results.silent())
    )
    assert run.state == {"runner": {"k": 1}}


async def test_artifacts_are_attached_once_to_the_next_message() -> None:
    ref = ArtifactRef(artifact_id="mine", artifact_type="file")
    message = Message(role="assistant", content="here", artifact_refs=[ref])
    made = [results.artifact_created("file", artifact_id="mine"), artifact(b"2")]
    host = FakeHost(artifacts={"mine": b"1"})
    run = await host.run(yielding(*made, results.completed(message), results.completed("more")))
    assert [each.content for each in run.artifacts] == [b"2"]
    refs = [each.artifact_id for each in run.messages[0].artifact_refs or []]
    assert refs == ["mine", run.artifacts[0].metadata.artifact_id]
    assert run.messages[1].artifact_refs is None


@pytest.mark.parametrize(
    ("wrong", "reason"),
    [
        (artifact(content_base64="?"), "base64"),
        (artifact(b"x" * (ARTIFACT_CONTENT_BYTES + 1)), str(ARTIFACT_CONTENT_BYTES)),
        (artifact(b"1", artifact_id="mine"), "needs content_base64, or the artifact_id"),
    ],
    ids=["not base64", "too large", "both content and id"],
)
async def test_an_invalid_artifact_is_ignored_with_a_warning(wrong: Result, reason: str) -> None:
    run = await FakeHost().run(yielding(wrong, results.completed("ok")))
    assert run.artifacts == []
    assert run.messages[0].artifact_refs is None
    assert reason in run.warnings[0]


async def test_requested_actions_are_recorded_with_their_outcome() -> None:
    request = Result("action.requested", {"action": "message.send", "target": {"chat": "c"}, "payload": {"text": "t"}})
    for decision in ("done", "pending", "denied"):
        run = await FakeHost(approvals=decision).run(yielding(request, results.silent()))
        assert run.actions == [FakeAction("message.send", {"chat": "c"}, {"text": "t"}, decision)]


async def test_an_action_that_was_not_granted_is_ignored_with_a_warning() -> None:
    host = FakeHost(permissions={"platform_actions": ["message.*"]})
    requests = [Result("action.requested", {"action": name}) for name in ("member.kick", "message.send")]
    run = await host.run(yielding(*requests, results.silent()))
    assert [each.action for each in run.actions] == ["message.send"]
    assert "member.kick" in run.warnings[0]


async def test_usage_is_what_the_runner_reports() -> None:
    run = await FakeHost().run(yielding(results.completed("ok"), results.finished(usage=Usage(prompt_tokens=7))))
    assert run.usage.prompt_tokens == 7


async def test_unknown_fields_of_tool_call_telemetry_are_kept() -> None:
    started = Result("tool.call.started", {"tool_call_id": "1", "tool_name": "t", "extra": 1})
    run = await FakeHost().run(yielding(started, results.completed("ok")))
    assert (run.warnings, run.results[0].data["extra"]) == ([], 1)
