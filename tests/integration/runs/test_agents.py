"""Tests agents over HTTP: created, read, listed, replaced, deleted, and refused."""

from typing import Any

import httpx
import pytest

from tests.support.harness import ECHO, PUPPET, Host, error_code, named_fields

FIELDS = {
    "agent_id",
    "name",
    "description",
    "runner_id",
    "runner_config",
    "resource_policy",
    "state_policy",
    "delivery_policy",
    "approval_policy",
    "tool_policy",
    "on_workers",
    "worker_labels",
    "message_policy",
    "box_policy",
    "memory_policy",
    "restart_policy",
    "timeout_seconds",
    "stale_after",
    "conversation_ttl",
    "journal_calls",
    "event_types",
    "published",
    "enabled",
}


def test_creating_answers_with_the_whole_agent_prefilled_from_the_form(host: Host) -> None:
    answer = host.http().post("/agents", json={"name": "plain", "runner_id": ECHO})

    assert answer.status_code == 201
    agent = answer.json()
    assert set(agent) == FIELDS
    assert agent["runner_config"] == {"delay_ms": 0, "hold_ms": 0, "remember": False}
    assert (agent["timeout_seconds"], agent["restart_policy"], agent["enabled"]) == (300, "auto", True)
    assert agent["event_types"] == ["message.received"]
    assert host.http().get(f"/agents/{agent['agent_id']}").json() == agent


def test_given_values_win_over_the_forms_defaults(host: Host) -> None:
    agent_id = host.agent(config={"delay_ms": 7})

    config = host.http().get(f"/agents/{agent_id}").json()["runner_config"]
    assert config == {"delay_ms": 7, "hold_ms": 0, "remember": False}


def test_replacing_changes_everything_but_the_id(host: Host) -> None:
    agent_id = host.agent(config={"delay_ms": 7}, timeout_seconds=9)

    answer = host.http().put(f"/agents/{agent_id}", json={"name": "other", "runner_id": PUPPET})

    assert answer.status_code == 200
    replaced = answer.json()
    assert (replaced["agent_id"], replaced["name"], replaced["runner_id"]) == (agent_id, "other", PUPPET)
    assert (replaced["runner_config"], replaced["timeout_seconds"]) == ({}, 300)
    assert host.http().get(f"/agents/{agent_id}").json() == replaced


def test_a_deleted_agent_is_gone(host: Host) -> None:
    agent_id = host.agent()

    assert host.http().delete(f"/agents/{agent_id}").status_code == 204

    assert host.http().get(f"/agents/{agent_id}").status_code == 404
    assert agent_id not in [each["agent_id"] for each in host.items("/agents")]


@pytest.mark.parametrize("method", ["GET", "PUT", "DELETE"])
def test_an_unknown_agent_is_not_found(host: Host, method: str) -> None:
    body = {"name": "n", "runner_id": ECHO} if method == "PUT" else None

    answer = host.http().request(method, "/agents/nobody", json=body)

    assert (answer.status_code, error_code(answer)) == (404, "not_found")
    assert "nobody" in answer.json()["error"]["message"]


@pytest.mark.parametrize(
    ("changes", "field"),
    [
        ({"colour": "red"}, "colour"),
        ({"agent_id": "mine"}, "agent_id"),
        ({"name": ""}, "name"),
        ({"name": None}, "name"),
        ({"name": "n" * 201}, "name"),
        ({"runner_id": 7}, "runner_id"),
        ({"runner_id": "plugin:no/such/runner"}, "runner_id"),
        ({"timeout_seconds": -1}, "timeout_seconds"),
        ({"timeout_seconds": "soon"}, "timeout_seconds"),
        ({"restart_policy": "sometimes"}, "restart_policy"),
        ({"event_types": []}, "event_types"),
        ({"event_types": ["message.received", "when it rains"]}, "event_types.1"),
        ({"resource_policy": {"tools": "all"}}, "resource_policy.tools"),
        ({"approval_policy": {"message.*": "perhaps"}}, "approval_policy.message.*"),
        (
            {"approval_policy": {"member.*": {"decision": "ask", "who": {"users": "8"}}}},
            "approval_policy.member.*.who.users",
        ),
        ({"delivery_policy": {"max_message_size": 1}}, "delivery_policy.max_message_size"),
        ({"delivery_policy": {"max_message_size": -1}}, "delivery_policy.max_message_size"),
        ({"state_policy": {"scopes": ["galaxy"]}}, "state_policy.scopes.0"),
        ({"state_policy": {"enabeld": True}}, "state_policy.enabeld"),
        ({"runner_config": []}, "runner_config"),
        ({"runner_config": {"delay_ms": "fast"}}, "runner_config.delay_ms"),
        ({"runner_config": {"delay_ms": True}}, "runner_config.delay_ms"),
        ({"runner_config": {"remember": 1}}, "runner_config.remember"),
        ({"runner_config": {"delya_ms": 1}}, "runner_config.delya_ms"),
    ],
)
@pytest.mark.parametrize("method", ["POST", "PUT"])
def test_a_wrong_agent_is_refused_with_the_field_and_nothing_changes(
    host: Host, method: str, changes: dict[str, Any], field: str
) -> None:
    path = "/agents" if method == "POST" else f"/agents/{host_agent(host)}"
    before = host.items("/agents")

    answer = host.http().request(method, path, json={"name": "n", "runner_id": ECHO, **changes})

    assert answer.status_code == 422
    assert named_fields(answer) == [field]
    assert host.items("/agents") == before


