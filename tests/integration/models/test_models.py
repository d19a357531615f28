"""Tests models through real processes: set up over HTTP, called by a plugin, streamed into a chat,
limited by budgets.
"""

import base64
import json
from collections.abc import Iterator
from typing import Any

import pytest

from parlour.testing.model_server import ModelServer, Raw, Refuse, Say
from tests.integration.conftest import MakeHost
from tests.support.chat import Chat
from tests.support.harness import ROOT, Host, Json, error_code, eventually, named_fields, texts
from tests.support.scripted import CALLER, CALLING_PLUGIN

LOCAL_PLUGIN = ROOT / "plugins" / "local-agent"
LOCAL = "plugin:parlour/local-agent/default"
PNG = b"\x89PNG\r\n\x1a\n rest"
KEY = "sk-canary-5f2c9d"
MASKED = "********"


@pytest.fixture(scope="module")
def service() -> Iterator[ModelServer]:
    with ModelServer() as server:
        yield server


@pytest.fixture
def server(service: ModelServer) -> ModelServer:
    service.forget()
    return service


@pytest.fixture(scope="module")
def modelled(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Host]:
    host = Host(tmp_path_factory.mktemp("models"))
    host.install(CALLING_PLUGIN)
    host.install(LOCAL_PLUGIN)
    host.start()
    yield host
    host.close()


@pytest.fixture
def model(modelled: Host, server: ModelServer) -> str:
    return add_model(modelled, add_provider(modelled, server))


@pytest.fixture
def budget(modelled: Host) -> Iterator[Any]:
    """Makes budgets that are deleted after the test."""
    made: list[str] = []

    def make(**fields: Any) -> Json:
        answer = modelled.http().post("/budgets", json={"name": "Small", **fields})
        assert answer.status_code == 201, answer.text
        made.append(answer.json()["budget_id"])
        return dict(answer.json())

    yield make
    for budget_id in made:
        assert modelled.http().delete(f"/budgets/{budget_id}").status_code == 204


def provider_body(server: ModelServer, **fields: Any) -> Json:
    body = {"name": "Fake", "kind": "openai-compatible", "base_url": f"{server.address}/v1", "api_keys": [KEY]}
    return {**body, **fields}


def add_provider(host: Host, server: ModelServer, **fields: Any) -> str:
    answer = host.http().post("/model-providers", json=provider_body(server, **fields))
    assert answer.status_code == 201, answer.text
    return str(answer.json()["provider_id"])


def add_model(host: Host, provider_id: str, **fields: Any) -> str:
    prices = {"input": 2, "output": 10}
    body = {"provider_id": provider_id, "name": "fake", "max_output_tokens": 100, "prices": prices, **fields}
    answer = host.http().post("/models", json=body)
    assert answer.status_code == 201, answer.text
    return str(answer.json()["model_id"])


def call_from_plugin(host: Host, model_id: str, action: str = "invoke_llm", **arguments: Any) -> Any:
    """Returns the answer to a plugin that made this call in a run."""
    agent = host.agent(CALLER, resource_policy={"models": [model_id]})
    arguments.setdefault("messages", [{"role": "user", "content": "hi"}])
    result = host.ask(agent, json.dumps([[action, {"model_id": model_id, **arguments}]]))
    return json.loads(texts(result)[0])[0]


def chat_agent(host: Host, model_id: str, **config: Any) -> str:
    return host.agent(LOCAL, config={"model": {"primary": model_id, "fallbacks": []}, **config})


def test_a_provider_is_shown_without_its_keys(modelled: Host, server: ModelServer) -> None:
    made = modelled.http().post("/model-providers", json=provider_body(server))
    assert made.status_code == 201
    shown = made.json()
    assert (shown["kind"], shown["base_url"], shown["api_keys"]) == (
        "openai-compatible",
        f"{server.address}/v1",
        [MASKED],
    )
    assert modelled.http().get(f"/model-providers/{shown['provider_id']}").json() == shown
    assert shown in modelled.items("/model-providers")
    everything = [modelled.http().get(path).text for path in ("/audit", "/model-providers", "/models")]
    assert not any(KEY in text for text in everything)
    files = [path for path in modelled.data.glob("parlour.db*") if path.is_file()]
    assert files
    assert not any(KEY.encode() in path.read_bytes() for path in files)


