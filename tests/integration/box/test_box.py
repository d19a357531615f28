"""Tests the Box of a real Host: commands and files of agents in real sandboxes, through runs of a real plugin."""

import json
from collections.abc import Iterator
from typing import Any

import psutil
import pytest

from tests.support.harness import Host, Json, error_code, eventually, named_fields, texts
from tests.support.scripted import CALLER, CALLING_PLUGIN

ALL_TOOLS = ["exec", "read", "write", "edit", "glob", "grep"]


@pytest.fixture(scope="module")
def host(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Host]:
    host = Host(tmp_path_factory.mktemp("box"), PARLOUR__BOX__MAX_SESSIONS="20")
    host.install(CALLING_PLUGIN)
    host.start()
    yield host
    host.close()


@pytest.fixture(scope="module")
def agent(host: Host) -> str:
    return host.agent(CALLER, box_policy={"tools": ALL_TOOLS})


def outcomes(host: Host, agent: str, *calls: tuple[str, Json], **event: Any) -> list[Json]:
    """Returns the outcome of each tool call of one run."""
    requests = [["call_tool", {"tool_name": f"box.{name}", "parameters": given}] for name, given in calls]
    answered: list[Json] = json.loads(texts(host.ask(agent, json.dumps(requests), **event))[0])
    return answered


def text(outcome: Json) -> str:
    return str(outcome["content"][0]["text"])


def run_command(host: Host, agent: str, command: str, **event: Any) -> Json:
    [outcome] = outcomes(host, agent, ("exec", {"command": command}), **event)
    return outcome


def test_all_tools_see_one_file_system(host: Host, agent: str) -> None:
    answered = outcomes(
        host,
        agent,
        ("write", {"path": "src/hello.py", "content": "print('hello')\n"}),
        ("exec", {"command": "python3 src/hello.py"}),
        ("edit", {"path": "src/hello.py", "old": "hello", "new": "box"}),
        ("exec", {"command": "python3 /workspace/src/hello.py; ls src"}),
        ("read", {"path": "/workspace/src/hello.py"}),
        ("glob", {"pattern": "**/*.py"}),
        ("grep", {"pattern": "b.x"}),
    )
    assert [text(each) for each in answered] == [
        "Wrote 15 bytes to src/hello.py.",
        "hello\n",
        "Replaced 1 in src/hello.py.",
        "box\nhello.py\n",
        "print('box')\n",
        "/workspace/src/hello.py",
        "/workspace/src/hello.py:1: print('box')",
    ]


def test_agent_without_a_box_policy_gets_no_tool_and_the_refusal_is_audited(host: Host) -> None:
    plain = host.agent(CALLER, resource_policy={"tools": "*"})
    [refused] = outcomes(host, plain, ("exec", {"command": "id"}))
    assert refused["error"]["code"] == "unauthorized"
    [entry] = [each for each in host.items("/audit", action="call_tool") if each["resource"] == "box.exec"][:1]
    assert entry["outcome"] == "denied"


def test_read_only_agent_can_read_and_not_write(host: Host, agent: str) -> None:
    reader = host.agent(CALLER, box_policy={"tools": ALL_TOOLS, "profile": "offline_readonly"})
    wrote, failed = outcomes(
        host, reader, ("write", {"path": "x", "content": "x"}), ("exec", {"command": "touch /workspace/x"})
    )
    assert wrote["error"]["code"] == "unauthorized"
    assert failed["is_error"]
    assert "Read-only file system" in text(failed)


def test_command_that_takes_too_long_is_stopped_and_its_files_stay(host: Host, agent: str) -> None:
    late, kept = outcomes(
        host,
        agent,
        ("exec", {"command": "echo kept > kept.txt; sleep 30", "timeout_sec": 0.5}),
        ("exec", {"command": "cat kept.txt; ls /tmp"}),
        conversation_id="late",
    )
    assert late["is_error"]
    assert "did not end within 0.5 s" in text(late)
    assert text(kept) == "kept\n"


