"""Tests the tools of a real Host: its own, those of plugin processes and of MCP servers, and their permissions."""

import json
import sys
from collections.abc import Iterator
from typing import Any

import psutil
import pytest

from tests.support.harness import ROOT, Host, Json, error_code, eventually, named_fields, texts
from tests.support.scripted import CALLER, CALLING_PLUGIN

BORROWING = ROOT / "tests" / "fixtures" / "plugins" / "borrowing.py"
SECRET = "a secret that must not be readable"
CLOCK = {"name": "clock", "transport": "stdio", "command": sys.executable, "arguments": ["-m", "mcp_server_time"]}
LIBRARY = {"name": "library", "transport": "stdio", "command": sys.executable}
SUM = {"tool_name": "calculator.evaluate", "parameters": {"expression": "6 * 7"}}
TOKYO = {"tool_name": "clock.get_current_time", "parameters": {"timezone": "Asia/Tokyo"}}


@pytest.fixture(scope="module")
def host(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Host]:
    host = Host(tmp_path_factory.mktemp("tools of a host"), PARLOUR__MCP__ALLOW_UNSANDBOXED="true")
    host.install(CALLING_PLUGIN)
    host.install(BORROWING)
    host.start()
    yield host
    host.close()


@pytest.fixture(scope="module")
def clock(host: Host) -> Json:
    """Connects a server with a secret in its environment."""
    made = host.http().post("/mcp-servers", json={**CLOCK, "environment": {"API_KEY": SECRET}})
    assert made.status_code == 201, made.text
    return eventually(lambda: connected(host, made.json()["server_id"]), "the server is connected", 60)


def connected(host: Host, server_id: str) -> Json | None:
    server: Json = host.http().get(f"/mcp-servers/{server_id}").json()
    return server if server["status"]["state"] == "connected" else None


def call_outcomes(host: Host, agent: str, *calls: Json, **event: Any) -> list[Any]:
    """Returns the outcome of each call of a run: its text, or the code of its refusal."""
    result = host.ask(agent, json.dumps([["call_tool", call] for call in calls]), **event)
    return [text_or_code(outcome) for outcome in json.loads(texts(result)[0])]


def text_or_code(outcome: Json) -> Any:
    if "error" in outcome:
        return outcome["error"]["code"]
    first = outcome["content"][0]
    return first["text"] if first["type"] == "text" else first["value"]


def agent(host: Host, **policy: Any) -> str:
    return host.agent(CALLER, resource_policy=policy)


def test_tools_are_listed_with_their_source_and_whether_they_only_read(host: Host, clock: Json) -> None:
    tools = {each["tool_name"]: (each["source"], each["read_only"]) for each in host.items("/tools")}
    assert tools["web.fetch"] == ("native", True)
    assert tools["test/borrowing.keep"] == ("plugin", False)
    assert tools["clock.convert_time"] == ("mcp", True)
    page = host.http().get("/tools", params={"limit": 2}).json()
    assert [len(page["items"]), page["next_cursor"] is None] == [2, False]


def test_a_run_calls_tools_of_every_kind(host: Host, clock: Json) -> None:
    now = {"tool_name": "time.now", "parameters": {}}
    keep = {"tool_name": "test/borrowing.keep", "parameters": {"value": "kept"}}
    answers = call_outcomes(host, agent(host, tools="*"), SUM, now, keep, TOKYO)
    assert answers[:3:2] == ["42", "kept"]
    assert answers[1].endswith("UTC)")
    assert "Asia/Tokyo" in answers[3]


def test_a_run_without_a_tool_policy_gets_no_tool(host: Host, clock: Json) -> None:
    assert call_outcomes(host, agent(host), SUM, TOKYO) == ["unauthorized", "unauthorized"]


def test_a_policy_that_names_a_server_grants_its_tools_and_no_others(host: Host, clock: Json) -> None:
    answers = call_outcomes(host, agent(host, mcp_servers=["clock"]), TOKYO, SUM)
    assert ("Asia/Tokyo" in answers[0], answers[1]) == (True, "unauthorized")


def test_a_tool_acts_with_its_own_plugins_rights_and_never_with_its_callers(host: Host) -> None:
    borrow = {"tool_name": "test/borrowing.borrow"}
    (answers,) = call_outcomes(host, agent(host, tools="*"), borrow)
    assert answers == ["unauthorized"] * 4


def test_a_tool_receives_its_caller(host: Host) -> None:
    alice = {"actor": {"actor_id": "alice"}}
    call = {"tool_name": "test/borrowing.told"}
    (answer,) = call_outcomes(host, agent(host, tools="*"), call, key=host.key("platform"), **alice)
    assert answer == {"run": True, "actor": "alice"}