def test_masks_stand_for_the_stored_keys(modelled: Host, server: ModelServer) -> None:
    provider_id = add_provider(modelled, server)
    model_id = add_model(modelled, provider_id)
    path = f"/model-providers/{provider_id}"
    for keys in (None, [MASKED], ["sk-another-key", MASKED]):
        body = provider_body(server, name="Renamed")
        body = {**body, "api_keys": keys} if keys is not None else {k: v for k, v in body.items() if k != "api_keys"}
        answer = modelled.http().put(path, json=body)
        if keys == ["sk-another-key", MASKED]:
            assert named_fields(answer) == ["api_keys"]
        else:
            assert (answer.status_code, answer.json()["api_keys"]) == (200, [MASKED])
    assert modelled.http().post(f"/models/{model_id}/test").json()["ok"]
    assert server.requests[-1].headers["Authorization"] == f"Bearer {KEY}"


def test_stored_keys_are_not_sent_to_a_changed_address(modelled: Host, server: ModelServer) -> None:
    provider_id = add_provider(modelled, server)
    body = provider_body(server, base_url="https://elsewhere.example.org", api_keys=[MASKED])
    assert named_fields(modelled.http().put(f"/model-providers/{provider_id}", json=body)) == ["api_keys"]


@pytest.mark.parametrize(
    ("fields", "named"),
    [
        ({"api_keys": ["sk with space"]}, "api_keys.0"),
        ({"api_keys": ["sk-line\n"]}, "api_keys.0"),
        ({"api_keys": [""]}, "api_keys.0"),
        ({"kind": "openai", "api_keys": []}, "api_keys"),
        ({"kind": "no-such"}, "kind"),
        ({"base_url": ""}, "base_url"),
        ({"base_url": "ftp://example.org"}, "base_url"),
        ({"base_url": "http://user:secret@example.org"}, "base_url"),
        ({"base_url": "https://example.org/v1/chat/completions"}, "base_url"),
        ({"name": ""}, "name"),
        ({"unknown": 1}, "unknown"),
    ],
)
def test_an_invalid_provider_is_refused_by_field(modelled: Host, server: ModelServer, fields: Json, named: str) -> None:
    answer = modelled.http().post("/model-providers", json=provider_body(server, **fields))
    assert answer.status_code == 422
    assert named_fields(answer) == [named]
    assert "secret" not in answer.text


def test_a_new_model_is_filled_in_from_the_catalogue(modelled: Host, server: ModelServer) -> None:
    body = {"name": "OpenAI", "kind": "openai", "api_keys": [KEY]}
    provider_id = modelled.http().post("/model-providers", json=body).json()["provider_id"]
    made = modelled.http().post("/models", json={"provider_id": provider_id, "name": "gpt-4o"}).json()
    assert (made["context_window"], made["max_output_tokens"]) == (128000, 16384)
    assert "vision" in made["abilities"]
    assert made["prices"]["input"] == 2.5
    kinds = {kind["kind"]: kind for kind in modelled.http().get("/model-kinds").json()["items"]}
    assert kinds["openai"]["base_url"] == "https://api.openai.com/v1"


def test_a_model_is_changed_and_deleted_and_its_provider_after_it(modelled: Host, server: ModelServer) -> None:
    provider_id = add_provider(modelled, server)
    model_id = add_model(modelled, provider_id)
    path = f"/models/{model_id}"
    changed = modelled.http().put(path, json={"provider_id": provider_id, "name": "other", "context_window": 5}).json()
    assert (changed["name"], changed["context_window"]) == ("other", 5)
    used = modelled.http().delete(f"/model-providers/{provider_id}")
    assert (used.status_code, error_code(used)) == (409, "in_use")
    assert modelled.http().delete(path).status_code == 204
    assert modelled.http().get(path).status_code == 404
    assert modelled.http().delete(f"/model-providers/{provider_id}").status_code == 204
    answer = modelled.http().post("/models", json={"provider_id": provider_id, "name": "x"})
    assert named_fields(answer) == ["provider_id"]


