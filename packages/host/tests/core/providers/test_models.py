"""Calls to models from a run: answers, streams, failures, runs that end meanwhile, and what the ledger counts."""

import asyncio
from typing import Any

import pytest

from parlour.core.actions.usage_recording import USAGE_WRITE_DELAY_SECONDS
from parlour.core.encoding import loads
from parlour.core.errors import CallRejected
from parlour.core.model.providers import ProviderFailed, Providers
from parlour.core.store.tables import RUN_EVENTS, RUNS
from parlour.testing.scripted import Hang, Reply, ScriptedModels
from parlour_sdk.protocol.messages import ToolCall
from parlour_sdk.protocol.usage import Usage

from ..support import World, settle, until
from .granted import ASK, cancel, running, world

BUSY = ProviderFailed("rate_limited", "the model is busy", retryable=True)


def usage_of(made: World, run_id: str) -> dict[str, Any]:
    told: dict[str, Any] = loads(made.rows(RUNS, run_id=run_id)[0]["usage"])
    return told


def called(made: World, run_id: str) -> list[tuple[str, str]]:
    facts = [told for type, told in made.facts(run_id) if type == "model.called"]
    return [(told["name"], told["outcome"]) for told in facts]


async def test_a_run_is_given_the_models_answer_with_what_it_cost() -> None:
    models = ScriptedModels(Reply("hello", usage=Usage(prompt_tokens=7, completion_tokens=2, cost_micros=40)))
    made = await world(Providers(models=models))
    run = await running(made)
    answer = await made.call(run, "invoke_llm", **ASK)
    assert (answer["message"]["content"], answer["usage"]["cost_micros"]) == ("hello", 40)
    assert (models.askings[0].run_id, models.askings[0].actor_id) == (run.run_id, "ann")
    run.answer("hello")
    await made.rest()


async def test_a_model_that_wants_a_tool_called_says_so() -> None:
    models = ScriptedModels(Reply(tool_calls=[ToolCall(id="1", name="tool")], finish_reason="tool_calls"))
    made = await world(Providers(models=models))
    run = await running(made)
    answer = await made.call(run, "invoke_llm", **ASK)
    assert (answer["message"]["tool_calls"][0]["name"], answer["finish_reason"]) == ("tool", "tool_calls")


async def test_a_stream_comes_in_chunks_of_which_the_last_tells_the_usage() -> None:
    made = await world(Providers(models=ScriptedModels("one two three")))
    run = await running(made)
    chunks = [part async for part in made.stream(run, "invoke_llm_stream", **ASK)]
    assert "".join(part["chunk"]["content"] for part in chunks) == "one two three "
    assert [part["usage"] is not None for part in chunks] == [False, False, False, True]


async def test_texts_are_embedded_and_documents_are_ranked() -> None:
    made = await world(Providers(models=ScriptedModels()))
    run = await running(made)
    embedded = await made.call(run, "invoke_embedding", model_id="embedding-model", texts=["a", "abc"])
    documents = ["a", "abc", "ab"]
    ranked = await made.call(run, "invoke_rerank", model_id="rerank-model", query="q", documents=documents, top_k=2)
    assert embedded["embeddings"] == [[1.0], [3.0]]
    assert [each["index"] for each in ranked["results"]] == [1, 2]


async def test_the_ledger_counts_every_call_and_its_tokens() -> None:
    made = await world(Providers(models=ScriptedModels("one", "two", BUSY)))
    run = await running(made)
    await made.call(run, "invoke_llm", **ASK)
    async for _ in made.stream(run, "invoke_llm_stream", **ASK):
        pass
    with pytest.raises(CallRejected):
        await made.call(run, "invoke_llm", **ASK)
    await made.call(run, "invoke_embedding", model_id="embedding-model", texts=["a"])
    run.answer("done")
    await made.rest()
    tokens = {"prompt_tokens": 7, "completion_tokens": 4}
    assert usage_of(made, run.run_id) == {"model_calls": 4, **tokens, "unpriced_calls": 3}
    assert called(made, run.run_id) == [
        ("model", "answered"),
        ("model", "answered"),
        ("model", "rate_limited"),
        ("embedding-model", "answered"),
    ]


