"""Results of a run in the ledger, the transcript, the outbox and the live feed."""

import asyncio
import gc
from typing import Any

import pytest

from parlour.core.encoding import loads
from parlour.core.journal import PreparedCallback, Receipt, Unit
from parlour.core.runs.delta_buffer import FLUSH_INTERVAL_SECONDS
from parlour.core.runs.recorder import Recorder
from parlour.core.store.tables import OUTBOX, OUTCOMES, RUN_EVENTS, RUNS, STATE, TRANSCRIPT
from parlour_sdk.protocol.limits import MESSAGE_TEXT_BYTES

from ..support import LoopClock, PuppetRun, World, make_agent, settle


async def active(**fields: Any) -> tuple[World, PuppetRun]:
    world = await World.open()
    await world.say("hi", **fields)
    return world, await world.plugins.next_run()


def assistant_texts(world: World) -> list[str]:
    return [row["content"] for row in world.rows(TRANSCRIPT) if row["role"] == "assistant"]


def run_end(world: World) -> tuple[str, str, str]:
    [run] = world.rows(RUNS)
    [outcome] = world.rows(OUTCOMES)
    return run["status"], run["status_reason"], outcome["outcome"]


@pytest.mark.parametrize("separately", [False, True], ids=["in one batch", "in batches of one"])
async def test_subscriber_sees_deltas_then_the_message_with_increasing_numbers(separately: bool) -> None:
    world, run = await active()
    [conversation] = {row["conversation_id"] for row in world.rows(RUNS)}
    subscriber = world.core.feed.subscribe(conversation)
    tool = run.result("tool.call.started", {"tool_call_id": "1", "tool_name": "look"})
    results = [tool, run.delta("hel"), run.delta("lo"), run.completed("hello"), run.finished()]
    frames = []
    for batch in [[each] for each in results] if separately else [results]:
        run.send(*batch)
        await settle()
        frames += subscriber.drain()
    await world.rest()
    frames += subscriber.drain()
    numbers = [frame["seq"] for frame in frames]
    assert numbers == sorted(set(numbers))
    assert "".join(frame["content"] for frame in frames if frame["type"] == "delta") == "hello"
    assert [frame["type"] for frame in frames if frame["type"] != "delta"] == ["tool", "message", "run"]


async def test_each_completed_message_is_delivered_and_recorded() -> None:
    world, run = await active(surface="platform")
    run.send(run.completed("one"), run.completed("two"), run.finished())
    await world.rest()
    assert assistant_texts(world) == world.surface.texts == ["one", "two"]
    assert run_end(world) == ("completed", "stop", "answered")