def test_a_model_that_agents_use_is_not_deleted_and_they_are_named(modelled: Host, server: ModelServer) -> None:
    provider_id = add_provider(modelled, server)
    first, second, granted = (add_model(modelled, provider_id) for _ in range(3))
    chosen = {"primary": first, "fallbacks": [second]}
    fields = {"name": "Ada", "resource_policy": {"models": [granted]}}
    agent = modelled.agent(LOCAL, config={"model": chosen}, **fields)
    for model_id in (first, second, granted):
        refused = modelled.http().delete(f"/models/{model_id}")
        assert (refused.status_code, error_code(refused)) == (409, "in_use")
        sentence = "model 'fake' is used by the agent 'Ada'; let them use another one first"
        assert refused.json()["error"]["message"] == sentence
    assert modelled.http().delete(f"/agents/{agent}").status_code == 204
    for model_id in (first, second, granted):
        assert modelled.http().delete(f"/models/{model_id}").status_code == 204


def test_a_model_without_a_known_price_is_not_reported_as_free(modelled: Host, server: ModelServer) -> None:
    model = add_model(modelled, add_provider(modelled, server), prices=None)
    assert modelled.http().get(f"/models/{model}").json()["prices"] is None
    result = modelled.ask(chat_agent(modelled, model), "hello")
    usage = modelled.run(result["run"]["run_id"])["usage"]
    assert usage == {"model_calls": 1, "prompt_tokens": 10, "completion_tokens": 2, "unpriced_calls": 1}
    body = {"provider_id": modelled.http().get(f"/models/{model}").json()["provider_id"], "name": "fake"}
    priced = modelled.http().put(f"/models/{model}", json={**body, "prices": {"input": 1, "output": 5}}).json()
    assert priced["prices"] == {"input": 1, "output": 5, "cached_input": None}
    again = modelled.ask(chat_agent(modelled, model), "hello")
    assert modelled.run(again["run"]["run_id"])["usage"]["cost_micros"] == 20


def test_testing_a_model_reports_its_fault(modelled: Host, server: ModelServer, model: str) -> None:
    server.will(Say("Hello!"), Refuse(401, f"no such key {KEY}"), Refuse(404, "no such model"))
    well, refused, unknown = (modelled.http().post(f"/models/{model}/test").json() for _ in range(3))
    assert (well["ok"], well["message"]) == (True, "it answered: Hello!")
    assert (refused["ok"], refused["code"]) == (False, "key_refused")
    assert refused["message"] == f"Fake does not accept the API key (401): no such key {MASKED}"
    assert unknown["code"] == "model_unknown"
    assert "'fake'" in unknown["message"]


def test_a_run_is_answered_and_its_cost_is_in_the_ledger(modelled: Host, server: ModelServer, model: str) -> None:
    agent = chat_agent(modelled, model)
    result = modelled.ask(agent, "hello")
    assert texts(result) == ["pong"]
    usage = modelled.run(result["run"]["run_id"])["usage"]
    assert usage == {"model_calls": 1, "prompt_tokens": 10, "completion_tokens": 2, "cost_micros": 40}
    events = modelled.items(f"/runs/{result['run']['run_id']}/events")
    called = [event["data"] for event in events if event["type"] == "model.called"]
    assert [call["usage"]["cost_micros"] for call in called] == [40]


def test_usage_of_a_model_is_listed_by_agent_and_day(modelled: Host, server: ModelServer, model: str) -> None:
    agent = chat_agent(modelled, model)
    for _ in range(2):
        server.will(Say("Hello!", usage={"prompt_tokens": 100, "completion_tokens": 10}))
        modelled.ask(agent, "hello")
    server.will(Refuse(400))
    modelled.ask(agent, "a call that the service refuses is no usage")

    used = [row for row in modelled.items("/stats/usage", days=2) if row["agent_id"] == agent]
    names = {(row["model_id"], row["model_name"], row["agent_name"]) for row in used}
    figures = ("calls", "prompt_tokens", "completion_tokens", "cost_micros", "unpriced_calls")

    assert names == {(model, "fake", "tester")}
    assert [sum(row[figure] for row in used) for figure in figures] == [2, 200, 20, 600, 0]


def test_another_key_is_used_when_one_is_refused(modelled: Host, server: ModelServer) -> None:
    model = add_model(modelled, add_provider(modelled, server, api_keys=["sk-first-key", "sk-second-key"]))
    server.will(Refuse(401))
    assert call_from_plugin(modelled, model)["message"]["content"] == "pong"
    assert call_from_plugin(modelled, model)["message"]["content"] == "pong"
    keys = [each.headers["Authorization"] for each in server.requests]
    assert keys == ["Bearer sk-first-key", "Bearer sk-second-key", "Bearer sk-second-key"]


