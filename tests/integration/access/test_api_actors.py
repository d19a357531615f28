"""Tests that an API key acts as itself: only the scope `platform` may send events of other actors."""

import json
from collections.abc import Iterator
from typing import Any

import pytest

from tests.support.harness import Host, Json, texts
from tests.support.scripted import CALLER, CALLING_PLUGIN

READ_NOTE = ("state_get", {"scope": "actor", "key": "note"})
SUM = ("call_tool", {"tool_name": "calculator.evaluate", "parameters": {"expression": "6 * 7"}})
ALICE = {"actor": {"actor_id": "alice"}}


@pytest.fixture(scope="module")
def host(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Host]:
    host = Host(tmp_path_factory.mktemp("api actors"))
    host.install(CALLING_PLUGIN)
    host.start()
    yield host
    host.close()


def key_id(host: Host, name: str) -> str:
    return next(str(key["key_id"]) for key in host.items("/api-keys") if key["name"] == name)


def call_outcomes(host: Host, agent: str, scope: str, *steps: Any, **event: Any) -> list[Any]:
    return list(json.loads(texts(host.ask(agent, json.dumps(steps), key=host.key(scope), **event))[0]))


def is_tool_granted(host: Host, when: Json, scope: str, **event: Any) -> bool:
    rule = {"when": when, "allow": {"tools": ["calculator.evaluate"]}}
    (outcome,) = call_outcomes(host, host.agent(CALLER, resource_policy={"rules": [rule]}), scope, SUM, **event)
    return "error" not in outcome


@pytest.mark.parametrize(
    ("scope", "gets"), [("chat", False), ("operator", False), ("admin", False), ("platform", True)]
)
@pytest.mark.parametrize(
    ("when", "event"),
    [
        ({"users": ["alice"]}, ALICE),
        ({"roles": ["owner"]}, {"actor": {"actor_id": "alice", "metadata": {"role": "owner"}}}),
    ],
)
def test_only_a_platform_key_gets_the_tools_of_an_actor_or_role_that_it_names(
    host: Host, when: Json, event: Json, scope: str, gets: bool
) -> None:
    assert is_tool_granted(host, when, scope, **event) == gets


def test_a_conversation_named_as_a_group_gives_no_tools_of_that_group(host: Host) -> None:
    event = {"conversation_id": "group:5", "data": {"chat_type": "group", "chat_id": "5"}}
    assert not is_tool_granted(host, {"groups": ["group:5"]}, "chat", **event)


def test_a_rule_may_name_an_actor_of_a_key(host: Host) -> None:
    host.key("chat")
    users = [f"key:{key_id(host, 'chat')}:alice"]
    assert is_tool_granted(host, {"users": users}, "chat", **ALICE)
    assert not is_tool_granted(host, {"users": users}, "operator", **ALICE)


def test_a_key_does_not_reach_the_state_of_an_actor_that_it_names(host: Host) -> None:
    agent = host.agent(CALLER)
    written = ("state_set", {"scope": "actor", "key": "note", "value": "private"})
    call_outcomes(host, agent, "platform", written, **ALICE)

    assert call_outcomes(host, agent, "chat", READ_NOTE, **ALICE) == [{"found": False, "value": None}]
    assert call_outcomes(host, agent, "platform", READ_NOTE, **ALICE) == [{"found": True, "value": "private"}]


def test_a_key_does_not_reach_the_state_of_another_callers_subject(host: Host) -> None:
    agent, ticket = host.agent(CALLER), {"subject": {"subject_type": "membership", "subject_id": "alice"}}
    written = ("state_set", {"scope": "subject", "key": "note", "value": "private"})
    read = ("state_get", {"scope": "subject", "key": "note"})
    call_outcomes(host, agent, "platform", written, **ticket)

    assert call_outcomes(host, agent, "chat", read, **ticket) == [{"found": False, "value": None}]
    assert call_outcomes(host, agent, "platform", read, **ticket) == [{"found": True, "value": "private"}]


def test_a_key_uses_the_budget_of_its_own_actor(host: Host) -> None:
    provider = host.http().post("/model-providers", json={"name": "demo", "kind": "demo"}).json()["provider_id"]
    model = host.http().post("/models", json={"provider_id": provider, "name": "demo"}).json()["model_id"]
    body = {"name": "each", "scope": "sender", "tokens": 100_000}
    budget = host.http().post("/budgets", json=body).json()["budget_id"]
    call = ("invoke_llm", {"model_id": model, "messages": [{"role": "user", "content": "hello"}]})

    call_outcomes(host, host.agent(CALLER, resource_policy={"models": [model]}), "chat", call, **ALICE)

    uses = host.http().get(f"/budgets/{budget}").json()["uses"]
    assert [use["subject"] for use in uses] == [f"user:key:{key_id(host, 'chat')}:alice"]
