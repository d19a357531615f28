"""Tests coding agents against a scripted one on the unmodified package of the protocol, in a real Host."""

import json
import os
import time

from tests.integration.harnesses.conftest import ACP, MakeAgent, scripted_config
from tests.support.harness import Host, Json, eventually, texts
from tests.support.rogue import sleepers

PIXEL = "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg=="


def pending(host: Host, agent_id: str) -> Json:
    """Returns the open question of an agent."""

    def look() -> Json | None:
        return next((each for each in host.items("/approvals", status="pending") if each["agent_id"] == agent_id), None)

    return eventually(look, "a question is open")


def decide(host: Host, approval: Json, decision: str) -> Json:
    answer = host.http().post(f"/approvals/{approval['approval_id']}", json={"decision": decision})
    answer.raise_for_status()
    decided: Json = answer.json()
    return decided


def ended(host: Host, run_id: str) -> Json:
    def look() -> Json | None:
        run = host.run(run_id)
        return run if run["status"] in ("completed", "failed", "cancelled", "timeout") else None

    return eventually(look, "the run has ended")


def said(host: Host, agent_id: str, text: str, **fields: object) -> str:
    return "".join(texts(host.ask(agent_id, text, **fields))).strip()


def test_a_session_goes_on_in_one_process_and_in_a_new_one(acp_host: Host, scripted: MakeAgent) -> None:
    kept, fresh = scripted(), scripted(idle_seconds=0)

    assert said(acp_host, kept, "hello there", conversation_id="one") == "hello there"
    assert said(acp_host, kept, "about", conversation_id="one") == "2 messages, mode default, token hidden-token"
    assert said(acp_host, kept, "about", conversation_id="two").startswith("1 messages")
    assert said(acp_host, fresh, "first", conversation_id="one") == "first"
    # A new process: it loads the session, repeats what it said, and is set to the mode that asks again.
    assert said(acp_host, fresh, "about", conversation_id="one") == "2 messages, mode default, token hidden-token"
    [newest, *_] = acp_host.items("/runs", agent_id=kept)
    refused = acp_host.http().post(f"/runs/{newest['run_id']}/rerun", json={})
    assert refused.json()["error"]["code"] == "not_supported"
    assert said(acp_host, kept, "garbage") == "still here"


def test_pictures_are_sent_and_other_files_are_put_into_the_folder(acp_host: Host, scripted: MakeAgent) -> None:
    contents = [
        {"type": "text", "text": "blocks please"},
        {"type": "image", "content_base64": PIXEL, "mime_type": "image/png"},
        {"type": "file", "content_base64": "aGVsbG8=", "name": "../no te.txt", "mime_type": "text/plain"},
    ]

    result = acp_host.ask(scripted(), "blocks please", input={"contents": contents})

    assert "".join(texts(result)) == "image image/png; file hello"


def test_a_question_is_decided_and_shows_what_would_change(acp_host: Host, scripted: MakeAgent) -> None:
    agent = scripted()
    acp_host.send(agent, "write a.txt")
    question = pending(acp_host, agent)

    assert question["action"] == "harness.permission"
    assert question["call"]["title"] == "Write a.txt"
    assert "+written" in question["call"]["details"]
    assert question["call"]["always"] == ""
    assert acp_host.http().post(f"/approvals/{question['approval_id']}", json={"decision": "always"}).status_code == 409
    decide(acp_host, question, "approve")
    assert ended(acp_host, run_of(acp_host, agent))["status"] == "completed"
    assert said_last(acp_host, agent) == "a.txt: b"

    acp_host.send(agent, "write b.txt")
    decide(acp_host, pending(acp_host, agent), "deny")
    eventually(lambda: said_last(acp_host, agent) == "b.txt: allow", "the refusal has arrived")


def run_of(host: Host, agent_id: str) -> str:
    [newest, *_] = host.items("/runs", agent_id=agent_id)
    return str(newest["run_id"])


def said_last(host: Host, agent_id: str) -> str:
    [newest, *_] = host.items("/runs", agent_id=agent_id)
    messages = [text for role, text in host.transcript(newest["conversation_id"]) if role == "assistant"]
    return messages[-1].strip() if messages else ""


def test_cancelling_ends_an_open_question_and_a_running_command(acp_host: Host, scripted: MakeAgent) -> None:
    agent = scripted(cancel_seconds=5)
    acp_host.send(agent, "write c.txt")
    question = pending(acp_host, agent)

    run_id = acp_host.active_run(agent)
    acp_host.http().post(f"/runs/{run_id}/cancel").raise_for_status()

    assert ended(acp_host, run_id)["status"] == "cancelled"
    closed = eventually(
        lambda: next(
            (
                each
                for each in acp_host.items("/approvals", status="expired")
                if each["approval_id"] == question["approval_id"]
            ),
            None,
        ),
        "the question is withdrawn",
    )
    assert closed["reason"] == "the agent is no longer waiting"
    refused = acp_host.http().post(f"/approvals/{question['approval_id']}", json={"decision": "approve"})
    assert refused.status_code == 409

    unique = f"86400.{time.time_ns()}{os.getpid()}"
    other = scripted(cancel_seconds=5)
    acp_host.send(other, f"run {unique}")
    eventually(lambda: sleepers(unique), "the command runs")
    acp_host.http().post(f"/runs/{acp_host.active_run(other)}/cancel").raise_for_status()
    eventually(lambda: not sleepers(unique), "nothing of the command is left")


def test_failures_say_what_happened_and_what_to_do(acp_host: Host, scripted: MakeAgent) -> None:
    def failure(agent_id: str, text: str) -> tuple[str, str]:
        run = acp_host.ask(agent_id, text)["run"]
        return run["status_reason"], run["error"]

    code, message = failure(scripted(), "die")
    assert code == "runner.crashed"
    assert "something broke inside" in message
    assert "hidden-token" not in message
    code, message = failure(scripted(), "flood")
    assert code == "runner.crashed"
    assert "wrote more than it may" in message
    assert failure(scripted(command="nothing"), "x")[0] == "acp.start"
    assert failure(scripted(mode="yolo"), "x")[0] == "acp.config"
    code, message = failure(acp_host.agent(ACP, runner_config={"harness": "goose"}), "x")
    assert code == "acp.not_granted"
    assert "grant it on the plugin's page" in message

    checked = acp_host.check(ACP, scripted_config())
    assert checked["ok"] is True
    assert checked["message"] == "scripted 1.0 answers and began a session."
    assert json.dumps(checked).count("hidden") == 0


def test_the_programs_of_the_plugin_say_what_is_missing_and_what_runs(acp_host: Host, scripted: MakeAgent) -> None:
    def programs() -> dict[str, Json]:
        return {each["name"]: each for each in acp_host.items("/plugins/parlour/acp-agent/programs")}

    listed = programs()
    assert (listed["other"]["granted"], listed["other"]["installed"]) == (True, True)
    goose = listed["goose"]
    assert (goose["label"], goose["granted"], goose["running"]) == ("Goose", False, 0)
    assert goose["install"] == "npm install -g @aaif/goose"
    assert goose["installed"] is all(each["path"] for each in goose["commands"])
    assert {each["key"] for each in goose["words"]} >= {"processes.workspace", "processes.network"}
    assert "每条命令" in listed["codex"]["note"]["zh_Hans"]

    assert said(acp_host, scripted(), "hello there") == "hello there"
    assert programs()["other"]["running"] >= 1
    missing = acp_host.http().get("/plugins/parlour/nothing/programs")
    assert missing.json()["error"]["code"] == "not_found"