def test_vectors_ranks_and_json_are_returned_to_a_run_over_one_connection(modelled: Host, server: ModelServer) -> None:
    provider_id = add_provider(modelled, server)
    embedding, ranking = (add_model(modelled, provider_id, type=each) for each in ("embedding", "rerank"))
    vectors = {"data": [{"index": 0, "embedding": [1.0, 2.0]}], "usage": {"prompt_tokens": 3}}
    ranks = {"results": [{"index": 1, "relevance_score": 0.5}], "meta": {"tokens": {"input_tokens": 7}}}
    server.will(*(Raw(json.dumps(each).encode(), "application/json") for each in (vectors, ranks)), Say('{"a": 1}'))
    model, known = add_model(modelled, provider_id), set(server.connections)
    agent = modelled.agent(CALLER, resource_policy={"models": [embedding, ranking, model]})
    wanted = {"messages": [{"role": "user", "content": "hi"}], "extra": {"response_format": {"type": "json_object"}}}
    calls = [
        ["invoke_embedding", {"model_id": embedding, "texts": ["a"]}],
        ["invoke_rerank", {"model_id": ranking, "query": "q", "documents": ["a", "b"]}],
        ["invoke_llm", {"model_id": model, **wanted}],
    ]
    result = modelled.ask(agent, json.dumps(calls))
    embedded, ranked, structured = json.loads(texts(result)[0])
    assert (embedded["embeddings"], ranked["results"]) == ([[1.0, 2.0]], [{"index": 1, "score": 0.5}])
    assert structured["message"]["content"] == '{"a": 1}'
    assert server.requests[2].body["response_format"] == {"type": "json_object"}
    usage = {"model_calls": 3, "prompt_tokens": 20, "completion_tokens": 2, "cost_micros": 60}
    assert modelled.run(result["run"]["run_id"])["usage"] == usage
    assert len(server.connections - known) == 1


def test_a_changed_key_is_used_at_once(modelled: Host, server: ModelServer) -> None:
    provider_id = add_provider(modelled, server)
    model = add_model(modelled, provider_id)
    call_from_plugin(modelled, model)
    body = provider_body(server, api_keys=["sk-changed-key"])
    assert modelled.http().put(f"/model-providers/{provider_id}", json=body).status_code == 200
    call_from_plugin(modelled, model)
    assert server.requests[-1].headers["Authorization"] == "Bearer sk-changed-key"


def test_a_failure_reaches_the_plugin_with_its_code(modelled: Host, server: ModelServer, model: str) -> None:
    server.will(Refuse(400, "too many pictures"))
    error = call_from_plugin(modelled, model)["error"]
    assert (error["code"], error["message"]) == (
        "invalid_argument",
        "Fake refused the request (400): too many pictures",
    )


def test_a_referenced_picture_reaches_the_model_as_bytes(modelled: Host, server: ModelServer, model: str) -> None:
    uploaded = modelled.http().post("/files", files={"file": ("a.png", PNG)}).json()
    picture = {"type": "image", "artifact_id": uploaded["artifact_id"]}
    content = [{"type": "text", "text": "what is it?"}, picture]
    call = ["invoke_llm", {"model_id": model, "messages": [{"role": "user", "content": content}]}]
    agent = modelled.agent(CALLER, resource_policy={"models": [model]})
    body = {"agent_id": agent, "input": {"text": json.dumps([call]), "contents": [picture]}}
    answer = modelled.http().post("/events?wait=result", json=body).json()
    assert json.loads(texts(answer)[0])[0]["message"]["content"] == "pong"
    [message] = server.requests[0].body["messages"]
    address = message["content"][1]["image_url"]["url"]
    assert address == f"data:image/png;base64,{base64.b64encode(PNG).decode()}"


def test_a_picture_of_another_key_does_not_reach_the_model(modelled: Host, server: ModelServer, model: str) -> None:
    uploaded = modelled.http().post("/files", files={"file": ("a.png", PNG)}).json()
    content = [{"type": "image", "artifact_id": uploaded["artifact_id"]}]
    error = call_from_plugin(modelled, model, messages=[{"role": "user", "content": content}])["error"]
    assert error["code"] == "not_found"
    assert server.requests == []


