"""Tests concurrent changes of the same resource: the second one is refused instead of overwriting an unseen change."""

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass

import httpx
import pytest

from tests.support.harness import ECHO, Host, Json, error_code

BOT = {"name": "desk", "adapter": "onebot11", "adapter_config": {"mode": "reverse", "port": 1}, "enabled": False}
PROVIDER = {"name": "house", "kind": "openai-compatible", "base_url": "http://127.0.0.1:9/v1", "api_keys": ["secret"]}


@dataclass(frozen=True)
class Resource:
    path: str
    body: Json | list[Json]
    other: Json | list[Json]
    """The body of another person's change."""
    changed: list[str]


def create(host: Host, path: str, body: Json, changed: Json, part: str = "name") -> Resource:
    answer = host.http().post(path, json=body)
    assert answer.status_code == 201, answer.text
    own = next(value for name, value in answer.json().items() if name.endswith("_id"))
    resource = Resource(f"{path}/{own}", body, body | changed, [part])
    assert answer.headers["etag"] == host.http().get(resource.path).headers["etag"]
    return resource


def an_agent(host: Host) -> Resource:
    config = {"runner_config": {"delay_ms": 9}}
    return create(host, "/agents", {"name": "desk", "runner_id": ECHO}, config, "runner_config")


def a_bot(host: Host) -> Resource:
    return create(host, "/bots", BOT, {"adapter_config": {"mode": "reverse", "port": 2}}, "adapter_config")


def routes(host: Host) -> Resource:
    drop_route = {"event_type": "message.received", "handler_type": "drop", "handler_config": {}}
    bot = create(host, "/bots", BOT, {})
    return Resource(f"{bot.path}/routes", [drop_route], [drop_route, drop_route], ["items"])


def a_provider(host: Host) -> Resource:
    return create(host, "/model-providers", PROVIDER, {"api_keys": ["another-secret"]}, "api_keys")


def a_model(host: Host) -> Resource:
    provider_id = create(host, "/model-providers", PROVIDER, {}).path.rpartition("/")[2]
    body = {"provider_id": provider_id, "name": "large"}
    return create(host, "/models", body, {"context_window": 9000}, "context_window")


def a_budget(host: Host) -> Resource:
    body = {"name": "large", "scope": "workspace", "tokens": 9_000_000}
    return create(host, "/budgets", body, {"tokens": 8_000_000}, "tokens")


def a_schedule(host: Host) -> Resource:
    body = {"name": "rare", "interval_seconds": 86_400, "agent_id": host.agent(event_types=["schedule.triggered"])}
    return create(host, "/schedules", body, {"text": "Anything new?"}, "text")


def a_webhook(host: Host) -> Resource:
    secret = {"secret": "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw"}
    body = {"name": "door", "agent_id": host.agent(event_types=["api.invoked"])}
    return create(host, "/webhooks", body, secret, "secret")


def an_mcp_server(host: Host) -> Resource:
    for each in host.items("/mcp-servers"):  # server names are unique
        assert host.http().delete(f"/mcp-servers/{each['server_id']}").status_code == 204
    body = {"name": "shelves", "transport": "http", "url": "http://127.0.0.1:9/mcp", "enabled": False}
    return create(host, "/mcp-servers", body, {"url": "http://127.0.0.1:9/other"}, "url")


def the_settings(host: Host) -> Resource:
    body, other = ({"retention": {"audit_days": days}} for days in (400, 500))
    return Resource("/settings", body, other, ["retention.audit_days"])


RESOURCES = [
    an_agent,
    a_bot,
    routes,
    a_provider,
    a_model,
    a_budget,
    a_schedule,
    a_webhook,
    an_mcp_server,
    the_settings,
]


def put(host: Host, resource: Resource, body: Json | list[Json], tag: str | None) -> httpx.Response:
    return host.http().put(resource.path, json=body, headers={"If-Match": tag} if tag else {})


@pytest.mark.parametrize("make", RESOURCES)
def test_a_change_based_on_an_old_version_is_refused_and_names_the_changed_fields(
    host: Host, make: Callable[[Host], Resource]
) -> None:
    resource = make(host)
    seen = put(host, resource, resource.body, None).headers["etag"]
    assert seen == host.http().get(resource.path).headers["etag"]

    theirs = put(host, resource, resource.other, seen)
    assert theirs.status_code == 200, theirs.text
    ours = put(host, resource, resource.body, seen)
    assert (ours.status_code, error_code(ours)) == (412, "changed_meanwhile")
    assert ours.json()["error"]["details"] == {"changed": resource.changed}
    now = host.http().get(resource.path)
    assert now.headers["etag"] == theirs.headers["etag"] != seen, "nothing of the refused one is done"
    assert put(host, resource, resource.body, now.headers["etag"]).status_code == 200


@pytest.mark.parametrize("make", [each for each in RESOURCES if each not in (routes, the_settings)])
def test_a_deletion_based_on_an_old_version_is_refused(host: Host, make: Callable[[Host], Resource]) -> None:
    resource = make(host)
    seen = host.http().get(resource.path).headers["etag"]
    now = put(host, resource, resource.other, seen).headers["etag"]

    refused = host.http().delete(resource.path, headers={"If-Match": seen})
    assert (refused.status_code, error_code(refused)) == (412, "changed_meanwhile")
    assert refused.json()["error"]["details"] == {"changed": resource.changed}
    assert host.http().get(resource.path).headers["etag"] == now
    assert host.http().delete(resource.path, headers={"If-Match": now}).status_code == 204
    assert host.http().get(resource.path).status_code == 404


def test_exactly_one_of_many_concurrent_deletions_succeeds(host: Host) -> None:
    resource = an_agent(host)

    with ThreadPoolExecutor(8) as people:
        answers = sorted(people.map(lambda _: host.http().delete(resource.path).status_code, range(8)))
    assert answers == [204] + [404] * 7


def test_the_last_change_wins_without_if_match(host: Host) -> None:
    resource = an_agent(host)

    assert put(host, resource, resource.other, None).status_code == 200
    assert put(host, resource, resource.body, None).status_code == 200


def test_exactly_one_of_many_concurrent_changes_succeeds(host: Host) -> None:
    resource = an_agent(host)
    seen = host.http().get(resource.path).headers["etag"]

    def change(number: int) -> int:
        return put(host, resource, {"name": f"by {number}", "runner_id": ECHO}, seen).status_code

    with ThreadPoolExecutor(8) as people:
        answers = sorted(people.map(change, range(8)))
    assert answers == [200] + [412] * 7
