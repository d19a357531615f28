"""Model calls of a run: answers, streams, failures, cancellation, and usage in the ledger."""

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

from ..models.model_support import ASK, cancel, start_run, world
from ..support import World, settle, until

BUSY = ProviderFailed("rate_limited", "the model is busy", retryable=True)


def usage_of(made: World, run_id: str) -> dict[str, Any]:
    data: dict[str, Any] = loads(made.rows(RUNS, run_id=run_id)[0]["usage"])
    return data


def recorded_calls(made: World, run_id: str) -> list[tuple[str, str]]:
    facts = [data for type, data in made.facts(run_id) if type == "model.called"]
    return [(data["name"], data["outcome"]) for data in facts]


async def test_model_answer_has_its_cost() -> None:
    models = ScriptedModels(Reply("hello", usage=Usage(prompt_tokens=7, completion_tokens=2, cost_micros=40)))
    made = await world(Providers(models=models))
    run = await start_run(made)
    answer = await made.call(run, "invoke_llm", **ASK)
    assert (answer["message"]["content"], answer["usage"]["cost_micros"]) == ("hello", 40)
    assert (models.askings[0].run_id, models.askings[0].actor_id) == (run.run_id, "ann")
    run.answer("hello")
    await made.rest()


async def test_tool_calls_of_a_model_are_returned() -> None:
    models = ScriptedModels(Reply(tool_calls=[ToolCall(id="1", name="tool")], finish_reason="tool_calls"))
    made = await world(Providers(models=models))
    run = await start_run(made)
    answer = await made.call(run, "invoke_llm", **ASK)
    assert (answer["message"]["tool_calls"][0]["name"], answer["finish_reason"]) == ("tool", "tool_calls")


async def test_last_chunk_of_a_stream_has_the_usage() -> None:
    made = await world(Providers(models=ScriptedModels("one two three")))
    run = await start_run(made)
    chunks = [part async for part in made.stream(run, "invoke_llm_stream", **ASK)]
    assert "".join(part["chunk"]["content"] for part in chunks) == "one two three "
    assert [part["usage"] is not None for part in chunks] == [False, False, False, True]


async def test_texts_are_embedded_and_documents_ranked() -> None:
    made = await world(Providers(models=ScriptedModels()))
    run = await start_run(made)
    embedded = await made.call(run, "invoke_embedding", model_id="embedding-model", texts=["a", "abc"])
    documents = ["a", "abc", "ab"]
    ranked = await made.call(run, "invoke_rerank", model_id="rerank-model", query="q", documents=documents, top_k=2)
    assert embedded["embeddings"] == [[1.0], [3.0]]
    assert [each["index"] for each in ranked["results"]] == [1, 2]


async def test_ledger_counts_calls_and_tokens() -> None:
    made = await world(Providers(models=ScriptedModels("one", "two", BUSY)))
    run = await start_run(made)
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
    assert recorded_calls(made, run.run_id) == [
        ("model", "answered"),
        ("model", "answered"),
        ("model", "rate_limited"),
        ("embedding-model", "answered"),
    ]


async def test_reported_usage_of_a_runner_is_added_to_the_counted_usage() -> None:
    made = await world(Providers(models=ScriptedModels("one")))
    run = await start_run(made)
    await made.call(run, "invoke_llm", **ASK)
    reported = {"finish_reason": "stop", "usage": {"prompt_tokens": 100, "completion_tokens": 1, "cost_micros": 9}}
    run.send(run.completed("done"), run.result("run.completed", reported))
    await made.rest()
    counted = {"model_calls": 1, "prompt_tokens": 100, "completion_tokens": 2, "cost_micros": 9}
    assert usage_of(made, run.run_id) == {**counted, "unpriced_calls": 1}


async def test_ledger_events_of_model_calls_contain_no_content() -> None:
    made = await world(Providers(models=ScriptedModels("the answer's secret")))
    run = await start_run(made)
    await made.call(run, "invoke_llm", model_id="model", messages=[{"role": "user", "content": "the asked secret"}])
    run.answer("done")
    await made.rest()
    assert not any("secret" in row["data"] for row in made.rows(RUN_EVENTS, run_id=run.run_id))
    sources = {row["source"] for row in made.rows(RUN_EVENTS, run_id=run.run_id, type="model.called")}
    assert sources == {"host"}


async def test_provider_failure_reaches_the_run_with_its_code() -> None:
    made = await world(Providers(models=ScriptedModels(BUSY)))
    run = await start_run(made)
    with pytest.raises(CallRejected) as refused:
        await made.call(run, "invoke_llm", **ASK)
    assert (refused.value.code, refused.value.retryable) == ("rate_limited", True)