def test_a_too_small_message_size_is_refused_with_the_smallest_allowed_one(host: Host) -> None:
    def made(size: int) -> httpx.Response:
        body = {"name": "n", "runner_id": ECHO, "delivery_policy": {"max_message_size": size}}
        return host.http().post("/agents", json=body)

    assert {size: made(size).status_code for size in (1, 20, 99, 0, 100)} == {
        1: 422,
        20: 422,
        99: 422,
        0: 201,
        100: 201,
    }
    error = made(99).json()["error"]["message"]
    assert error.startswith("delivery_policy.max_message_size: ")
    assert "at least 100" in error


@pytest.mark.parametrize(
    ("kind", "body", "sentence"),
    [
        ("application/x-www-form-urlencoded", b'{"name": "n"}', "Content-Type: application/json"),
        ("application/json", b"", "Content-Type: application/json"),
        ("application/json", b'{"name": ', "this is not JSON: Expecting value at character"),
        ("application/json", b'{"name": "\xff"}', "no UTF-8"),
        ("application/json", b"[" * 100_000, "nested too deep"),
        ("application/json", b"[]", "should be an object, not a list"),
    ],
)
def test_a_body_that_is_not_json_is_refused_with_the_accepted_form(
    host: Host, kind: str, body: bytes, sentence: str
) -> None:
    answer = host.http().post("/agents", content=body, headers={"Content-Type": kind})

    assert (answer.status_code, error_code(answer)) in [(422, "invalid_argument"), (400, "invalid_argument")]
    assert sentence in answer.json()["error"]["message"]


def test_a_request_without_a_key_is_answered_with_how_to_send_one(host: Host) -> None:
    answer = httpx.get(f"{host.address}/api/v1/agents", timeout=30)

    assert (answer.status_code, answer.headers["www-authenticate"]) == (401, "Bearer")
    assert "in the header Authorization, after the word Bearer" in answer.json()["error"]["message"]


def test_an_unknown_path_or_method_is_answered_with_the_address_of_the_document(host: Host) -> None:
    for answer in (host.http().patch("/agents"), host.http().get("/nonesuch")):
        assert answer.status_code in (404, 405)
        assert "/api/v1/openapi.json lists" in answer.json()["error"]["message"]


@pytest.mark.parametrize("missing", ["name", "runner_id"])
def test_name_and_runner_are_required(host: Host, missing: str) -> None:
    body = {"name": "n", "runner_id": ECHO}
    del body[missing]

    assert named_fields(host.http().post("/agents", json=body)) == [missing]


@pytest.mark.parametrize(
    ("fields", "named"),
    [
        ({"runner_config": {"delay_ms": -1}}, "runner_config.delay_ms"),
        ({"runner_config": {"hold_ms": 10**9}}, "runner_config.hold_ms"),
        ({"timeout_seconds": -1}, "timeout_seconds"),
        ({"timeout_seconds": 86_401}, "timeout_seconds"),
        ({"stale_after": 10**12}, "stale_after"),
        ({"conversation_ttl": 10**12}, "conversation_ttl"),
    ],
)
def test_numbers_out_of_range_are_refused_by_name(host: Host, fields: dict[str, Any], named: str) -> None:
    answer = host.http().post("/agents", json={"name": "n", "runner_id": ECHO, **fields})

    assert (answer.status_code, named_fields(answer)) == (422, [named])


def host_agent(host: Host) -> str:
    """Returns the id of any existing agent, or of a new one."""
    found = host.items("/agents")
    return found[0]["agent_id"] if found else host.agent()
