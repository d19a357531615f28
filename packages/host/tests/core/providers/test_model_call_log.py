"""Records of model calls: written after the calls, and never after what they belong to was deleted."""

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

from ..support import World, until
from .granted import ASK, running, world

PERSON = Participant("user", "ann")


def conversation_of(made: World, run_id: str) -> str:
    return str(made.rows(RUNS, run_id=run_id)[0]["conversation_id"])


async def test_a_record_is_written_a_moment_after_the_call_and_names_its_sender() -> None:
    made = await world(Providers(models=ScriptedModels("hello")))
    run = await running(made)
    await made.call(run, "invoke_llm", **ASK)
    run.answer("hello")
    await made.rest()
    assert made.rows(MODEL_CALLS) == [], "no message waits for it"
    await asyncio.sleep(2 * FLUSH_SECONDS)
    [row] = made.rows(MODEL_CALLS)
    assert (row["run_id"], row["actor_type"], row["actor_id"]) == (run.run_id, "user", "ann")
    assert loads(row["answer"])["text"] == "hello"


async def test_a_record_that_waits_is_not_written_after_its_conversation_was_deleted() -> None:
    made = await world(Providers(models=ScriptedModels("hello")))
    run = await running(made)
    await made.call(run, "invoke_llm", **ASK)
    run.answer("hello")
    await made.rest()
    await made.core.conversation_eraser.erase(conversation_of(made, run.run_id), PERSON)
    await asyncio.sleep(2 * FLUSH_SECONDS)
    assert made.rows(MODEL_CALLS) == []


async def test_a_call_that_the_deletion_cut_off_is_not_written() -> None:
    models = ScriptedModels(Hang())
    made = await world(Providers(models=models))
    run = await running(made)
    asked = asyncio.ensure_future(made.call(run, "invoke_llm", **ASK))
    await until(lambda: models.askings)
    await made.core.conversation_eraser.erase(conversation_of(made, run.run_id), PERSON)
    with pytest.raises(CallRejected):
        await asked
    await asyncio.sleep(2 * FLUSH_SECONDS)
    assert made.rows(MODEL_CALLS) == []


async def test_a_record_that_waits_is_not_written_after_its_person_was_deleted() -> None:
    made = await world(Providers(models=ScriptedModels("hello")))
    run = await running(made)
    await made.call(run, "invoke_llm", **ASK)
    await made.core.model_calls.forget_person("user", "ann")
    await asyncio.sleep(2 * FLUSH_SECONDS)
    assert made.rows(MODEL_CALLS) == []


async def test_what_waits_at_the_end_is_written_by_it() -> None:
    made = await world(Providers(models=ScriptedModels("hello")))
    run = await running(made)
    await made.call(run, "invoke_llm", **ASK)
    await made.core.model_calls.close()
    assert len(made.rows(MODEL_CALLS)) == 1


async def test_calls_beyond_what_may_wait_are_answered_and_not_recorded(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(model_call_log, "MAX_WAITING_CALLS", 1)
    made = await world(Providers(models=ScriptedModels("one", "two")))
    run = await running(made)
    for text in ("one", "two"):
        assert (await made.call(run, "invoke_llm", **ASK))["message"]["content"] == text
    await asyncio.sleep(2 * FLUSH_SECONDS)
    assert [loads(row["answer"])["text"] for row in made.rows(MODEL_CALLS)] == ["one"]
