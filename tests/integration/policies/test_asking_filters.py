"""Tests filters that ask others through the real program: a moderation service over HTTP, and a plugin process."""

import json
from collections.abc import Iterator
from typing import Any

import pytest

from parlour.testing.model_server import ModelServer, Raw, Refuse
from tests.integration.models.test_models import add_model, add_provider
from tests.support.harness import ECHO, ECHO_PLUGIN, ROOT, Host, Json, named_fields, texts

ASKED = ROOT / "tests" / "fixtures" / "plugins" / "asked.py"


@pytest.fixture(scope="module")
def service() -> Iterator[ModelServer]:
    with ModelServer() as service:
        yield service


@pytest.fixture(scope="module")
def filtering(tmp_path_factory: pytest.TempPathFactory, service: ModelServer) -> Iterator[Host]:
    host = Host(tmp_path_factory.mktemp("filtering"))
    host.install(ECHO_PLUGIN)
    host.install(ASKED)
    yield host.start()
    host.close()


def add_moderator(host: Host, service: ModelServer) -> str:
    return add_model(host, add_provider(host, service), name="omni-moderation", type="moderation")


def response(**fields: Any) -> Raw:
    return Raw(json.dumps(fields).encode(), content_type="application/json")


def verdict(flagged: bool) -> Raw:
    result = {"flagged": flagged, "categories": {"hate": flagged}, "category_scores": {"hate": 0.87}}
    return response(id="m", results=[result])


def steps(host: Host, event_id: str) -> str:
    return " ".join(step["text"] for step in host.http().get(f"/events/{event_id}/why").json()["steps"])


def test_moderation_service_decides_and_its_failure_lets_messages_pass(filtering: Host, service: ModelServer) -> None:
    model_id = add_moderator(filtering, service)
    asks = {"use": "moderation", "config": {"model_id": model_id}}
    agent = filtering.agent(ECHO, message_policy={"filters": {"input": [{**asks, "tell": "Please be kind."}]}})
    budget = {"name": "All", "scope": "workspace", "tokens": 100_000}
    budget_id = filtering.http().post("/budgets", json=budget).json()["budget_id"]

    service.will(verdict(True), verdict(False), Refuse(400, "no such model"))
    refused = filtering.ask(agent, "a hateful text")
    assert (refused["outcome"], texts(refused)) == ("refused", ["Please be kind."])
    assert "The input filter 1 (moderation) found: hate 0.87." in steps(filtering, refused["event_id"])
    assert service.requests[-1].path == "/v1/moderations"
    assert service.requests[-1].body == {"model": "omni-moderation", "input": ["A HATEFUL TEXT"]}

    answered = filtering.ask(agent, "a kind text")
    assert texts(answered) == ["A KIND TEXT"]
    events = filtering.items(f"/runs/{answered['run']['run_id']}/events")
    calls = [each for each in events if each["type"] == "model.called"]
    assert [(each["data"]["model"], each["data"]["filter"]) for each in calls] == [("omni-moderation", "input")]
    uses = filtering.http().get(f"/budgets/{budget_id}").json()["uses"]
    assert uses[0]["used"]["tokens"] > 0

    unknown = filtering.ask(agent, "another text")
    assert texts(unknown) == ["ANOTHER TEXT"]
    assert "gave no verdict, so the text passed" in steps(filtering, unknown["event_id"])


def test_services_that_only_moderate_are_asked_in_their_own_formats(filtering: Host, service: ModelServer) -> None:
    def ask_with(kind: str, path: str, key: str) -> tuple[Json, str]:
        fields = {"kind": kind, "base_url": f"{service.address}{path}", "api_keys": [key]}
        provider_id = add_provider(filtering, service, **fields)
        asks = {"use": "moderation", "config": {"model_id": add_model(filtering, provider_id, type="moderation")}}
        agent = filtering.agent(ECHO, message_policy={"filters": {"input": [asks]}})
        asked = filtering.ask(agent, "a hateful text")
        return asked, steps(filtering, asked["event_id"])

    found = {"type": 12, "subType": 5, "conclusionType": 2, "hits": [{"probability": 0.93}]}
    service.will(response(access_token="24.t", expires_in=2_592_000), response(conclusionType=2, data=[found]))
    refused, why = ask_with("baidu-censor", "", "an-api-key:a-secret-key")
    assert (refused["outcome"], service.requests[-1].path.partition("?")[2]) == ("refused", "access_token=24.t")
    assert "The input filter 1 (moderation) found: abuse 0.93." in why

    service.will(response(verdict="block", categories={"hate": 0.9}))
    refused, why = ask_with("moderation-webhook", "/check", "a-token")
    assert (refused["outcome"], service.requests[-1].path) == ("refused", "/check")
    assert "The input filter 1 (moderation) found: hate 0.90." in why


def test_plugin_is_asked_as_filter_and_the_dry_run_names_it(filtering: Host) -> None:
    asks = {"use": "plugin", "config": {"plugin_id": "test/asked"}}
    agent = filtering.agent(ECHO, message_policy={"filters": {"output": [{**asks, "on": "replace", "text": "No."}]}})
    answered = filtering.ask(agent, "hello")
    assert texts(answered) == ["No."]
    assert "The output filter 1 (plugin) found: HELLO." in steps(filtering, answered["event_id"])
    assert texts(filtering.ask(agent, "quiet")) == ["QUIET"]

    created = filtering.http().post("/pipelines", json={"name": "desk", "agent_id": agent}).json()
    body = {"event": {"input": {"text": "hello"}}, "reply": "Hi!"}
    tried: Json = filtering.http().post(f"/pipelines/{created['pipeline_id']}/dry-run", json=body).json()
    [step] = [step for step in tried["steps"] if step["code"] == "asks_filter"]
    assert step["reason"] == "the filter asks test/asked, at most 3 s; without a verdict the text is blocked"


def test_model_of_another_type_is_refused_as_moderator(filtering: Host, service: ModelServer) -> None:
    policy = {"filters": {"input": [{"use": "moderation", "config": {"model_id": "none"}}]}}
    answer = filtering.http().post("/agents", json={"name": "a", "runner_id": ECHO, "message_policy": policy})
    assert named_fields(answer) == ["message_policy.filters.input.0.config.model_id"]
    model_id = add_moderator(filtering, service)
    resources = filtering.http().get(f"/models/{model_id}").json()
    assert resources["type"] == "moderation"