def test_long_output_is_cut_and_the_whole_is_an_artifact(host: Host, agent: str) -> None:
    outcome = run_command(host, agent, "seq 1 5000")
    assert outcome["truncated"]
    assert "characters left out" in text(outcome)
    [ref] = outcome["artifact_refs"]
    whole = host.http().get(f"/artifacts/{ref['artifact_id']}/content").text
    assert whole.split() == [str(number) for number in range(1, 5001)]


def test_each_chat_has_a_sandbox_of_its_own(host: Host, agent: str) -> None:
    run_command(host, agent, "echo secret > /workspace/mine", conversation_id="one")
    other = run_command(host, agent, "ls /workspace", conversation_id="two")
    assert "mine" not in text(other)
    assert "secret" in text(run_command(host, agent, "cat /workspace/mine", conversation_id="one"))


def test_memory_hog_and_fork_bomb_are_contained_and_explained(host: Host, agent: str) -> None:
    hog = run_command(host, agent, "exec python3 -c 'x = bytearray(2_000_000_000); print(len(x))'")
    assert hog["is_error"]
    assert "more memory than the sandbox has" in text(hog) or "MemoryError" in text(hog)
    bomb = "import os\nwhile True: os.fork()"
    outcome = run_command(host, agent, f"timeout 2 python3 -c '{bomb}'")
    assert outcome["is_error"]
    assert run_command(host, agent, "echo alive", conversation_id="beside")["is_error"] is False


def test_commands_are_measured_by_their_outcome(host: Host, agent: str) -> None:
    run_command(host, agent, "true")
    text = host.http(host.key("viewer")).get(f"{host.address}/metrics").text
    assert 'parlour_box_commands_total{status="completed",reason=""}' in text
    assert 'parlour_box_call_seconds_count{action="box_exec",outcome="done"}' in text


def test_session_is_listed_with_its_files_and_can_be_ended(host: Host, agent: str) -> None:
    run_command(host, agent, "mkdir -p shown; echo x > shown/file.txt", conversation_id="listed")
    [session] = [each for each in host.items("/box/sessions") if each["title"].endswith(":listed")]
    assert (session["state"], session["network"], session["memory_mb"]) == ("ready", False, 512)
    files = host.http().get(f"/box/sessions/{session['session_id']}/files", params={"path": "shown"}).json()
    assert [each["name"] for each in files["items"]] == ["file.txt"]
    outside = host.http().get(f"/box/sessions/{session['session_id']}/files", params={"path": "/etc"})
    assert (outside.status_code, error_code(outside)) == (422, "path_refused")
    assert host.http().delete(f"/box/sessions/{session['session_id']}").status_code == 204
    assert host.http().delete(f"/box/sessions/{session['session_id']}").status_code == 404
    assert not [each for each in host.items("/box/sessions") if each["title"].endswith(":listed")]


def test_every_call_is_in_the_audit_with_its_command_and_result(host: Host, agent: str) -> None:
    event = host.ask(agent, json.dumps([["call_tool", {"tool_name": "box.exec", "parameters": {"command": "exit 3"}}]]))
    [entry] = host.items("/box/audit", run_id=event["run"]["run_id"])
    assert (entry["action"], entry["outcome"], entry["agent_id"]) == ("box.exec", "done", agent)
    assert {name: entry["detail"][name] for name in ("command", "status", "code")} == {
        "command": "exit 3",
        "status": "completed",
        "code": 3,
    }


def test_status_names_what_holds_and_the_probe_succeeds(host: Host) -> None:
    status = host.http().get("/box/status").json()
    assert (status["status"], status["backend"], status["max_sessions"]) == ("ready", "bubblewrap", 20)
    assert status["limits"] in ("cgroup2", "cgroup1", "rlimit")
    result = host.http().post("/box/test").json()
    assert {check["name"]: check["ok"] for check in result["checks"]} == {
        "exec": True,
        "system_read_only": True,
        "kernel_settings_read_only": True,
        "network_off": True,
        "time_out": True,
    }
    assert result["ok"]


def test_sessions_stay_within_their_number(host: Host) -> None:
    fresh = host.agent(CALLER, box_policy={"tools": ["exec"], "session_template": "{run_id}"})
    for _ in range(25):
        assert text(run_command(host, fresh, "echo here")) == "here\n"
    assert len(host.items("/box/sessions")) <= 20