RULES = [
    {"when": {"users": ["alice"]}, "allow": {"tools": ["time.now"]}},
    {"when": {"roles": ["guest"]}, "deny": {"tools": "*"}},
    {"when": {"chat_type": "group"}, "deny": {"tools": ["calculator.evaluate"]}},
]


@pytest.mark.parametrize(
    ("event", "answers"),
    [
        ({"actor": {"actor_id": "bob"}}, ["42", "unauthorized"]),
        ({"actor": {"actor_id": "alice"}}, ["42", "told"]),
        ({"actor": {"actor_id": "alice", "metadata": {"role": "guest"}}}, ["unauthorized", "unauthorized"]),
        ({"actor": {"actor_id": "alice"}, "data": {"chat_type": "group"}}, ["unauthorized", "told"]),
    ],
)
def test_the_tools_of_a_run_depend_on_the_sender(host: Host, event: Json, answers: list[str]) -> None:
    ruled = agent(host, tools=["calculator.evaluate"], rules=RULES)
    found = call_outcomes(host, ruled, SUM, {"tool_name": "time.now"}, key=host.key("platform"), **event)
    assert [found[0], "told" if "UTC" in found[1] else found[1]] == answers


def test_invalid_parameters_are_reported_to_the_model(host: Host) -> None:
    wrong = {"tool_name": "calculator.evaluate", "parameters": {}}
    assert call_outcomes(host, agent(host, tools="*"), wrong) == [
        "the tool was not called: expression is required (a string)"
    ]


@pytest.mark.parametrize(
    ("kind", "text"),
    [
        ("binary", "[1000 characters of binary data, which is not text]"),
        ("controls", "a bell rings in a long sentence"),
        ("large", "payload_too_large"),
    ],
)
def test_an_invalid_answer_of_a_tool_is_bounded_and_readable(host: Host, kind: str, text: str) -> None:
    garbled = {"tool_name": "test/borrowing.garbled", "parameters": {"kind": kind}}
    (answer,) = call_outcomes(host, agent(host, tools="*"), garbled)
    assert answer == text


@pytest.mark.parametrize("name", ["127.0.0.1", "localhost", "[::1]", "2130706433", "0x7f.1", "169.254.169.254"])
def test_internal_addresses_are_not_fetched_for_a_run(host: Host, name: str) -> None:
    port = host.address.rpartition(":")[2]
    inside = {"tool_name": "web.fetch", "parameters": {"url": f"http://{name}:{port}/healthz"}}
    (answer,) = call_outcomes(host, agent(host, tools="*"), inside)
    assert "not a public address" in answer or "this is no address" in answer, answer


def test_an_artifact_is_read_by_the_run_that_sees_it_and_by_no_other(host: Host) -> None:
    upload = host.http().post("/files", files={"file": ("notes.txt", b"remember the milk", "text/plain")}).json()
    attached = {"input": {"text": "", "attachments": [{"artifact_id": upload["artifact_id"], "artifact_type": "file"}]}}
    read = {"tool_name": "artifact.read", "parameters": {"artifact_id": upload["artifact_id"]}}
    reader = agent(host, tools="*")
    attached["input"]["text"] = json.dumps([["call_tool", read]])
    result = host.http().post("/events?wait=result", json={"agent_id": reader, "conversation_id": "one", **attached})
    assert text_or_code(json.loads(texts(result.json())[0])[0]) == "remember the milk"
    (other,) = call_outcomes(host, reader, read, conversation_id="two")
    assert other.startswith("there is no artifact")


def test_secrets_are_masked_encrypted_and_kept_when_their_masks_are_sent_back(host: Host, clock: Json) -> None:
    assert clock["environment"] == {"API_KEY": "********"}
    server_id = clock["server_id"]
    body = {name: clock[name] for name in ("name", "transport", "command", "arguments", "environment")}
    replaced = host.http().put(f"/mcp-servers/{server_id}", json=body)
    assert replaced.status_code == 200, replaced.text
    eventually(lambda: connected(host, server_id), "the server is connected again", 60)
    (process,) = servers_of(host)
    assert process.environ()["API_KEY"] == SECRET
    for file in host.data.rglob("*"):
        assert not file.is_file() or SECRET.encode() not in file.read_bytes(), file


