"""Tests reruns with a real plugin process: they stand beside the original and leave no trace outside themselves."""

import json
from collections.abc import Iterator
from typing import Any

import pytest

from tests.support.chat import Chat
from tests.support.commands import parlour_here
from tests.support.harness import PUPPET, PUPPET_PLUGIN, Host, Json, error_code, eventually, texts
from tests.support.scripted import CALLING_PLUGIN, ScriptedHost

Steps = list[tuple[str, Any]]


def model_request(text: str) -> Json:
    return {"model_id": "model", "messages": [{"role": "user", "content": text}]}


@pytest.fixture(scope="module")
def scripted(tmp_path_factory: pytest.TempPathFactory) -> Iterator[ScriptedHost]:
    host = ScriptedHost(tmp_path_factory.mktemp("reruns"))
    host.install(CALLING_PLUGIN)
    host.install(PUPPET_PLUGIN)
    host.start()
    yield host
    host.close()


@pytest.fixture(scope="module")
def agent(scripted: ScriptedHost) -> str:
    return scripted.caller()


def original(host: Host, agent: str, steps: Steps, **fields: Any) -> tuple[str, str]:
    """Returns the ids of the run and its conversation."""
    result = host.ask(agent, json.dumps(steps), **fields)
    return str(result["run"]["run_id"]), str(result["conversation_id"])


def rerun(host: Host, run_id: str, **body: Any) -> Json:
    """Starts a rerun and returns it when it has ended."""
    response = host.http().post(f"/runs/{run_id}/rerun", json=body)
    assert response.status_code == 201, response.text
    made = str(response.json()["run_id"])
    eventually(lambda: host.run(made)["finished_at"], "the rerun is over", 30)
    return host.run(made)


def answers(run: Json) -> list[Any]:
    """Returns the outcome of each call that the rerun was asked to make."""
    return list(json.loads(run["texts"][0]))


def test_a_rerun_stands_beside_its_original_and_nothing_is_delivered(scripted: ScriptedHost, agent: str) -> None:
    steps: Steps = [("invoke_llm", model_request("hello"))]
    run_id, conversation_id = original(scripted, agent, steps)
    before = scripted.transcript(conversation_id)
    again = rerun(scripted, run_id)
    assert (again["status"], again["rerun_of"], again["parent_run_id"]) == ("completed", run_id, None)
    assert answers(again)[0]["message"]["content"] == "you said hello"
    assert again["original"]["texts"] == again["texts"]
    assert again["original"]["usage"] == again["usage"]
    assert again["usage"]["model_calls"] == 1
    assert scripted.run(run_id)["reruns"] == [{"run_id": again["run_id"], "agent_id": agent, "status": "completed"}]
    assert scripted.transcript(conversation_id) == before
    types = [event["type"] for event in scripted.items(f"/runs/{again['run_id']}/events")]
    assert {"model.called", "message.completed"} <= set(types)


def test_a_rerun_with_another_agent_or_configuration_uses_that(scripted: ScriptedHost, agent: str) -> None:
    run_id, _ = original(scripted, agent, [("invoke_llm", model_request("hello"))])
    poor = scripted.caller(name="poor", resource_policy={})
    again = rerun(scripted, run_id, agent_id=poor)
    assert again["agent_id"] == poor
    assert answers(again)[0]["error"]["code"] == "unauthorized"
    puppet = scripted.agent(PUPPET, name="puppet")
    assert rerun(scripted, run_id, agent_id=puppet)["status"] == "failed"


def test_a_tool_with_effects_runs_in_a_rerun_only_on_request(scripted: ScriptedHost, agent: str) -> None:
    steps: Steps = [("call_tool", {"tool_name": "lamp"}), ("call_tool", {"tool_name": "clock"})]
    run_id, _ = original(scripted, agent, steps)
    scripted.forget()
    lamp, clock = answers(rerun(scripted, run_id))
    assert (lamp["error"]["code"], clock["content"][0]["text"]) == ("denied", "noon")
    assert scripted.seen() == ["tool clock"]
    lamp, _ = answers(rerun(scripted, run_id, allow_effects=["lamp"]))
    assert lamp["content"][0]["text"] == "on"
    assert scripted.seen() == ["tool clock", "tool lamp", "tool clock"]


def test_the_state_of_a_rerun_is_a_copy_that_is_thrown_away(scripted: ScriptedHost, agent: str) -> None:
    place = {"scope": "conversation", "key": "count"}
    steps: Steps = [
        ("state_get", place),
        ("state_set", {**place, "value": 1}),
        ("state_get", place),
        ("state_list", {"scope": "conversation"}),
        ("storage_set", {"area": "plugin", "key": "blob", "content_base64": "YQ=="}),
        ("storage_get", {"area": "plugin", "key": "blob"}),
    ]
    run_id, _ = original(scripted, agent, steps, conversation_id="stateful")
    read: Steps = [
        ("state_set", {**place, "value": 2}),
        ("storage_set", {"area": "plugin", "key": "blob", "content_base64": "Yg=="}),
    ]
    original(scripted, agent, read, conversation_id="stateful")
    first, _, second, keys, _, blob = answers(rerun(scripted, run_id))
    assert (first["value"], second["value"], keys["keys"], blob["content_base64"]) == (2, 1, ["count"], "YQ==")
    look: Steps = [("state_get", place), ("storage_get", {"area": "plugin", "key": "blob"})]
    retained, stored = json.loads(texts(scripted.ask(agent, json.dumps(look), conversation_id="stateful"))[0])
    assert (retained["value"], stored["content_base64"]) == (2, "Yg==")