async def test_an_answer_is_streamed_completely_into_the_chat(modelled: Host, server: ModelServer, model: str) -> None:
    server.will(Say(" ".join(f"word{at}" for at in range(30)), gap=0.03))
    async with Chat(modelled, chat_agent(modelled, model)) as chat:
        answer = await chat.answer("tell me")
        assert chat.deltas == answer == " ".join(f"word{at}" for at in range(30))
        assert len(chat.of("delta")) > 2
        assert modelled.transcript(chat.conversation_id) == [("user", "tell me"), ("assistant", answer)]


async def test_a_cancelled_run_ends_the_request(modelled: Host, server: ModelServer, model: str) -> None:
    server.will(Say("word " * 2000, gap=0.02))
    async with Chat(modelled, chat_agent(modelled, model), session="cancelled") as chat:
        await chat.say("tell me")
        await chat.until("delta", seconds=30)
        await chat.send(type="cancel")
        ended = await chat.until("run", seconds=30, status="cancelled")
    eventually(lambda: server.abandoned, "the service sees that the request has ended", 30)
    assert modelled.run(ended["run_id"])["status"] == "cancelled"


def test_an_exhausted_budget_refuses_a_run_before_the_model_is_called(
    modelled: Host, server: ModelServer, model: str, budget: Any
) -> None:
    agent = chat_agent(modelled, model)
    made = budget(scope="agent", target=agent, tokens=1000)
    assert made["uses"] == []
    answered = modelled.ask(agent, "hello")
    assert texts(answered) == ["pong"]
    shown = modelled.http().get(f"/budgets/{made['budget_id']}").json()
    assert shown["uses"] == [
        {"subject": agent, "used": {"tokens": 12, "cost_micros": 40}, "left": {"tokens": 988, "cost_micros": None}}
    ]
    body = {"name": "Small", "scope": "agent", "target": agent, "tokens": 20}
    assert modelled.http().put(f"/budgets/{made['budget_id']}", json=body).status_code == 200
    requests = len(server.requests)
    refused = modelled.ask(agent, "again")
    assert len(server.requests) == requests
    assert refused["run"]["status_reason"] == "budget_exceeded"
    assert texts(refused) == ["The limit of what may be used here is reached for now. Please try again later."]
    why = modelled.http().get(f"/events/{refused['event_id']}/why").text
    assert "budget_exceeded" in why


def test_a_budget_of_5000_tokens_is_usable_to_its_end_with_a_model_of_long_answers(
    modelled: Host, server: ModelServer, budget: Any
) -> None:
    """Chinese counts by character, not by byte, and the answer is limited to the rest of the budget."""
    model = add_model(modelled, add_provider(modelled, server), max_output_tokens=8192)
    agent = chat_agent(modelled, model)
    made = budget(scope="agent", target=agent, tokens=5000)
    used = {"prompt_tokens": 150, "completion_tokens": 38, "total_tokens": 188}
    server.will(*[Say("好的", usage=used)] * 20)
    for number in range(20):
        answered = modelled.ask(agent, "请用中文简单介绍一下这座城市的历史。", conversation_id=f"cities {number}")
        assert texts(answered) == ["好的"]
        assert server.requests[-1].body["max_tokens"] <= 5000 - 188 * number
    [use] = modelled.http().get(f"/budgets/{made['budget_id']}").json()["uses"]
    assert use["used"]["tokens"] == 20 * 188


@pytest.mark.parametrize("name", ["max_tokens", "max_completion_tokens", "max_output_tokens"])
def test_a_token_limit_of_the_model_is_lowered_to_the_rest_of_the_budget(
    modelled: Host, server: ModelServer, budget: Any, name: str
) -> None:
    model = add_model(modelled, add_provider(modelled, server), parameters={name: 8192})
    agent = chat_agent(modelled, model)
    budget(scope="agent", target=agent, tokens=5000)
    assert texts(modelled.ask(agent, "hello")) == ["pong"]
    sent = server.requests[-1].body
    limits = {each: sent[each] for each in ("max_tokens", "max_completion_tokens", "max_output_tokens") if each in sent}
    assert list(limits) == ["max_tokens"]
    assert 4000 < limits["max_tokens"] < 5000