async def test_what_a_runner_says_it_used_elsewhere_is_kept_beside_what_was_counted() -> None:
    made = await world(Providers(models=ScriptedModels("one")))
    run = await running(made)
    await made.call(run, "invoke_llm", **ASK)
    said = {"finish_reason": "stop", "usage": {"prompt_tokens": 100, "completion_tokens": 1, "cost_micros": 9}}
    run.send(run.completed("done"), run.result("run.completed", said))
    await made.rest()
    counted = {"model_calls": 1, "prompt_tokens": 100, "completion_tokens": 2, "cost_micros": 9}
    assert usage_of(made, run.run_id) == {**counted, "unpriced_calls": 1}


async def test_nothing_that_was_said_is_in_the_telemetry() -> None:
    made = await world(Providers(models=ScriptedModels("the answer's secret")))
    run = await running(made)
    await made.call(run, "invoke_llm", model_id="model", messages=[{"role": "user", "content": "the asked secret"}])
    run.answer("done")
    await made.rest()
    assert not any("secret" in row["data"] for row in made.rows(RUN_EVENTS, run_id=run.run_id))
    sources = {row["source"] for row in made.rows(RUN_EVENTS, run_id=run.run_id, type="model.called")}
    assert sources == {"host"}


async def test_a_providers_failure_reaches_the_run_with_its_code() -> None:
    made = await world(Providers(models=ScriptedModels(BUSY)))
    run = await running(made)
    with pytest.raises(CallRejected) as refused:
        await made.call(run, "invoke_llm", **ASK)
    assert (refused.value.code, refused.value.retryable) == ("rate_limited", True)


async def test_a_stream_that_breaks_gives_what_came_and_then_the_error() -> None:
    made = await world(Providers(models=ScriptedModels(Reply("one two", then=BUSY))))
    run = await running(made)
    stream = made.stream(run, "invoke_llm_stream", **ASK)
    assert [(await anext(stream))["chunk"]["content"] for _ in range(2)] == ["one ", "two "]
    with pytest.raises(CallRejected) as refused:
        await anext(stream)
    assert refused.value.code == "rate_limited"


async def test_a_stream_that_its_runner_leaves_is_closed_at_the_provider() -> None:
    models = ScriptedModels("one two three")
    made = await world(Providers(models=models))
    run = await running(made)
    stream = made.stream(run, "invoke_llm_stream", **ASK)
    await anext(stream)
    await stream.aclose()
    assert models.abandoned == 1
    run.answer("enough")
    await made.rest()
    assert called(made, run.run_id) == [("model", "abandoned")]


@pytest.mark.parametrize("action", ["invoke_llm", "invoke_llm_stream"])
@pytest.mark.parametrize(("ending", "code"), [("cancel", "cancelled"), ("deadline", "deadline_exceeded")])
async def test_a_model_that_hangs_is_let_go_when_the_run_ends(action: str, ending: str, code: str) -> None:
    models = ScriptedModels(Hang())
    made = await world(Providers(models=models), timeout_seconds=60 if ending == "deadline" else 0)
    run = await running(made)
    asked = asyncio.ensure_future(_ask(made, run, action))
    await until(lambda: models.requests)
    if ending == "cancel":
        await cancel(made, run)
    with pytest.raises(CallRejected) as refused:
        await asked
    assert (refused.value.code, models.abandoned) == (code, 1)
    await made.rest()
    assert usage_of(made, run.run_id) == {"model_calls": 1, "unpriced_calls": 1}
    assert called(made, run.run_id) == [("model", "cut_off")]