async def test_broken_stream_yields_its_chunks_and_then_the_error() -> None:
    made = await world(Providers(models=ScriptedModels(Reply("one two", then=BUSY))))
    run = await start_run(made)
    stream = made.stream(run, "invoke_llm_stream", **ASK)
    assert [(await anext(stream))["chunk"]["content"] for _ in range(2)] == ["one ", "two "]
    with pytest.raises(CallRejected) as refused:
        await anext(stream)
    assert refused.value.code == "rate_limited"


async def test_abandoned_stream_is_closed_at_the_provider() -> None:
    models = ScriptedModels("one two three")
    made = await world(Providers(models=models))
    run = await start_run(made)
    stream = made.stream(run, "invoke_llm_stream", **ASK)
    await anext(stream)
    await stream.aclose()
    assert models.abandoned == 1
    run.answer("enough")
    await made.rest()
    assert recorded_calls(made, run.run_id) == [("model", "abandoned")]


@pytest.mark.parametrize("action", ["invoke_llm", "invoke_llm_stream"])
@pytest.mark.parametrize(("ending", "code"), [("cancel", "cancelled"), ("deadline", "deadline_exceeded")])
async def test_pending_model_call_is_cancelled_when_the_run_ends(action: str, ending: str, code: str) -> None:
    models = ScriptedModels(Hang())
    made = await world(Providers(models=models), timeout_seconds=60 if ending == "deadline" else 0)
    run = await start_run(made)
    pending_call = asyncio.ensure_future(_ask(made, run, action))
    await until(lambda: models.requests)
    if ending == "cancel":
        await cancel(made, run)
    with pytest.raises(CallRejected) as refused:
        await pending_call
    assert (refused.value.code, models.abandoned) == (code, 1)
    await made.rest()
    assert usage_of(made, run.run_id) == {"model_calls": 1, "unpriced_calls": 1}
    assert recorded_calls(made, run.run_id) == [("model", "cut_off")]


async def test_pending_stream_is_cancelled_with_its_run() -> None:
    models = ScriptedModels(Reply("one two", then=Hang()))
    made = await world(Providers(models=models))
    run = await start_run(made)
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
async def test_call_interrupted_by_a_crash_is_recorded_as_cut_off(action: str) -> None:
    models = ScriptedModels(Hang())
    made = await world(Providers(models=models))
    run = await start_run(made)
    pending_call = asyncio.ensure_future(_ask(made, run, action))
    await until(lambda: usage_of(made, run.run_id).get("calling") == ["model"])
    pending_call.cancel()
    made = await made.restart(providers=Providers(models=models))
    assert made.rows(RUNS, run_id=run.run_id)[0]["status_reason"] == "interrupted"
    assert usage_of(made, run.run_id) == {"model_calls": 1, "unpriced_calls": 1}
    assert recorded_calls(made, run.run_id) == [("model", "cut_off")]


async def test_usage_of_a_run_survives_a_crash_of_the_host() -> None:
    models = ScriptedModels(Reply("hello", usage=Usage(prompt_tokens=7, completion_tokens=2, cost_micros=40)))
    made = await world(Providers(models=models))
    run = await start_run(made)
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
    assert recorded_calls(made, run.run_id) == [("model", "answered")]


@pytest.mark.parametrize("last", [False, True], ids=["the next result", "the last"])
async def test_usage_is_written_with_the_next_result_of_the_run(last: bool) -> None:
    made = await world(Providers(models=ScriptedModels(Reply("hello", usage=Usage(prompt_tokens=7, cost_micros=4)))))
    run = await start_run(made)
    await made.call(run, "invoke_llm", **ASK)
    run.send(run.completed("hello"), *([run.finished()] if last else []))
    await settle()
    assert usage_of(made, run.run_id)["cost_micros"] == 4
    await asyncio.sleep(2 * USAGE_WRITE_DELAY_SECONDS)
    assert "run.metered" not in made.journal.units
    assert recorded_calls(made, run.run_id) == [("model", "answered")]


async def test_answer_is_returned_though_its_usage_cannot_be_written() -> None:
    made = await world(Providers(models=ScriptedModels("hello")))
    run = await start_run(made)
    made.journal.broken["run.metered"] = 1
    assert (await made.call(run, "invoke_llm", **ASK))["message"]["content"] == "hello"
    await asyncio.sleep(2 * USAGE_WRITE_DELAY_SECONDS)
    assert made.journal.broken["run.metered"] == 0
    run.answer("done")
    await made.rest()
    assert recorded_calls(made, run.run_id) == [("model", "answered")]
    assert usage_of(made, run.run_id)["model_calls"] == 1