def test_resources_and_prompts_of_a_server_are_shown_read_and_used(host: Host, clock: Json) -> None:
    script = str(ROOT / "tests" / "fixtures" / "plugins" / "library_server.py")
    made = host.http().post("/mcp-servers", json={**LIBRARY, "arguments": [script]}).json()
    server = eventually(lambda: connected(host, made["server_id"]), "the server is connected", 60)
    assert [each["uri"] for each in server["status"]["resources"]] == ["library://rules", "library://books/{title}"]
    assert server["status"]["prompts"][0]["arguments"] == [{"name": "title", "description": "", "required": True}]
    path = f"/mcp-servers/{made['server_id']}"
    read = host.http().post(f"{path}/read-resource", json={"uri": "library://books/Emma"}).json()
    assert (read["is_error"], read["content"]) == (False, [{"type": "text", "text": "Emma is on shelf seven"}])
    filled = host.http().post(f"{path}/get-prompt", json={"name": "review", "arguments": {"title": "Emma"}}).json()
    said = [{"role": "user", "content": "Write three sentences about Emma."}]
    assert filled["content"][0]["value"]["messages"] == said
    unknown = host.http().post(f"{path}/get-prompt", json={"name": "nonesuch"}).json()
    assert unknown["is_error"]
    reader = agent(host, mcp_servers=["library"])
    rules = {"tool_name": "library.read_resource", "parameters": {"uri": "library://rules"}}
    assert call_outcomes(host, reader, rules, SUM) == ["Be quiet.", "unauthorized"]
    assert host.http().delete(path).status_code == 204


def test_an_unsaved_change_is_tested_with_the_stored_secrets(host: Host, clock: Json) -> None:
    path = f"/mcp-servers/{clock['server_id']}/test"
    body = {name: clock[name] for name in ("transport", "command", "arguments", "environment")}
    renamed = host.http().post(path, json={**body, "name": "renamed"}).json()
    assert (renamed["state"], renamed["last_error"]) == ("connected", None)
    elsewhere = host.http().post(path, json={**body, "name": "clock", "command": "nonesuch"})
    assert named_fields(elsewhere) == ["environment.API_KEY"]
    assert [each["name"] for each in host.items("/mcp-servers")] == ["clock"]


def test_a_server_can_be_tested_before_and_after_it_is_saved(host: Host, clock: Json) -> None:
    draft = host.http().post("/mcp-servers/test", json={**CLOCK, "name": "another", "command": "nonesuch"}).json()
    words = "its command 'nonesuch' can't be started: No such file or directory"
    assert (draft["state"], draft["last_error"], draft["tools"]) == ("failed", words, [])
    saved = host.http().post(f"/mcp-servers/{clock['server_id']}/test").json()
    assert (saved["state"], saved["protocol_version"]) == ("connected", "2026-07-28")
    assert [tool["name"] for tool in saved["tools"]] == ["get_current_time", "convert_time"]
    assert [each["name"] for each in host.items("/mcp-servers")] == ["clock"]


@pytest.mark.parametrize(
    ("change", "status", "field"),
    [
        ({"name": "clock"}, 409, None),
        ({"name": "time"}, 422, "name"),
        ({"name": "Two Words"}, 422, "name"),
        ({"command": ""}, 422, "body"),
        ({"url": "http://localhost/"}, 422, "body"),
        ({"transport": "carrier pigeon"}, 422, "transport"),
        ({"environment": {"NO SPACE": "x"}}, 422, "environment"),
        ({"environment": {"KEY": "********"}}, 422, "environment.KEY"),
        ({"more": 1}, 422, "more"),
    ],
)
def test_an_invalid_server_is_refused_by_field(
    host: Host, clock: Json, change: Json, status: int, field: str | None
) -> None:
    answer = host.http().post("/mcp-servers", json={**CLOCK, "name": "other", **change})
    assert answer.status_code == status, answer.text
    if field is None:
        assert error_code(answer) == "conflict"
    else:
        assert named_fields(answer) == [field]
    assert len(host.items("/mcp-servers")) == 1


def test_a_removed_server_loses_its_tools_and_its_process(host: Host, clock: Json) -> None:
    made = host.http().post("/mcp-servers", json={**CLOCK, "name": "passing"}).json()
    eventually(lambda: connected(host, made["server_id"]), "the server is connected", 60)
    passing = {**TOKYO, "tool_name": "passing.get_current_time"}
    assert "Asia/Tokyo" in call_outcomes(host, agent(host, tools="*"), passing)[0]
    assert host.http().delete(f"/mcp-servers/{made['server_id']}").status_code == 204
    assert host.http().get(f"/mcp-servers/{made['server_id']}").status_code == 404
    assert call_outcomes(host, agent(host, tools="*"), passing) == ["unauthorized"]
    eventually(lambda: len(servers_of(host)) == 1, "its process has ended", 30)
    entries = [entry for entry in host.items("/audit", kind="admin") if entry["resource"] == made["server_id"]]
    assert [entry["action"] for entry in entries] == ["mcp_server.delete", "mcp_server.create"]


def servers_of(host: Host) -> list[psutil.Process]:
    return [each for each in host.process.children(recursive=True) if "mcp_server_time" in arguments_of(each)]


def arguments_of(process: psutil.Process) -> list[str]:
    """Returns the arguments of a process, or none if it has just ended."""
    try:
        return process.cmdline()
    except psutil.NoSuchProcess:
        return []
