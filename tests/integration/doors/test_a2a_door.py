"""Tests the A2A door over the wire, in both versions; `test_a2a_sdk.py` does so with the unmodified SDK."""

import json
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import httpx
import pytest

from tests.support.harness import NO_TLS, PUPPET, Host, Json, bearer

Publish = Callable[..., str]


class A2aClient:
    """Calls one agent with JSON-RPC."""

    def __init__(self, host: Host, agent_id: str, key: str | None = None) -> None:
        headers = bearer(host.key("chat") if key is None else key)
        address = f"{host.address}/a2a/{agent_id}"
        self.http = httpx.Client(base_url=address, headers=headers, timeout=30, verify=NO_TLS)

    def call(self, method: str, **params: Any) -> Json:
        answer = self.http.post("/rpc", json={"jsonrpc": "2.0", "id": 7, "method": method, "params": params})
        body = answer.json()
        assert (body["jsonrpc"], body["id"]) == ("2.0", 7)
        return dict(body)

    def send(self, text: str, message_id: str, **message: Any) -> Json:
        result = self.call("SendMessage", message=said(text, message_id, **message))["result"]
        return dict(result["task"])

    def stream(self, method: str, **params: Any) -> Iterator[Json]:
        call = {"jsonrpc": "2.0", "id": 7, "method": method, "params": params}
        with self.http.stream("POST", "/rpc", json=call) as answer:
            for line in answer.iter_lines():
                if line.startswith("data: "):
                    yield json.loads(line.removeprefix("data: "))["result"]


def said(text: str, message_id: str, **fields: Any) -> Json:
    return {"messageId": message_id, "role": "ROLE_USER", "parts": [{"text": text}], **fields}


def text_of(task: Json) -> str:
    return "".join(part["text"] for artifact in task["artifacts"] for part in artifact["parts"])


@pytest.fixture
def client(host: Host, publish: Publish) -> Iterator[A2aClient]:
    client = A2aClient(host, publish(door="a2a", name="Repeater", config={"remember": True}))
    yield client
    client.http.close()


@pytest.fixture
def puppet(host: Host, publish: Publish) -> Iterator[A2aClient]:
    client = A2aClient(host, publish(PUPPET, door="a2a", restart_policy="never"))
    yield client
    client.http.close()


def test_the_card_names_the_agent_and_where_it_is_called(host: Host, client: A2aClient) -> None:
    card = client.http.get("/.well-known/agent-card.json").json()

    assert card["name"] == "Repeater"
    assert [each["protocolVersion"] for each in card["supportedInterfaces"]] == ["1.0", "0.3"]
    assert {each["url"] for each in card["supportedInterfaces"]} == {f"{client.http.base_url}rpc"}
    without_key = httpx.get(f"{client.http.base_url}.well-known/agent-card.json", verify=NO_TLS)
    assert without_key.status_code == 401


def test_a_message_becomes_a_task_and_its_context_continues(client: A2aClient) -> None:
    first = client.send("a", "m1")
    second = client.send("b", "m2", contextId=first["contextId"])

    assert first["status"]["state"] == "TASK_STATE_COMPLETED"
    assert [text_of(task) for task in (first, second)] == ["1 a", "2 b"]
    read = client.call("GetTask", id=first["id"])["result"]
    assert (read["id"], text_of(read)) == (first["id"], "1 a")
    listed = client.call("ListTasks", contextId=first["contextId"], includeArtifacts=True)["result"]
    assert [text_of(task) for task in listed["tasks"]] == ["2 b", "1 a"]
    page = client.call("ListTasks", pageSize=1)["result"]
    rest = client.call("ListTasks", pageSize=1, pageToken=page["nextPageToken"])["result"]
    assert [task["id"] for task in (*page["tasks"], *rest["tasks"])] == [second["id"], first["id"]]


def test_the_same_message_id_is_one_task(host: Host, client: A2aClient) -> None:
    assert client.send("x", "same")["id"] == client.send("x", "same")["id"]


def test_a_stream_begins_with_the_task_and_ends_with_its_state(client: A2aClient) -> None:
    events = list(client.stream("SendStreamingMessage", message=said("one two", "s1")))

    assert events[0]["task"]["status"]["state"] == "TASK_STATE_WORKING"
    updates = [each["artifactUpdate"] for each in events if "artifactUpdate" in each]
    assert "".join(part["text"] for each in updates for part in each["artifact"]["parts"]) == "1 one two"
    assert [each["append"] for each in updates] == [False] + [True] * (len(updates) - 1)
    assert updates[-1]["lastChunk"] is True
    assert events[-1]["statusUpdate"]["status"]["state"] == "TASK_STATE_COMPLETED"


