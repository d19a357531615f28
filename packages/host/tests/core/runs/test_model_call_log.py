"""Model call records are written after the calls, and not after their conversation or user was deleted."""

import asyncio

import pytest

from parlour.core.encoding import loads
from parlour.core.errors import CallRejected
from parlour.core.model.event import Participant
from parlour.core.model.providers import Providers
from parlour.core.runs import model_call_log
from parlour.core.runs.model_call_log import FLUSH_SECONDS
from parlour.core.store.tables import MODEL_CALLS, RUNS
from parlour.testing.scripted import Hang, ScriptedModels

from ..models.model_support import ASK, start_run, world
from ..support import World, until

PERSON = Participant("user", "ann")


def conversation_of(made: World, run_id: str) -> str:
    return str(made.rows(RUNS, run_id=run_id)[0]["conversation_id"])


async def test_record_is_written_shortly_after_the_call_with_its_sender() -> None:
    made = await world(Providers(models=ScriptedModels("hello")))
    run = await start_run(made)
    await made.call(run, "invoke_llm", **ASK)
    run.answer("hello")
    await made.rest()
    assert made.rows(MODEL_CALLS) == [], "no message waits for the record"
    await asyncio.sleep(2 * FLUSH_SECONDS)
    [row] = made.rows(MODEL_CALLS)
    assert (row["run_id"], row["actor_type"], row["actor_id"]) == (run.run_id, "user", "ann")
    assert loads(row["answer"])["text"] == "hello"


async def test_waiting_record_of_a_deleted_conversation_is_not_written() -> None:
    made = await world(Providers(models=ScriptedModels("hello")))
    run = await start_run(made)
    await made.call(run, "invoke_llm", **ASK)
    run.answer("hello")
    await made.rest()
    await made.core.conversation_eraser.erase(conversation_of(made, run.run_id), PERSON)
    await asyncio.sleep(2 * FLUSH_SECONDS)
    assert made.rows(MODEL_CALLS) == []


async def test_record_of_a_call_cancelled_by_the_deletion_is_not_written() -> None:
    models = ScriptedModels(Hang())
    made = await world(Providers(models=models))
    run = await start_run(made)
    pending_call = asyncio.ensure_future(made.call(run, "invoke_llm", **ASK))
    await until(lambda: models.askings)
    await made.core.conversation_eraser.erase(conversation_of(made, run.run_id), PERSON)
    with pytest.raises(CallRejected):
        await pending_call
    await asyncio.sleep(2 * FLUSH_SECONDS)
    assert made.rows(MODEL_CALLS) == []


async def test_waiting_record_of_a_deleted_user_is_not_written() -> None:
    made = await world(Providers(models=ScriptedModels("hello")))
    run = await start_run(made)
    await made.call(run, "invoke_llm", **ASK)
    await made.core.model_calls.forget_person("user", "ann")
    await asyncio.sleep(2 * FLUSH_SECONDS)
    assert made.rows(MODEL_CALLS) == []


async def test_waiting_records_are_written_at_close() -> None:
    made = await world(Providers(models=ScriptedModels("hello")))
    run = await start_run(made)
    await made.call(run, "invoke_llm", **ASK)
    await made.core.model_calls.close()
    assert len(made.rows(MODEL_CALLS)) == 1


async def test_calls_over_the_queue_limit_are_answered_without_record(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(model_call_log, "MAX_WAITING_CALLS", 1)
    made = await world(Providers(models=ScriptedModels("one", "two")))
    run = await start_run(made)
    for text in ("one", "two"):
        assert (await made.call(run, "invoke_llm", **ASK))["message"]["content"] == text
    await asyncio.sleep(2 * FLUSH_SECONDS)
    assert [loads(row["answer"])["text"] for row in made.rows(MODEL_CALLS)] == ["one"]


async def test_calls_are_recorded_again_after_those_that_filled_the_queue_were_deleted(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(model_call_log, "MAX_WAITING_CHARACTERS", 1)
    made = await world(Providers(models=ScriptedModels("one", "two", "three")))
    run = await start_run(made)
    for text in ("one", "two"):
        assert (await made.call(run, "invoke_llm", **ASK))["message"]["content"] == text
    await made.core.model_calls.forget_person("user", "ann")
    await made.call(run, "invoke_llm", **ASK)
    await made.core.model_calls.close()
    assert [loads(row["answer"])["text"] for row in made.rows(MODEL_CALLS)] == ["three"]