@pytest.mark.parametrize(
    ("policy", "field"),
    [
        ({"tools": ["shell"]}, "box_policy.tools.0"),
        ({"session_template": "{stranger}"}, "box_policy.session_template"),
        ({"network": True}, "box_policy.network"),
        ({"profile": "huge"}, "box_policy.profile"),
        ({"image": "x"}, "box_policy.image"),
    ],
)
def test_wrong_policy_is_refused_with_the_name_of_its_field(host: Host, policy: Json, field: str) -> None:
    refused = host.http().post("/agents", json={"name": "x", "runner_id": CALLER, "box_policy": policy})
    assert (refused.status_code, named_fields(refused)) == (422, [field])


def test_rerun_executes_no_command(host: Host, agent: str) -> None:
    touch = [["call_tool", {"tool_name": "box.exec", "parameters": {"command": "echo again >> /workspace/count"}}]]
    first = host.ask(agent, json.dumps(touch), conversation_id="rerun")
    answer = host.http().post(f"/runs/{first['run']['run_id']}/rerun", json={})
    assert answer.status_code in (200, 201, 202), answer.text
    rerun = answer.json()["run_id"]
    eventually(lambda: host.run(rerun)["finished_at"], "the rerun ends", 30)
    assert text(run_command(host, agent, "cat count", conversation_id="rerun")) == "again\n"


def test_command_of_a_pattern_waits_for_a_person(host: Host) -> None:
    careful = host.agent(CALLER, box_policy={"tools": ["exec"], "ask": ["rm *"]})
    call = [["call_tool", {"tool_name": "box.exec", "parameters": {"command": "echo x; rm -f y"}}]]
    event = host.send(careful, json.dumps(call), key=host.key("chat"))
    [approval] = eventually(lambda: host.items("/approvals", status="pending"), "the command is asked about", 30)
    assert approval["call"]["arguments"] == {"command": "echo x; rm -f y"}
    assert host.items("/box/audit", session_id="none") == []
    host.http().post(f"/approvals/{approval['approval_id']}", json={"decision": "approve"})
    outcome = eventually(
        lambda: host.http().get(f"/approvals/{approval['approval_id']}").json()["outcome"], "it is executed", 30
    )
    assert outcome == {"state": "done", "result": "x\n"}
    assert event["event_id"]


def test_killed_host_leaves_no_process_and_its_chats_go_on(host: Host, agent: str) -> None:
    run_command(host, agent, "echo before > /workspace/state; (sleep 1000 &)", conversation_id="killed")
    mine = [each for each in host.process.children(recursive=True) if "/run/parlour-agent" in _command_line(each)]
    assert mine
    host.kill()
    eventually(lambda: not any(_is_alive(each) for each in mine), "every sandbox has ended", 30)
    host.start()
    outcome = run_command(host, agent, "cat /workspace/state", conversation_id="killed")
    assert text(outcome) == "before\n"


def test_run_that_starts_while_the_box_is_started_again_has_its_tools_and_its_workspace(host: Host, agent: str) -> None:
    run_command(host, agent, "echo before > /workspace/state", conversation_id="box killed")
    [box] = _boxes(host)
    box.kill()
    eventually(lambda: _has_ended(host, box), "the Host notices the end", 30)
    outcome = run_command(host, agent, "cat /workspace/state", conversation_id="box killed")
    assert text(outcome) == "before\n"


def _has_ended(host: Host, box: psutil.Process) -> bool:
    """Returns whether the Host knows that this Box has ended."""
    status = host.http().get("/box/status").json()["status"]
    return status != "ready" or any(each != box for each in _boxes(host))


def _boxes(host: Host) -> list[psutil.Process]:
    return [each for each in host.process.children() if "parlour.box" in _command_line(each)]


def _command_line(process: psutil.Process) -> list[str]:
    """Returns the command line; empty if the process has ended."""
    try:
        return process.cmdline()
    except psutil.NoSuchProcess:
        return []


def _is_alive(process: psutil.Process) -> bool:
    try:
        return bool(process.status() != psutil.STATUS_ZOMBIE)
    except psutil.NoSuchProcess:
        return False