async def test_a_stream_that_hangs_in_the_middle_is_let_go_when_the_run_is_cancelled() -> None:
    models = ScriptedModels(Reply("one two", then=Hang()))
    made = await world(Providers(models=models))
    run = await running(made)
    stream = made.stream(run, "invoke_llm_stream", **ASK)
    assert [(await anext(stream))["chunk"]["content"] for _ in range(2)] == ["one ", "two "]
    waiting = asyncio.ensure_future(anext(stream))
    await settle()
    await cancel(made, run)
    with pytest.raises(CallRejected) as refused:
        await waiting
    assert (refused.value.code, models.abandoned) == ("cancelled", 1)


async def _ask(made: World, run: Any, action: str) -> None:
    if action == "invoke_llm":
        await made.call(run, action, **ASK)
    else:
        async for _ in made.stream(run, action, **ASK):
            pass


@pytest.mark.parametrize("action", ["invoke_llm", "invoke_llm_stream"])
async def test_a_call_that_a_dead_host_was_waiting_for_is_in_the_ledger_as_cut_off(action: str) -> None:
    models = ScriptedModels(Hang())
    made = await world(Providers(models=models))
    run = await running(made)
    asked = asyncio.ensure_future(_ask(made, run, action))
    await until(lambda: usage_of(made, run.run_id).get("calling") == ["model"])
    asked.cancel()
    made = await made.restart(providers=Providers(models=models))
    assert made.rows(RUNS, run_id=run.run_id)[0]["status_reason"] == "interrupted"
    assert usage_of(made, run.run_id) == {"model_calls": 1, "unpriced_calls": 1}
    assert called(made, run.run_id) == [("model", "cut_off")]


async def test_what_a_model_has_used_is_known_also_of_a_run_that_died_with_its_host() -> None:
    models = ScriptedModels(Reply("hello", usage=Usage(prompt_tokens=7, completion_tokens=2, cost_micros=40)))
    made = await world(Providers(models=models))
    run = await running(made)
    await made.call(run, "invoke_llm", **ASK)
    await asyncio.sleep(2 * USAGE_WRITE_DELAY_SECONDS)
    assert usage_of(made, run.run_id) == {
        "model_calls": 1,
        "prompt_tokens": 7,
        "completion_tokens": 2,
        "cost_micros": 40,
    }
    made = await made.restart(providers=Providers(models=models))
    assert made.rows(RUNS, run_id=run.run_id)[0]["status_reason"] == "interrupted"
    assert usage_of(made, run.run_id)["cost_micros"] == 40
    assert called(made, run.run_id) == [("model", "answered")]


@pytest.mark.parametrize("last", [False, True], ids=["the next result", "the last"])
async def test_what_a_model_has_used_is_written_with_what_its_run_writes_next(last: bool) -> None:
    made = await world(Providers(models=ScriptedModels(Reply("hello", usage=Usage(prompt_tokens=7, cost_micros=4)))))
    run = await running(made)
    await made.call(run, "invoke_llm", **ASK)
    run.send(run.completed("hello"), *([run.finished()] if last else []))
    await settle()
    assert usage_of(made, run.run_id)["cost_micros"] == 4
    await asyncio.sleep(2 * USAGE_WRITE_DELAY_SECONDS)
    assert "run.metered" not in made.journal.units
    assert called(made, run.run_id) == [("model", "answered")]


async def test_a_database_in_trouble_does_not_take_the_answer_away() -> None:
    made = await world(Providers(models=ScriptedModels("hello")))
    run = await running(made)
    made.journal.broken["run.metered"] = 1
    assert (await made.call(run, "invoke_llm", **ASK))["message"]["content"] == "hello"
    await asyncio.sleep(2 * USAGE_WRITE_DELAY_SECONDS)
    assert made.journal.broken["run.metered"] == 0
    run.answer("done")
    await made.rest()
    assert called(made, run.run_id) == [("model", "answered")]
    assert usage_of(made, run.run_id)["model_calls"] == 1
