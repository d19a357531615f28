"""Tests MCP servers over stdio that run in the Box: real servers without a network, and what they can't reach."""

import json
import os
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path
from typing import Any

import psutil
import pytest

from tests.support.harness import ROOT, Host, Json, eventually, named_fields, texts
from tests.support.scripted import CALLER, CALLING_PLUGIN

SERVERS = Path(os.path.realpath(ROOT / ".tools" / "mcp-servers"))
MODULES = SERVERS / "node_modules" / "@modelcontextprotocol"


@pytest.fixture(scope="module")
def host(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Host]:
    settings = {"PARLOUR__BOX__LOCAL__ALLOWED_MOUNT_ROOTS": SERVERS, "PARLOUR__BOX__LOCAL__QUOTA": "advisory"}
    host = Host(tmp_path_factory.mktemp("mcp"), **settings)
    host.install(CALLING_PLUGIN)
    host.start()
    yield host
    host.close()


def node(name: str, script: str, *arguments: str, **fields: Any) -> Json:
    command = {"command": "node", "arguments": [str(MODULES / script / "dist" / "index.js"), *arguments]}
    return {"name": name, "transport": "stdio", "sandboxed": True, "mounts": [str(SERVERS)], **command, **fields}


def add(host: Host, body: Json) -> str:
    made = host.http().post("/mcp-servers", json=body)
    assert made.status_code == 201, made.text
    return str(made.json()["server_id"])


def status(host: Host, server_id: str) -> Json:
    answer: Json = host.http().get(f"/mcp-servers/{server_id}").json()["status"]
    return answer


def named(process: psutil.Process) -> str:
    with suppress(psutil.Error):
        return " ".join(process.cmdline())
    return ""


def until(host: Host, server_id: str, state: str) -> Json:
    return eventually(lambda: (found := status(host, server_id))["state"] == state and found, f"it is {state}", 60)


def call(host: Host, agent: str, tool: str, **parameters: Any) -> Json:
    request = [["call_tool", {"tool_name": tool, "parameters": parameters}]]
    [outcome] = json.loads(texts(host.ask(agent, json.dumps(request)))[0])
    found: Json = outcome
    return found


def test_real_servers_work_in_the_sandbox_without_a_network(host: Host) -> None:
    everything = add(host, node("everything", "server-everything", "stdio"))
    files = add(host, node("files", "server-filesystem", "/workspace"))
    tools = {each["name"] for each in until(host, everything, "connected")["tools"]}
    assert "echo" in tools
    until(host, files, "connected")
    agent = host.agent(CALLER, resource_policy={"tools": "*"})
    echoed = call(host, agent, "everything.echo", message="hello")
    assert "hello" in echoed["content"][0]["text"]
    written = call(host, agent, "files.write_file", path="/workspace/a.txt", content="kept")
    assert not written["is_error"], written
    assert "kept" in call(host, agent, "files.read_text_file", path="/workspace/a.txt")["content"][0]["text"]
    outside = call(host, agent, "files.read_text_file", path="/etc/passwd")
    assert outside["is_error"]

    sessions = {each["title"]: each for each in host.items("/box/sessions")}
    session = sessions["MCP server everything"]
    [process] = session["process_list"]
    assert (process["process_id"], process["status"], process["attached"]) == ("everything", "running", True)
    assert not session["network"]

    since = status(host, everything)["since"]
    below = host.process.children(recursive=True)
    next(each for each in below if "server-everything" in named(each) and "bwrap" not in named(each)).kill()
    eventually(lambda: (now := status(host, everything))["state"] == "connected" and now["since"] > since, "it is back")
    assert "again" in call(host, agent, "everything.echo", message="again")["content"][0]["text"]

    for server_id in (everything, files):
        assert host.http().delete(f"/mcp-servers/{server_id}").status_code == 204
    assert eventually(lambda: host.items("/box/sessions") == [], "their sandboxes are gone")


def test_failed_start_names_its_reason(host: Host) -> None:
    missing = add(host, {**node("missing", "absent"), "command": "not-a-command"})
    assert "not-a-command" in until(host, missing, "failed")["last_error"]
    refused = add(host, {**node("refused", "absent"), "mounts": ["/etc"]})
    assert "/etc" in until(host, refused, "failed")["last_error"]
    ends = add(
        host,
        {
            "name": "ends",
            "transport": "stdio",
            "sandboxed": True,
            "command": "sh",
            "arguments": ["-c", "echo no such thing >&2; exit 3"],
        },
    )
    assert "ended with status 3: no such thing" in until(host, ends, "failed")["last_error"]
    for server_id in (missing, refused, ends):
        host.http().delete(f"/mcp-servers/{server_id}")


@pytest.mark.parametrize(("restart", "starts"), [("never", 1), ("on_failure", 6)])
@pytest.mark.long
def test_server_is_started_again_as_often_as_it_says(host: Host, restart: str, starts: int, tmp_path: Path) -> None:
    command = "echo start >> /workspace/starts; exit 3"
    ending = {"name": "ending", "transport": "stdio", "sandboxed": True, "restart": restart, "command": "sh"}
    server_id = add(host, {**ending, "arguments": ["-c", command]})
    given_up = lambda: "not started again" in (status(host, server_id)["last_error"] or "")  # noqa: E731
    eventually(given_up, "it is given up", 120)
    [counted] = list((host.data / "box" / "workspaces").glob("*/*/starts"))
    assert len(counted.read_text().splitlines()) == starts
    agent = host.agent(CALLER, name=restart, resource_policy={"tools": "*"})
    assert call(host, agent, "ending.work")["error"]["code"] in ("not_found", "unauthorized")
    host.http().delete(f"/mcp-servers/{server_id}")
    counted.unlink()


def test_memory_of_a_server_is_limited_apart_from_that_of_its_sandbox(host: Host) -> None:
    script = "import sys; x = bytearray(200_000_000); print('it had the memory', file=sys.stderr); sys.exit(3)"
    hungry = {"name": "hungry", "transport": "stdio", "sandboxed": True, "restart": "never", "command": "python3"}
    for memory, said in ((64, "MemoryError"), (0, "it had the memory")):
        server_id = add(host, {**hungry, "arguments": ["-c", script], "memory_mb": memory})
        assert said in until(host, server_id, "failed")["last_error"]
        host.http().delete(f"/mcp-servers/{server_id}")
    wrong = {**hungry, "memory_mb": 8}
    assert named_fields(host.http().post("/mcp-servers", json=wrong)) == ["memory_mb"]


def test_unsandboxed_server_needs_a_person_and_a_sandboxed_one_takes_no_url(host: Host) -> None:
    plain = {"name": "plain", "transport": "stdio", "command": "cat"}
    assert named_fields(host.http().post("/mcp-servers", json=plain)) == ["confirmation"]
    remote = {"name": "remote", "url": "https://example.org/mcp", "sandboxed": True}
    assert host.http().post("/mcp-servers", json=remote).status_code == 422


def test_without_the_box_the_server_is_refused_with_the_reason(tmp_path: Path) -> None:
    closed = Host(tmp_path, PARLOUR__BOX__ENABLED="false")
    closed.start()
    try:
        server_id = add(closed, node("everything", "server-everything", "stdio"))
        assert "box.enabled" in until(closed, server_id, "failed")["last_error"]
    finally:
        closed.close()