@pytest.mark.parametrize("type", ["message.delta", "tool.call.completed", "state.updated", "of.its.own"])
async def test_run_with_endless_results_is_ended(type: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("parlour.core.runs.recorder.MAX_OUTPUT_CHARACTERS", 10_000)
    world, run = await active()
    words = "x" * 200
    payloads: dict[str, Any] = {
        "message.delta": {"chunk": {"role": "assistant", "content": words}},
        "tool.call.completed": {"tool_call_id": "1", "tool_name": "look", "result": words},
        "state.updated": {"scope": "conversation", "key": "k", "value": words},
        "of.its.own": {"words": words},
    }
    while not world.rows(OUTCOMES):
        run.send(run.result(type, payloads[type]))
        await asyncio.sleep(FLUSH_INTERVAL_SECONDS)
    [row] = world.rows(RUNS)
    assert (row["status"], row["status_reason"]) == ("failed", "runner.error")
    assert "more than 128 MiB of results" in row["error"]
    assert sum(len(each["data"]) for each in world.rows(RUN_EVENTS)) < 20_000


async def test_recorder_is_freed_with_its_run() -> None:
    gc.collect()
    others = recorders()
    gc.disable()
    try:
        world, run = await active(surface="platform")
        assert len(recorders()) == len(others) + 1
        run.send(run.delta("hel"), run.completed("hello"), run.finished())
        await world.rest()
        assert recorders() == others
    finally:
        gc.enable()


def recorders() -> list[Recorder]:
    return [each for each in gc.get_objects() if type(each) is Recorder]


async def test_remaining_deltas_become_the_message() -> None:
    world, run = await active(surface="platform")
    run.send(run.delta("hel"), run.delta("lo"), run.finished())
    await world.rest()
    assert assistant_texts(world) == world.surface.texts == ["hello"]


async def test_stream_that_ends_after_a_message_completes_the_run() -> None:
    world, run = await active()
    run.send(run.completed("hello"))
    run.end()
    await world.rest()
    assert run_end(world) == ("completed", "stop", "answered")


BLANK = {
    "nothing": "",
    "white space": " \n\t\u3000",
    "invisible characters": "\u200b\u2060\ufeff\u200f",
    "no elements": [],
    "blank elements": [{"type": "text", "text": " "}],
    "thinking": "<think>What could I say?</think>\n",
    "unclosed thinking": "<think>What could I s",
}


@pytest.mark.parametrize("as_final_result", [True, False], ids=["as final result", "as message"])
@pytest.mark.parametrize("content", BLANK.values(), ids=BLANK)
async def test_blank_message_counts_as_no_output(content: Any, as_final_result: bool) -> None:
    world, run = await active()
    message = {"message": {"role": "assistant", "content": content}}
    if as_final_result:
        run.send(run.result("run.completed", {"finish_reason": "stop", **message}))
    else:
        run.send(run.result("message.completed", message), run.finished())
    await world.rest()
    assert run_end(world) == ("failed", "runner.no_output", "failed")
    assert assistant_texts(world) == ["The agent ended without an answer."]


async def test_deltas_before_a_blank_message_become_the_message() -> None:
    world, run = await active()
    run.send(run.delta("hel"), run.delta("lo"), run.completed(""), run.finished())
    await world.rest()
    assert assistant_texts(world) == ["hello"]


async def test_file_without_text_is_a_message() -> None:
    world, run = await active()
    made = {"artifact_type": "image", "content_base64": "aGVsbG8=", "name": "cat.png"}
    run.send(run.result("artifact.created", made), run.completed(""), run.finished())
    await world.rest()
    assert run_end(world) == ("completed", "stop", "answered")


@pytest.mark.parametrize("final_result", [True, False])
async def test_run_without_output_fails_with_a_notice(final_result: bool) -> None:
    world, run = await active()
    if final_result:
        run.send(run.finished())
    run.end()
    await world.rest()
    assert run_end(world) == ("failed", "runner.no_output", "failed")
    assert assistant_texts(world) == ["The agent ended without an answer."]


async def test_silent_run_completes_without_a_message() -> None:
    world, run = await active()
    run.send(run.finished("silent"))
    await world.rest()
    assert run_end(world) == ("completed", "silent", "silent")
    assert world.rows(OUTBOX) == []


async def test_message_of_the_final_result_counts_only_without_earlier_messages() -> None:
    world, run = await active()
    last = {"finish_reason": "stop", "message": {"role": "assistant", "content": "last"}}
    run.send(run.completed("first"), run.result("run.completed", last))
    await world.rest()
    assert assistant_texts(world) == ["first"]
    await world.say("again")
    run = await world.plugins.next_run()
    run.send(run.result("run.completed", last))
    await world.rest()
    assert assistant_texts(world) == ["first", "last"]


async def test_results_after_the_final_one_are_ignored() -> None:
    world, run = await active()
    run.send(run.completed("hello"), run.finished(), run.completed("and more"))
    run.send(run.completed("and even more"))
    await world.rest()
    assert assistant_texts(world) == ["hello"]


async def test_ledger_deltas_equal_the_streamed_text() -> None:
    world, run = await active()
    for word in ("one ", "two ", "three"):
        run.send(run.delta(word))
        await asyncio.sleep(FLUSH_INTERVAL_SECONDS * 0.7)
    run.send(run.completed("one two three"), run.finished())
    await world.rest()
    rows = [row for row in world.rows(RUN_EVENTS) if row["type"] == "message.delta"]
    assert "".join(loads(row["data"])["chunk"]["content"] for row in rows) == "one two three"
    assert len(rows) < 3
    assert (rows[0]["first_sequence"], rows[-1]["last_sequence"]) == (1, 3)


async def test_state_is_written_with_its_batch() -> None:
    world, run = await active()
    run.send(run.result("state.updated", {"scope": "actor", "key": "mood", "value": {"good": True}}))
    await settle()
    assert [(row["scope"], row["name"], row["value"]) for row in world.rows(STATE)] == [
        ("actor", "mood", '{"good":true}')
    ]
    run.answer("hello")
    await world.rest()
    assert world.rows(RUNS)[0]["effects"] == 1


async def test_state_of_an_ungranted_scope_is_not_written() -> None:
    world, run = await active()
    run.send(run.result("state.updated", {"scope": "runner", "key": "k", "value": 1}))
    run.answer("hello")
    await world.rest()
    assert world.rows(STATE) == []
    assert run_end(world)[2] == "answered"


async def test_invalid_result_is_dropped_and_the_run_continues() -> None:
    world, run = await active()
    run.send("nonsense", run.result("message.completed", {"message": 5}), run.result("mood.changed", {}))
    run.answer("hello")
    await world.rest()
    assert assistant_texts(world) == ["hello"]
    assert [kind for kind, _ in world.facts(run.run_id)] == ["mood.changed", "message.completed", "run.completed"]


async def test_too_long_message_is_stored_as_artifact() -> None:
    world, run = await active(surface="platform")
    run.answer("x" * (MESSAGE_TEXT_BYTES + 1))
    await world.rest()
    assert world.surface.texts == ["x" * MESSAGE_TEXT_BYTES]
    [whole] = [data for kind, data in world.facts(run.run_id) if kind == "message.completed"]
    [ref] = whole["message"]["artifact_refs"]
    assert len(whole["message"]["content"]) == MESSAGE_TEXT_BYTES
    assert ref["size_bytes"] == len(world.objects.content[ref["sha256"]]) == MESSAGE_TEXT_BYTES + 1


async def test_failure_keeps_the_text_and_code_of_the_runner() -> None:
    world, run = await active()
    run.send(run.failed("puppet.sad"))
    await world.rest()
    assert run_end(world) == ("failed", "puppet.sad", "failed")
    assert assistant_texts(world) == ["requested failure"]


async def test_run_past_its_deadline_is_stopped_and_late_results_dropped() -> None:
    world = await World.open(make_agent(timeout_seconds=30))
    await world.say("hi")
    run = await world.plugins.next_run()
    await asyncio.sleep(31)
    run.answer("too late")
    await world.rest()
    assert run_end(world) == ("timeout", "runner.timeout", "failed")
    assert run.aborted is not None
    assert assistant_texts(world) == ["The agent took too long and was stopped."]


@pytest.mark.parametrize(("after", "status"), [(29.95, "timeout"), (29.8, "failed")])
async def test_runner_that_reports_its_deadline_first_has_timed_out(after: float, status: str) -> None:
    world = await World.open(make_agent(timeout_seconds=30))
    await world.say("hi")
    run = await world.plugins.next_run()
    await asyncio.sleep(after)
    run.send(run.failed("deadline_exceeded"))
    await world.rest()
    reason = "runner.timeout" if status == "timeout" else "deadline_exceeded"
    assert run_end(world) == (status, reason, "failed")


async def test_deadline_counts_from_the_one_in_the_context(monkeypatch: pytest.MonkeyPatch) -> None:
    """The commit of the run's start takes ten seconds."""
    world = await World.open(make_agent(timeout_seconds=30))
    commit = world.journal.commit

    async def slow_commit(unit: Unit, on_prepared: PreparedCallback | None = None) -> Receipt:
        await asyncio.sleep(10)
        return await commit(unit, on_prepared)

    monkeypatch.setattr(world.journal, "commit", slow_commit)
    await world.say("hi")
    run = await world.plugins.next_run()
    deadline = run.context["runtime"]["deadline_at"] - LoopClock().now()
    assert deadline < 30_000
    await asyncio.sleep((deadline - 1) / 1000)
    assert run.aborted is None
    await asyncio.sleep(0.002)
    assert run.aborted is not None
    await world.rest()
    assert run_end(world)[0] == "timeout"


async def test_uncommitted_message_is_not_published() -> None:
    world, run = await active()
    [conversation] = {row["conversation_id"] for row in world.rows(RUNS)}
    subscriber = world.core.feed.subscribe(conversation)
    world.journal.broken["run.progress"] = 1
    run.send(run.completed("hello"))
    await settle()
    assert [frame for frame in subscriber.drain() if frame["type"] == "message"] == []
    world.plugins.echo = True
    await world.rest()


async def test_ledger_sequence_numbers_are_unique_and_increasing() -> None:
    world, run = await active()
    for number in range(5):
        run.send(run.delta("a"), run.result("mood.changed", {"to": number}))
        await world.say(f"more {number}")
        await settle()
        await world.call(run, "steering_pull")
    run.answer("hello")
    await world.rest()
    numbers = [row["sequence"] for row in world.rows(RUN_EVENTS)]
    assert numbers == sorted(set(numbers))


async def test_crash_after_output_ends_with_a_notice_and_no_retry() -> None:
    world, run = await active()
    run.send(run.completed("half"))
    await settle()
    run.crash()
    await world.rest()
    assert run_end(world) == ("failed", "runner.crashed", "failed")
    assert len(world.plugins.runs) == 1
    assert assistant_texts(world)[0] == "half"


async def test_session_is_closed_with_its_run() -> None:
    world, run = await active()
    run.answer("hello")
    await world.rest()
    assert world.core.sessions.all() == []
    assert run.aborted is not None