def test_a_model_that_ignores_its_limit_is_charged_for_its_real_usage_and_not_called_again(
    modelled: Host, server: ModelServer, model: str, budget: Any
) -> None:
    agent = chat_agent(modelled, model)
    made = budget(scope="agent", target=agent, tokens=1000)
    server.will(Say("word " * 50, usage={"prompt_tokens": 30, "completion_tokens": 4000, "total_tokens": 4030}))
    assert modelled.ask(agent, "hello")["outcome"] == "answered"
    [use] = modelled.http().get(f"/budgets/{made['budget_id']}").json()["uses"]
    assert use["used"]["tokens"] == 4030
    requests = len(server.requests)
    refused = modelled.ask(agent, "again")
    assert len(server.requests) == requests
    assert refused["run"]["status_reason"] == "budget_exceeded"
    assert refused["run"]["usage"].get("model_calls", 0) == 0


OUTAGES = {
    "down": (503, "The model service is not available right now. Please try again later."),
    "key": (401, "The model service refused access: its key or account needs the operator's attention."),
    "limit": (429, "The model service has reached its request limit. Please try again in a few minutes."),
    "unknown": (404, "The model of this agent is not set up correctly. Please tell the operator."),
}


@pytest.mark.parametrize(("status", "sentence"), OUTAGES.values(), ids=OUTAGES)
def test_the_user_gets_the_kind_of_a_model_outage_and_the_operator_the_full_error(
    modelled: Host, server: ModelServer, model: str, status: int, sentence: str
) -> None:
    agent = chat_agent(modelled, model)
    server.will(*[Refuse(status, "organisation 7 of the service", {"Retry-After": "0"})] * 20)
    result = modelled.ask(agent, "hello")
    assert (result["outcome"], texts(result)) == ("failed", [sentence])
    assert "organisation 7 of the service" in result["run"]["error"]
    shown = modelled.transcript(result["conversation_id"])
    assert shown == [("user", "hello"), ("notice", sentence)]
    server.forget()
    assert texts(modelled.ask(agent, "hello again")) == ["pong"]


@pytest.mark.parametrize(
    ("body", "named"),
    [
        ({"scope": "agent"}, "body"),
        ({"scope": "planet", "tokens": 1}, "scope"),
        ({"scope": "agent", "tokens": 0}, "tokens"),
        ({"scope": "workspace", "target": "x", "tokens": 1}, "body"),
        ({"scope": "agent", "tokens": 1, "colour": "red"}, "colour"),
    ],
)
def test_a_budget_that_limits_nothing_is_refused(modelled: Host, body: Json, named: str) -> None:
    answer = modelled.http().post("/budgets", json={"name": "n", **body})
    assert (answer.status_code, named_fields(answer)) == (422, [named])


def test_a_call_interrupted_by_a_crash_is_charged_at_its_worst_case_and_recorded(
    make_host: MakeHost, server: ModelServer
) -> None:
    host = make_host(CALLING_PLUGIN).start()
    model = add_model(host, add_provider(host, server))
    assert host.http().post("/budgets", json={"name": "b", "scope": "workspace", "tokens": 9000}).status_code == 201
    agent = host.agent(CALLER, resource_policy={"models": [model]}, restart_policy="never")
    server.will(Raw(b"{", "application/json", then="stall"))
    call = ["invoke_llm", {"model_id": model, "messages": [{"role": "user", "content": "hello"}]}]
    host.send(agent, json.dumps([call]))
    eventually(lambda: server.requests, "the model is asked", 30)
    run_id = host.active_run(agent)
    eventually(lambda: host.run(run_id)["usage"].get("calling") == [model], "the ledger knows that it is asked")
    host.kill()
    host.start()
    assert host.run(run_id)["usage"] == {"model_calls": 1, "unpriced_calls": 1}
    called = [each["data"] for each in host.items(f"/runs/{run_id}/events") if each["type"] == "model.called"]
    assert called == [{"name": model, "outcome": "cut_off"}]
    [use] = host.items("/budgets")[0]["uses"]
    prompt = 2 + 8  # five letters plus the overhead of a message
    assert use["used"] == {"tokens": prompt + 100, "cost_micros": prompt * 2 + 1000}