def test_the_history_of_a_rerun_ends_at_its_event(scripted: ScriptedHost, agent: str) -> None:
    steps: Steps = [("history_page", {}), ("history_search", {"query": "lantern"}), ("event_page", {})]
    original(scripted, agent, [("get_host_version", {})], conversation_id="past")
    run_id, _ = original(scripted, agent, steps, conversation_id="past")
    original(scripted, agent, [("invoke_llm", model_request("lantern"))], conversation_id="past")
    page, found, events = answers(rerun(scripted, run_id))
    assert [item["role"] for item in page["items"]] == ["user", "assistant", "user"]
    assert ["lantern" in item["content"] for item in found["items"]] == [True]
    assert len(events["items"]) == 2


def test_a_rerun_creates_no_runs_and_its_files_are_its_own(scripted: ScriptedHost, agent: str) -> None:
    create = {"agent_id": agent, "event": {"event_type": "message.received", "input": {"text": "[]"}}}
    piece = {"artifact_type": "file", "name": "a.txt", "content_base64": "YWJj", "is_last": True}
    run_id, _ = original(scripted, agent, [("run_create", create), ("artifact_create", piece)])
    made, file = answers(rerun(scripted, run_id))
    assert made["error"]["code"] == "denied"
    assert file["artifact"]["conversation_id"] is None
    content = scripted.http().get(f"/artifacts/{file['artifact']['artifact_id']}/content")
    assert content.text == "abc"


def test_an_invalid_rerun_is_refused_with_a_reason(scripted: ScriptedHost, agent: str) -> None:
    run_id, _ = original(scripted, agent, [])
    ask = scripted.http().post
    absent = ask(f"/runs/{run_id}/rerun", json={"agent_id": "nobody"})
    assert (absent.status_code, error_code(absent)) == (404, "not_found")
    wrong = ask(f"/runs/{run_id}/rerun", json={"runner_config": {"colour": "red"}})
    assert (wrong.status_code, error_code(wrong)) == (422, "invalid_argument")
    assert "runner_config.colour" in wrong.json()["error"]["message"]
    assert ask(f"/runs/{run_id}/rerun", json={"model": "x"}).status_code == 422
    assert ask("/runs/absent/rerun", json={}).status_code == 404
    viewer = scripted.http(scripted.key("viewer")).post(f"/runs/{run_id}/rerun", json={})
    assert viewer.status_code == 403


def test_a_chat_key_sees_nothing_of_a_rerun(scripted: ScriptedHost, agent: str) -> None:
    key = scripted.key("chat")
    answer = scripted.ask(agent, "[]", key)
    again = rerun(scripted, answer["run"]["run_id"])
    http = scripted.http(key)
    assert http.get(f"/runs/{again['run_id']}").status_code == 404
    assert http.get(f"/runs/{answer['run']['run_id']}").json()["reruns"] == []
    why = http.get(f"/events/{answer['event_id']}/why").json()
    assert again["run_id"] not in json.dumps(why)


def test_the_trail_mentions_a_rerun_and_is_found_by_its_run_id(scripted: ScriptedHost, agent: str) -> None:
    run_id, _ = original(scripted, agent, [])
    again = rerun(scripted, run_id)
    printed = parlour_here("why", again["run_id"], "--data", scripted.data).stdout
    assert f"A person had run {run_id} done again as run {again['run_id']}" in printed
    assert "It was answered" in printed
    audited = [entry for entry in scripted.items("/audit") if entry["action"] == "run.rerun"]
    assert run_id in [entry["resource"] for entry in audited]


def test_a_rerun_can_be_cancelled_and_is_ended_after_a_kill_of_the_host(scripted: ScriptedHost) -> None:
    puppet = scripted.agent(PUPPET, name="patient")
    gate = scripted.shared_file("rerun.gate")
    gate.parent.mkdir(parents=True, exist_ok=True)
    gate.touch()
    run_id = scripted.ask(puppet, f"gate {gate}")["run"]["run_id"]
    gate.unlink()
    first = scripted.http().post(f"/runs/{run_id}/rerun", json={}).json()["run_id"]
    assert scripted.http().post(f"/runs/{first}/cancel").json()["status"] == "cancelled"
    second = scripted.http().post(f"/runs/{run_id}/rerun", json={}).json()["run_id"]
    assert scripted.run(second)["status"] == "running"
    scripted.kill()
    scripted.start()
    assert (scripted.run(second)["status"], scripted.run(second)["status_reason"]) == ("failed", "interrupted")
    assert scripted.run(run_id)["status"] == "completed"


async def test_a_replay_equals_the_frames_that_the_chat_showed(scripted: ScriptedHost) -> None:
    puppet = scripted.agent(PUPPET, name="replayed")
    for text, status in (
        ("tool x", "completed"),
        ("unfinished x", "completed"),
        ("two x", "completed"),
        ("crash x", "failed"),
    ):
        async with Chat(scripted, puppet, session=text.replace(" ", "-")) as chat:
            await chat.say(text)
            ended = await chat.until("run", status=status)
        replay = scripted.http().get(f"/runs/{ended['run_id']}/replay").json()
        assert replay["complete"] is True
        replayed, seen = replay["frames"], chat.numbered + chat.of("error")
        assert [plain(frame) for frame in replayed if frame["type"] != "delta"] == [
            plain(frame) for frame in sorted(seen, key=lambda each: each["seq"]) if frame["type"] != "delta"
        ]
        assert "".join(frame["content"] for frame in replayed if frame["type"] == "delta") == chat.deltas
        times = [frame["at"] for frame in replayed]
        assert times == sorted(times)
        said = [text for role, text in scripted.transcript(chat.conversation_id) if role == "assistant"]
        assert [frame["message"]["content"] for frame in replayed if frame["type"] == "message"] == said


def plain(frame: Json) -> Json:
    """Returns the content of a frame without time and number."""
    return {name: value for name, value in frame.items() if name not in ("seq", "at")}
