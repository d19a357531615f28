"""Tests the local agent with two model services: a plain one in a process of its own, ours or the one that
`PARLOUR_FAKE_OPENAI` names, and one that fails in scripted ways.
"""

import asyncio
import json
import time
from collections.abc import Iterator
from typing import Any

import pytest

from parlour.testing.model_server import Endless, ModelServer, Raw, Refuse, ScriptedAnswer, event
from tests.integration.conftest import MakeHost
from tests.support.chat import Chat
from tests.support.harness import Host, Json, eventually, texts
from tests.support.plain_models import PlainModel, plain_model
from tests.support.scripted_models import LOCAL, LOCAL_PLUGIN

FIRST = event({"content": "one "})
MARKS = [f"[#a{number}]" for number in range(12)]


@pytest.fixture(scope="module")
def host(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Host]:
    bounds = {"PARLOUR__MODELS__ATTEMPTS": 2, "PARLOUR__MODELS__ANSWER_BYTES": 300_000}
    host = Host(tmp_path_factory.mktemp("plainly modelled"), **bounds)
    host.install(LOCAL_PLUGIN)
    host.start()
    yield host
    host.close()


@pytest.fixture(scope="module")
def faults() -> Iterator[ModelServer]:
    with ModelServer() as server:
        yield server


@pytest.fixture
def faulty(faults: ModelServer) -> ModelServer:
    faults.forget()
    return faults


@pytest.fixture(scope="module")
def service() -> Iterator[PlainModel]:
    with plain_model() as service:
        yield service


def model(host: Host, address: str) -> str:
    body: dict[str, Any] = {"name": "Plain", "kind": "openai-compatible", "base_url": address, "api_keys": []}
    provider_id = host.http().post("/model-providers", json=body).json()["provider_id"]
    made = host.http().post("/models", json={"provider_id": provider_id, "name": "fake", "prices": {"input": 1}})
    return str(made.json()["model_id"])


def local(host: Host, address: str, **config: Any) -> str:
    chosen = {"primary": model(host, address), "fallbacks": []}
    return host.agent(LOCAL, config={"model": chosen, **config}, restart_policy="never")


def streamed_and_stored(host: Host, chat: Chat, message: Json) -> set[str]:
    """Returns the fragments of an answer, its whole, the transcript's text and the replay's text.
    All four must be equal.
    """
    replay = host.http().get(f"/runs/{message['run_id']}/replay").json()
    replayed = "".join(frame["content"] for frame in replay["frames"] if frame["type"] == "delta")
    _, (_, stored) = host.transcript(chat.conversation_id)
    return {chat.deltas, message["message"]["content"], stored, replayed}


@pytest.mark.parametrize("streaming", [True, False])
def test_a_question_has_its_own_answer_and_usage(host: Host, service: PlainModel, streaming: bool) -> None:
    agent, before = local(host, f"{service.address}/v1", streaming=streaming), service.requests()
    result = host.ask(agent, "are you there? [#12ab]")
    assert texts(result) == ["pong [#12ab]"]
    assert service.requests() == before + 1
    used = {"model_calls": 1, "prompt_tokens": 10, "completion_tokens": 2, "cost_micros": 10}
    assert host.run(result["run"]["run_id"])["usage"] == used


async def test_concurrent_questions_are_not_mixed_up(host: Host, service: PlainModel) -> None:
    agent = await asyncio.to_thread(local, host, service.address)
    asked = [asyncio.to_thread(host.ask, agent, mark, conversation_id=f"at once {mark}") for mark in MARKS]
    assert [texts(result) for result in await asyncio.gather(*asked)] == [[f"pong {mark}"] for mark in MARKS]


async def test_an_answer_in_many_fragments_is_stored_as_it_was_streamed(host: Host) -> None:
    words = " ".join(f"word{number}" for number in range(20))
    with plain_model("--text", words, "--chunks", "20", "--chunk-delay-ms", "20") as service:
        async with Chat(host, await asyncio.to_thread(local, host, service.address)) as chat:
            await chat.say("go")
            message = await chat.until("message", 30)
            await chat.until("run", 30, status="completed")
    assert streamed_and_stored(host, chat, message) == {words}


def test_testing_a_model_at_a_wrong_address_reports_an_unknown_model(host: Host, service: PlainModel) -> None:
    tried = host.http().post(f"/models/{model(host, f'{service.address}/v2')}/test").json()
    assert (tried["ok"], tried["code"]) == (False, "model_unknown")
    assert "not here" in tried["message"]
    assert host.http().post(f"/models/{model(host, service.address)}/test").json()["message"] == "it answered: pong"


async def test_a_service_that_dies_while_answering_fails_the_run_and_the_next_one_as_unreachable(host: Host) -> None:
    with plain_model("--text", "word " * 400, "--chunks", "400", "--chunk-delay-ms", "50") as service:
        agent = await asyncio.to_thread(local, host, service.address)
        async with Chat(host, agent) as chat:
            await chat.say("go")
            await chat.until("delta", 30)
            service.end()
            ended = await chat.until("run", 30, status="failed")
    sentence = "The answer of the model 'fake' broke off: Plain broke its answer off in the middle"
    assert host.run(ended["run_id"])["error"] == sentence
    gone = await asyncio.to_thread(host.ask, agent, "again")
    assert gone["reason"] == "local-agent.model_failed"
    assert gone["run"]["error"].startswith("The model 'fake' did not answer: Plain can't be reached")


