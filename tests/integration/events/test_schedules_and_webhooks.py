"""Tests events from schedules and inbound webhooks: each becomes exactly one event."""

import hashlib
import hmac
import json
import time

import httpx
import pytest

from parlour.core.model.webhook_signing import signature_headers as signed
from tests.integration.conftest import MakeHost
from tests.support.harness import ECHO, ECHO_PLUGIN, NO_TLS, Host, Json, error_code, eventually
from tests.support.onebot import Peer, free_port

ALL = {"event_types": ["*"]}


def events_of(host: Host, source: str) -> list[Json]:
    return [event for event in host.items("/events") if event["source"] == source]


def test_a_schedule_fires_exactly_once_although_its_host_is_killed_when_it_is_due(make_host: MakeHost) -> None:
    host = make_host(ECHO_PLUGIN).start()
    agent = host.agent(**ALL)
    body = {"name": "soon", "interval_seconds": 10, "agent_id": agent, "text": "it is time", "missed": "once"}
    made = host.http().post("/schedules", json=body).json()
    due = [made["due_at"]]

    while time.time() * 1000 < due[0]:
        time.sleep(0.005)  # this test concerns the moment at which the schedule is due
    host.kill()
    host.start()
    eventually(lambda: events_of(host, "schedule"), "the event came", 30)

    moments = [event["data"]["due_at"] for event in events_of(host, "schedule")]
    assert moments.count(due[0]) == 1
    run = eventually(lambda: [run for run in host.items("/runs") if run["status"] == "completed"], "it is answered")
    assert run[0]["agent_id"] == agent


@pytest.mark.parametrize(
    ("change", "field"),
    [
        ({"cron": "61 * * * *", "interval_seconds": 0}, "cron"),
        ({"timezone": "Mars/Olympus"}, "timezone"),
        ({"agent_id": "none"}, "agent_id"),
        ({"agent_id": ""}, "agent_id"),
        ({"agent_id": "", "bot_id": "none"}, "bot_id"),
    ],
)
def test_an_invalid_schedule_is_refused_by_field(host: Host, change: Json, field: str) -> None:
    body = {"name": "never", "interval_seconds": 3600, "agent_id": host.agent(**ALL), **change}

    answer = host.http().post("/schedules", json=body)

    assert answer.status_code == 422, answer.text
    assert answer.json()["error"]["details"]["fields"][0]["field"] == field


def test_an_agent_that_accepts_only_messages_is_refused_as_target_of_a_schedule(host: Host) -> None:
    body = {"name": "never", "interval_seconds": 3600, "agent_id": host.agent()}

    answer = host.http().post("/schedules", json=body)

    assert "add it to its event_types" in answer.json()["error"]["message"]


def test_schedules_are_listed_changed_and_deleted(host: Host) -> None:
    http = host.http()
    body = {"name": "daily", "cron": "0 9 * * *", "timezone": "Asia/Shanghai", "agent_id": host.agent(**ALL)}
    made = http.post("/schedules", json=body).json()
    path = f"/schedules/{made['schedule_id']}"

    changed = http.put(path, json={**body, "enabled": False}).json()

    assert made["due_at"] > time.time() * 1000
    assert (changed["enabled"], changed["due_at"]) == (False, None)
    assert http.get(path).json() == changed
    assert http.delete(path).status_code == 204
    assert http.get(path).status_code == 404


@pytest.fixture(scope="module")
def webhook(host: Host) -> Json:
    body = {"name": "alarm", "agent_id": host.agent(ECHO, **ALL)}
    return dict(host.http().post("/webhooks", json=body).json())


def call(host: Host, webhook: Json, headers: dict[str, str], body: bytes) -> httpx.Response:
    return httpx.post(f"{host.address}{webhook['path']}", content=body, headers=headers, timeout=30, verify=NO_TLS)


def test_a_signed_call_is_an_event_and_its_repetition_is_not(host: Host, webhook: Json) -> None:
    body = json.dumps({"text": "the cellar is wet", "level": 3}).encode()
    headers = signed(webhook["secret"], "call-1", int(time.time()), body)

    first, second = call(host, webhook, headers, body), call(host, webhook, headers, body)

    assert (first.status_code, first.json()["duplicate"]) == (202, False)
    assert (second.status_code, second.json()["duplicate"]) == (202, True)
    [event] = [each for each in host.items("/events") if each["event_id"] == first.json()["event_id"]]
    assert event["data"]["content"] == {"text": "the cellar is wet", "level": 3}
    assert (event["actor_type"], event["actor_name"]) == ("webhook", "alarm")