def test_a_dropped_stream_is_subscribed_to_again(host: Host, puppet: A2aClient, gate_file: Path) -> None:
    stream = puppet.stream("SendStreamingMessage", message=said(f"gate {gate_file}", "dropped"))
    task = next(stream)["task"]
    assert next(stream)["artifactUpdate"]["artifact"]["parts"] == [{"text": "waiting "}]
    stream.close()

    again = puppet.stream("SubscribeToTask", id=task["id"])
    assert next(again)["task"]["id"] == task["id"]
    gate_file.touch()
    rest = list(again)

    sent_again = list(puppet.stream("SendStreamingMessage", message=said(f"gate {gate_file}", "dropped")))
    assert sent_again[0]["task"]["id"] == task["id"]
    for events in (rest, sent_again):
        updates = [each["artifactUpdate"] for each in events if "artifactUpdate" in each]
        assert "".join(part["text"] for each in updates for part in each["artifact"]["parts"]) == "waiting is over"
        assert events[-1]["statusUpdate"]["status"]["state"] == "TASK_STATE_COMPLETED"
    agent = str(puppet.http.base_url).rstrip("/").rpartition("/")[2]
    assert len(host.items("/runs", agent_id=agent)) == 1
    entries = [each for each in host.items("/audit", kind="door", action="turn") if each["resource"] == agent]
    assert {"via": "a2a"} in [each["detail"] for each in entries]


def test_a_task_is_cancelled(host: Host, puppet: A2aClient) -> None:
    configuration = {"returnImmediately": True}
    sent = puppet.call("SendMessage", message=said("sleep", "c1"), configuration=configuration)["result"]["task"]
    host.active_run(str(puppet.http.base_url).rstrip("/").rpartition("/")[2])

    cancelled = puppet.call("CancelTask", id=sent["id"])["result"]

    assert cancelled["status"]["state"] == "TASK_STATE_CANCELED"
    assert puppet.call("CancelTask", id=sent["id"])["error"]["code"] == -32002


def test_errors_have_the_numbers_of_the_standard(host: Host, client: A2aClient, puppet: A2aClient) -> None:
    failed = puppet.send("fail", "f1")
    stranger = A2aClient(host, str(client.http.base_url).rstrip("/").rpartition("/")[2], host.key("chat", "alien"))
    mine = client.send("mine", "mine")

    assert failed["status"]["state"] == "TASK_STATE_FAILED"
    assert failed["status"]["message"]["metadata"] == {"code": "puppet.broken"}
    assert client.call("GetTask", id="task_99999999")["error"]["code"] == -32001
    assert stranger.call("GetTask", id=mine["id"])["error"]["code"] == -32001
    foreign = client.call("SendMessage", message=said("x", "x", contextId="of somebody"))
    assert foreign["error"]["code"] == -32001
    further = client.call("SendMessage", message=said("x", "x", taskId=mine["id"]))
    assert further["error"]["code"] == -32004
    assert client.call("SendMessage", message={"parts": []})["error"]["code"] == -32602
    assert client.call("Nonsense")["error"]["code"] == -32601
    assert client.call("CreateTaskPushNotificationConfig")["error"]["code"] == -32003
    assert client.call("GetExtendedAgentCard")["error"]["code"] == -32007
    garbage = client.http.post("/rpc", content=b"{")
    assert garbage.json()["error"]["code"] == -32700
    new_version = client.http.post("/rpc", json={"method": "GetTask"}, headers={"A2A-Version": "9.0"})
    assert new_version.json()["error"]["code"] == -32009
    unknown = A2aClient(host, "nobody").http.post("/rpc", json={"method": "GetTask"})
    assert (unknown.status_code, unknown.json()["error"]["data"][0]["reason"]) == (404, "NOT_FOUND")


def test_version_0_3_is_answered_in_its_own_form(client: A2aClient) -> None:
    message = {"kind": "message", "messageId": "old", "role": "user", "parts": [{"kind": "text", "text": "hi"}]}

    task = client.call("message/send", message=message)["result"]
    events = list(client.stream("message/stream", message={**message, "messageId": "old stream"}))

    assert (task["kind"], task["status"]["state"]) == ("task", "completed")
    assert task["artifacts"][0]["parts"] == [{"kind": "text", "text": "1 hi"}]
    assert events[0]["kind"] == "task"
    assert (events[-1]["kind"], events[-1]["status"]["state"], events[-1]["final"]) == (
        "status-update",
        "completed",
        True,
    )
    assert client.call("tasks/get", id=task["id"])["result"]["kind"] == "task"