@pytest.mark.parametrize(
    ("fault", "sentence", "tries"),
    [
        (Refuse(400, "bad picture"), "Plain refused the request (400): bad picture", 1),
        (Refuse(401, "who?"), "Plain does not accept the API key (401): who?", 1),
        (Refuse(404), "check the model's name 'fake'", 1),
        (Refuse(408), "Plain took too long to answer (408): as told", 2),
        (Refuse(429, headers={"Retry-After": "0"}), "Plain gets too many requests (429): as told", 2),
        (Refuse(429, headers={"Retry-After": "3600"}), "Plain gets too many requests (429): as told", 1),
        (Refuse(500), "Plain failed (500): as told", 2),
        (Raw(b"<html><p>Welcome</p></html>", "text/html"), "answered with a web page", 1),
        (Raw(FIRST, then="cut"), "broke its answer off in the middle", 1),
        (Raw(FIRST + b"data: {nonsense\n\n"), "sent an event that is not JSON", 1),
        (Endless(), "more than 300,000 bytes", 1),
    ],
    ids=lambda value: f"{value.status}" if isinstance(value, Refuse) else None,
)
def test_a_service_failure_is_one_sentence_and_is_retried_only_when_that_is_safe(
    host: Host, faulty: ModelServer, fault: ScriptedAnswer, sentence: str, tries: int
) -> None:
    faulty.will(fault, fault)
    result = host.ask(local(host, f"{faulty.address}/v1"), "hello")
    error = host.run(result["run"]["run_id"])["error"]
    assert (result["reason"], sentence in error, "\n" in error) == ("local-agent.model_failed", True, False), error
    assert len(faulty.requests) == tries


@pytest.mark.long
def test_a_service_that_goes_silent_while_answering_is_given_up(make_host: MakeHost, faulty: ModelServer) -> None:
    host = make_host(LOCAL_PLUGIN, PARLOUR__MODELS__STALL_SECONDS=2).start()
    faulty.will(Raw(FIRST, then="stall"))
    result = host.ask(local(host, f"{faulty.address}/v1"), "hello")
    assert "Plain went silent for" in result["run"]["error"]
    eventually(lambda: faulty.abandoned, "the service sees that the request has ended")


@pytest.mark.parametrize("streaming", [True, False])
def test_a_cancelled_or_late_run_ends_its_request_to_the_service(
    host: Host, faulty: ModelServer, streaming: bool
) -> None:
    faulty.will(*[Raw(FIRST if streaming else b"{", then="stall")] * 2)
    agent = local(host, f"{faulty.address}/v1", streaming=streaming)
    host.send(agent, "hello", event_id=f"cancelled {streaming}")
    eventually(lambda: faulty.requests, "the service is asked")
    assert host.http().post(f"/runs/{host.active_run(agent)}/cancel").json()["status"] == "cancelled"
    eventually(lambda: faulty.abandoned == 1, "the service sees that the request has ended")
    late = host.agent(LOCAL, config=host.http().get(f"/agents/{agent}").json()["runner_config"], timeout_seconds=2)
    assert host.ask(late, "hello")["run"]["status"] == "timeout"
    eventually(lambda: faulty.abandoned == 2, "the service sees that the request has ended")


@pytest.mark.quiet
async def test_fifty_tokens_at_a_tenth_of_a_second_arrive_as_they_are_generated(host: Host) -> None:
    words = " ".join(f"w{at:02d}" for at in range(50)) + " "
    options = ("--text", words, "--chunks", "50", "--chunk-delay-ms", "100", "--no-echo")
    with plain_model(*options) as service, plain_model() as warm:
        await asyncio.to_thread(host.ask, await asyncio.to_thread(local, host, warm.address), "warm up")
        async with Chat(host, await asyncio.to_thread(local, host, service.address)) as chat:
            times: list[float] = []
            await chat.say("go")
            began = time.monotonic()
            while (frame := await chat.frame(30))["type"] != "message":
                if frame["type"] == "delta":
                    times.append(time.monotonic() - began)
            await chat.until("run", 30, status="completed")
    assert streamed_and_stored(host, chat, frame) == {words}
    assert times[0] < 0.3
    assert len({round(each, 2) for each in times}) >= 10


def test_anthropic_receives_the_error_of_a_failed_tool(host: Host, faulty: ModelServer) -> None:
    call = {"type": "tool_use", "id": "a", "name": "calculator_evaluate", "input": {"expression": "1 / 0"}}
    answers = [{"content": [call], "stop_reason": "tool_use"}, {"content": [{"type": "text", "text": "no"}]}]
    faulty.will(*(Raw(json.dumps({"usage": {}, **each}).encode(), "application/json") for each in answers))
    body = {"name": "Claude", "kind": "anthropic", "base_url": faulty.address, "api_keys": ["sk-test"]}
    provider_id = host.http().post("/model-providers", json=body).json()["provider_id"]
    made = host.http().post("/models", json={"provider_id": provider_id, "name": "claude", "abilities": ["tools"]})
    assert made.status_code == 201, made.text
    config = {"model": {"primary": made.json()["model_id"], "fallbacks": []}, "streaming": False}
    answer = host.ask(host.agent(LOCAL, config=config, resource_policy={"tools": ["calculator.evaluate"]}), "divide")
    assert answer["run"]["status"] == "completed", answer
    [result] = faulty.requests[-1].body["messages"][-1]["content"]
    assert (result["type"], result["is_error"]) == ("tool_result", True)
