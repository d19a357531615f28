"""Two people change the same thing: the second one is told instead of overwriting what they never saw."""

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass

import httpx
import pytest

from .harness import ECHO, Host, Json, error_code

BOT = {"name": "desk", "adapter": "onebot11", "adapter_config": {"mode": "reverse", "port": 1}, "enabled": False}
PROVIDER = {"name": "house", "kind": "openai-compatible", "base_url": "http://127.0.0.1:9/v1", "api_keys": ["secret"]}


@dataclass(frozen=True)
class Thing:
    path: str
    body: Json | list[Json]
    other: Json | list[Json]
    """As somebody else wants it."""
    changed: list[str]


def made(host: Host, path: str, body: Json, changed: Json, part: str = "name") -> Thing:
    answer = host.http().post(path, json=body)
    assert answer.status_code == 201, answer.text
    own = next(value for name, value in answer.json().items() if name.endswith("_id"))
    thing = Thing(f"{path}/{own}", body, body | changed, [part])
    assert answer.headers["etag"] == host.http().get(thing.path).headers["etag"]
    return thing


def an_agent(host: Host) -> Thing:
    config = {"runner_config": {"delay_ms": 9}}
    return made(host, "/agents", {"name": "desk", "runner_id": ECHO}, config, "runner_config")


def a_bot(host: Host) -> Thing:
    return made(host, "/bots", BOT, {"adapter_config": {"mode": "reverse", "port": 2}}, "adapter_config")


def routes(host: Host) -> Thing:
    nobody = {"event_type": "message.received", "handler_type": "drop", "handler_config": {}}
    bot = made(host, "/bots", BOT, {})
    return Thing(f"{bot.path}/routes", [nobody], [nobody, nobody], ["items"])


def a_provider(host: Host) -> Thing:
    return made(host, "/model-providers", PROVIDER, {"api_keys": ["another-secret"]}, "api_keys")


def a_model(host: Host) -> Thing:
    provider_id = made(host, "/model-providers", PROVIDER, {}).path.rpartition("/")[2]
    body = {"provider_id": provider_id, "name": "large"}
    return made(host, "/models", body, {"context_window": 9000}, "context_window")


def a_budget(host: Host) -> Thing:
    return made(host, "/budgets", {"name": "small", "scope": "workspace", "tokens": 9}, {"tokens": 8}, "tokens")


def a_schedule(host: Host) -> Thing:
    body = {"name": "rare", "interval_seconds": 86_400, "agent_id": host.agent(event_types=["schedule.triggered"])}
    return made(host, "/schedules", body, {"text": "Anything new?"}, "text")


def a_webhook(host: Host) -> Thing:
    secret = {"secret": "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw"}
    body = {"name": "door", "agent_id": host.agent(event_types=["api.invoked"])}
    return made(host, "/webhooks", body, secret, "secret")


def an_mcp_server(host: Host) -> Thing:
    for each in host.items("/mcp-servers"):  # there is one of each name
        assert host.http().delete(f"/mcp-servers/{each['server_id']}").status_code == 204
    body = {"name": "shelves", "transport": "http", "url": "http://127.0.0.1:9/mcp", "enabled": False}
    return made(host, "/mcp-servers", body, {"url": "http://127.0.0.1:9/other"}, "url")


def the_settings(host: Host) -> Thing:
    body, other = ({"retention": {"audit_days": days}} for days in (400, 500))
    return Thing("/settings", body, other, ["retention.audit_days"])


THINGS = [
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


def put(host: Host, thing: Thing, body: Json | list[Json], tag: str | None) -> httpx.Response:
    return host.http().put(thing.path, json=body, headers={"If-Match": tag} if tag else {})


@pytest.mark.parametrize("make", THINGS)
def test_a_change_of_what_was_changed_meanwhile_is_refused_and_says_what_it_was(
    host: Host, make: Callable[[Host], Thing]
) -> None:
    thing = make(host)
    seen = put(host, thing, thing.body, None).headers["etag"]
    assert seen == host.http().get(thing.path).headers["etag"]

    theirs = put(host, thing, thing.other, seen)
    assert theirs.status_code == 200, theirs.text
    ours = put(host, thing, thing.body, seen)
    assert (ours.status_code, error_code(ours)) == (412, "changed_meanwhile")
    assert ours.json()["error"]["details"] == {"changed": thing.changed}
    now = host.http().get(thing.path)
    assert now.headers["etag"] == theirs.headers["etag"] != seen, "nothing of the refused one is done"
    assert put(host, thing, thing.body, now.headers["etag"]).status_code == 200


@pytest.mark.parametrize("make", [each for each in THINGS if each not in (routes, the_settings)])
def test_what_was_changed_meanwhile_is_not_deleted_unseen(host: Host, make: Callable[[Host], Thing]) -> None:
    thing = make(host)
    seen = host.http().get(thing.path).headers["etag"]
    now = put(host, thing, thing.other, seen).headers["etag"]

    refused = host.http().delete(thing.path, headers={"If-Match": seen})
    assert (refused.status_code, error_code(refused)) == (412, "changed_meanwhile")
    assert refused.json()["error"]["details"] == {"changed": thing.changed}
    assert host.http().get(thing.path).headers["etag"] == now
    assert host.http().delete(thing.path, headers={"If-Match": now}).status_code == 204
    assert host.http().get(thing.path).status_code == 404


def test_of_many_who_delete_the_same_at_once_one_does(host: Host) -> None:
    thing = an_agent(host)

    with ThreadPoolExecutor(8) as people:
        answers = sorted(people.map(lambda _: host.http().delete(thing.path).status_code, range(8)))
    assert answers == [204] + [404] * 7


def test_without_if_match_the_last_one_counts(host: Host) -> None:
    thing = an_agent(host)

    assert put(host, thing, thing.other, None).status_code == 200
    assert put(host, thing, thing.body, None).status_code == 200


def test_of_many_who_change_the_same_version_at_once_one_does(host: Host) -> None:
    thing = an_agent(host)
    seen = host.http().get(thing.path).headers["etag"]

    def change(number: int) -> int:
        return put(host, thing, {"name": f"by {number}", "runner_id": ECHO}, seen).status_code

    with ThreadPoolExecutor(8) as people:
        answers = sorted(people.map(change, range(8)))
    assert answers == [200] + [412] * 7
