"""Tests monitoring: the live channel, metrics for Prometheus, and statistics by the hour."""

import json
from collections.abc import Iterator

import pytest
from prometheus_client.parser import text_string_to_metric_families
from websockets.exceptions import ConnectionClosed
from websockets.sync.client import ClientConnection, connect

from tests.support.harness import Host, Json, bearer
from tests.support.onebot import free_port


@pytest.fixture
def live_socket(host: Host) -> Iterator[ClientConnection]:
    with watch(host, host.key("viewer")) as socket:
        assert json.loads(socket.recv(30))["type"] == "connected"
        yield socket


def watch(host: Host, key: str, query: str = "") -> ClientConnection:
    address = host.address.replace("http", "ws")
    return connect(f"{address}/api/v1/live{query}", additional_headers=bearer(key), open_timeout=30)


def frames_until(socket: ClientConnection, **wanted: object) -> list[Json]:
    frames: list[Json] = []
    while not frames or not wanted.items() <= frames[-1].items():
        frames.append(json.loads(socket.recv(30)))
    return frames


def test_a_live_client_receives_an_event_its_run_and_its_end_as_they_happen(
    host: Host, live_socket: ClientConnection
) -> None:
    result = host.ask(host.agent(), "hello there")
    run_id = result["run"]["run_id"]

    frames = frames_until(live_socket, type="run", id=run_id, state="completed")

    kinds = [(frame["type"], frame["state"]) for frame in frames]
    assert ("configuration", "changed") in kinds, "the agent"
    assert kinds.index(("event", "accepted")) < kinds.index(("run", "running")) < kinds.index(("run", "completed"))
    [event] = [frame for frame in frames if frame["type"] == "event"]
    assert (event["id"], event["input_summary"]) == (result["event_id"], "hello there")


def test_a_live_client_that_resumes_receives_the_missed_frames_and_none_twice(host: Host) -> None:
    agent, key = host.agent(), host.key("viewer")
    with watch(host, key) as socket:
        first = host.ask(agent, "seen")["run"]["run_id"]
        last = frames_until(socket, type="run", id=first, state="completed")[-1]["seq"]
    second = host.ask(agent, "missed")["run"]["run_id"]

    with watch(host, key, f"?after={last}") as socket:
        frames = frames_until(socket, type="run", id=second, state="completed")

    ends = [frame["id"] for frame in frames if frame["type"] == "run" and frame["state"] == "completed"]
    assert ends == [second]
    assert "missed" not in {frame["type"] for frame in frames}


def test_a_live_client_that_resumes_too_late_is_asked_to_reload(host: Host) -> None:
    with watch(host, host.key("viewer"), "?after=1") as socket:
        frames = [json.loads(socket.recv(30)) for _ in range(2)]

    assert [frame["type"] for frame in frames] == ["connected", "missed"]


def test_a_live_client_receives_states_of_plugins_and_bots_and_their_changes(
    host: Host, live_socket: ClientConnection
) -> None:
    frames_until(live_socket, type="plugin", id="parlour/echo-agent", state="ready")
    config = {"mode": "reverse", "port": free_port()}
    made = host.http().post("/bots", json={"name": "lonely", "adapter": "onebot11", "adapter_config": config}).json()

    frames_until(live_socket, type="bot", id=made["bot_id"], state="connecting")
    assert host.http().delete(f"/bots/{made['bot_id']}").status_code == 204
    frames_until(live_socket, type="bot", id=made["bot_id"], state="gone")


@pytest.mark.long
def test_a_live_client_whose_key_is_revoked_is_disconnected(host: Host) -> None:
    made = host.http().post("/api-keys", json={"name": "short", "scope": "viewer"}).json()
    with watch(host, made["key"]) as socket:
        assert host.http().delete(f"/api-keys/{made['key_id']}").status_code == 204
        with pytest.raises(ConnectionClosed) as cut:
            frames_until(socket, type="never")

    assert cut.value.rcvd is not None
    assert cut.value.rcvd.code == 4401


REFUSALS = [("chat", "", "forbidden"), ("viewer", "?after=x", "invalid_argument")]


@pytest.mark.parametrize(("scope", "query", "code"), REFUSALS)
def test_a_refused_live_client_receives_the_reason(host: Host, scope: str, query: str, code: str) -> None:
    with watch(host, host.key(scope), query) as socket:
        refusal = json.loads(socket.recv(30))
        with pytest.raises(ConnectionClosed):
            socket.recv(30)

    assert (refusal["type"], refusal["code"]) == ("error", code)


def metrics(host: Host) -> dict[str, float]:
    text = host.http(host.key("viewer")).get(f"{host.address}/metrics").text
    samples = (sample for family in text_string_to_metric_families(text) for sample in family.samples)
    return {sample.name + "".join(sorted(sample.labels.values())): sample.value for sample in samples}


def test_metrics_for_prometheus_count_what_happened(host: Host) -> None:
    before = metrics(host)
    agent = host.agent()
    for number in range(3):
        host.ask(agent, f"message {number}")

    after = metrics(host)

    gained = {name: after[name] - before.get(name, 0) for name in after}
    assert gained["parlour_events_totalmessage.received"] == 3
    assert gained["parlour_runs_totalcompleted"] == 3
    assert gained["parlour_deliveries_totalsent"] == 3
    assert gained["parlour_run_seconds_count"] == 3
    assert after["parlour_run_seconds_bucket+Inf"] == after["parlour_run_seconds_count"]
    assert after["parlour_pluginsready"] >= 1
    assert 20e6 < after["parlour_resident_memory_bytes"] < 500e6


def test_statistics_by_the_hour_add_up(host: Host) -> None:
    before = host.http().get("/stats").json()["totals"]
    host.ask(host.agent(), "one more")

    statistics = host.http().get("/stats", params={"hours": 2}).json()

    assert statistics["totals"]["runs.completed"] - before.get("runs.completed", 0) == 1
    assert sum(hour.get("runs.completed", 0) for hour in statistics["items"]) == statistics["totals"]["runs.completed"]


def test_the_info_endpoint_has_version_protocol_and_limits(host: Host) -> None:
    info = host.http(host.key("chat")).get("/info").json()

    assert info["version"]
    assert info["protocol"] == 1
    assert info["limits"]["upload_bytes"] == 100 * 1024 * 1024