def test_the_answer_to_a_webhook_call_goes_to_the_configured_chat(host: Host) -> None:
    port = free_port()
    adapter = {"adapter": "onebot11", "adapter_config": {"mode": "reverse", "port": port}}
    bot_id = host.http().post("/bots", json={"name": "qq", **adapter}).json()["bot_id"]
    fallback = {"bot_id": bot_id, "chat_type": "group", "chat_id": "5"}
    agent_id = host.agent(ECHO, "alarmed", delivery_policy={"fallback_target": fallback}, **ALL)
    webhook = host.http().post("/webhooks", json={"name": "chat alarm", "agent_id": agent_id}).json()
    peer = Peer(port)
    body = b'{"text": "the cellar is wet"}'
    assert call(host, webhook, signed(webhook["secret"], "call-9", int(time.time()), body), body).status_code == 202
    assert peer.next_send() == ("group 5", "the cellar is wet")
    peer.close()
    assert host.http().delete(f"/bots/{bot_id}").status_code == 204


def test_a_call_that_is_not_genuine_is_refused(host: Host, webhook: Json) -> None:
    body, now = b"{}", int(time.time())
    good = signed(webhook["secret"], "call-2", now, body)
    tries = [
        call(host, webhook, {}, body),
        call(host, webhook, {**good, "webhook-signature": "v1,AAAA"}, body),
        call(host, webhook, good, b'{"text": "another"}'),
        call(host, webhook, signed(webhook["secret"], "call-2", now - 3600, body), body),
        call(host, webhook, signed("whsec_another", "call-2", now, body), body),
    ]

    assert [(each.status_code, error_code(each)) for each in tries] == [(401, "unauthenticated")] * 5


@pytest.mark.parametrize("body", [b"no json", b"\xff", b'{"number": ' + b"9" * 5000 + b"}", b"[" * 100_000])
def test_a_genuine_call_with_an_unreadable_body_is_a_bad_request(host: Host, webhook: Json, body: bytes) -> None:
    answer = call(host, webhook, signed(webhook["secret"], "call-3", int(time.time()), body), body)
    assert (answer.status_code, error_code(answer)) == (400, "invalid_argument")


def test_a_call_signed_by_github_is_accepted(host: Host) -> None:
    secret = "a secret of at least sixteen"
    body = {"name": "pushes", "scheme": "github", "agent_id": host.agent(**ALL), "secret": secret}
    webhook = host.http().post("/webhooks", json=body).json()
    content = b'{"ref": "main"}'
    signature = "sha256=" + hmac.new(secret.encode(), content, hashlib.sha256).hexdigest()

    answer = call(host, webhook, {"x-hub-signature-256": signature, "x-github-delivery": "one"}, content)

    assert answer.status_code == 202


def test_a_github_call_that_is_repeated_under_another_delivery_id_is_the_same_event(host: Host, webhook: Json) -> None:
    body = {"name": "pushes", "agent_id": webhook["agent_id"], "scheme": "github"}
    pushes = host.http().post("/webhooks", json=body).json()
    content = b'{"text": "pushed once"}'
    signature = "sha256=" + hmac.new(pushes["secret"].encode(), content, hashlib.sha256).hexdigest()
    answers = [
        call(host, pushes, {"x-hub-signature-256": signature, "x-github-delivery": name}, content).json()
        for name in ("one", "two", "")
    ]
    assert [answer["duplicate"] for answer in answers] == [False, True, True]
    assert len({answer["event_id"] for answer in answers}) == 1


@pytest.mark.parametrize("timestamp", [b"\xb2", b"9" * 5000, b"-1", b"1e9", b"0x10", b"1 2"])
def test_a_timestamp_that_is_not_a_number_is_a_bad_request(host: Host, webhook: Json, timestamp: bytes) -> None:
    headers = {**signed(webhook["secret"], "call-7", int(time.time()), b"{}"), "webhook-timestamp": timestamp}
    answer = httpx.post(f"{host.address}{webhook['path']}", content=b"{}", headers=headers, timeout=30, verify=NO_TLS)  # type: ignore[arg-type]
    assert (answer.status_code, error_code(answer)) == (400, "invalid_argument")


def test_a_webhooks_secret_is_shown_once_and_a_disabled_webhook_is_not_found(host: Host, webhook: Json) -> None:
    http = host.http()
    path = f"/webhooks/{webhook['webhook_id']}"
    body = {"name": "alarm", "agent_id": webhook["agent_id"], "enabled": False}

    assert webhook["secret"] not in http.get("/webhooks").text
    assert http.put(path, json=body).status_code == 200
    headers = signed(webhook["secret"], "call-9", int(time.time()), b"{}")
    assert call(host, webhook, headers, b"{}").status_code == 404
    http.put(path, json={**body, "enabled": True})
    assert call(host, webhook, headers, b"{}").status_code == 202, "the secret is the same"
