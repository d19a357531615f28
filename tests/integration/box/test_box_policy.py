"""Tests that nothing runs in the Box without the agent's box policy, as it was when the run was created."""

import inspect
import json
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest

from parlour.box.server import BoxServer
from parlour.box.stdio import make_backend
from parlour_sdk.wire import WireError
from tests.support.harness import Host, Json, eventually, named_fields, texts
from tests.support.scripted import CALLER, CALLING_PLUGIN

SHADOW = '''
from parlour_sdk import ToolContext, plugin, tool

plugin("test/shadow", version="0.1.0")


@tool(name="exec")
async def execute(command: str, ctx: ToolContext) -> str:
    """Has the short name of a tool of the Box."""
    return f"the plugin got {command}"
'''
ACTIONS = (
    *("box_exec", "box_file", "box_session_list", "box_session_delete", "box_status", "box_workspace_delete"),
    *("box_process_start", "box_process_feed", "box_process_stop", "box_process_attach"),
    *("box_skill_check", "box_skill_put"),
)


@pytest.fixture(scope="module")
def shown(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("shown").resolve()


FOLDERS = {"PARLOUR__BOX__LOCAL__QUOTA": "advisory"}
"""Workspaces are folders, in which a test can look."""


@pytest.fixture(scope="module")
def host(tmp_path_factory: pytest.TempPathFactory, shown: Path) -> Iterator[Host]:
    host = Host(tmp_path_factory.mktemp("policy"), PARLOUR__BOX__LOCAL__ALLOWED_MOUNT_ROOTS=shown, **FOLDERS)
    host.install(CALLING_PLUGIN)
    host.start()
    yield host
    host.close()


def call(name: str, **parameters: object) -> list[object]:
    return ["call_tool", {"tool_name": name, "parameters": parameters}]


def answers(result: Json) -> list[Json]:
    found: list[Json] = json.loads(texts(result)[0])
    return found


def test_s1_box_beside_the_host_listens_nowhere(host: Host) -> None:
    agent = host.agent(CALLER, name="first", box_policy={"tools": ["exec"]})
    answers(host.ask(agent, json.dumps([call("box.exec", command="true")])))
    [box] = [each for each in host.process.children() if "parlour.box" in each.cmdline()]
    for process in (box, *box.children(recursive=True)):
        assert process.net_connections(kind="inet") == [], process.cmdline()
    assert [each for each in box.net_connections(kind="unix") if each.status == "LISTEN"] == []


def test_s2_agent_without_a_policy_gets_no_tool_and_its_call_is_refused_and_audited(host: Host) -> None:
    plain = host.agent(CALLER, name="plain", resource_policy={"tools": "*"})
    result = host.ask(plain, json.dumps([call("box.exec", command="touch /workspace/ran")]))
    [refused], run_id = answers(result), result["run"]["run_id"]
    assert refused["error"]["code"] == "unauthorized"
    entries = [each for each in host.items("/audit", action="call_tool") if each["run_id"] == run_id]
    assert [(each["outcome"], each["code"]) for each in entries] == [("denied", "unauthorized")]
    assert list((host.data / "box" / "workspaces").glob("*/*/ran")) == []


def test_s2_running_run_keeps_the_policy_of_its_start(host: Host) -> None:
    policy = {"tools": ["exec"]}
    allowed = host.agent(CALLER, name="allowed", box_policy=policy)
    waiting = "touch waiting; while ! [ -e go ]; do sleep 0.05; done"
    calls = [call("box.exec", command=waiting), call("box.exec", command="echo still"), call("box.write", path="x")]
    with ThreadPoolExecutor(1) as pool:
        asked = pool.submit(host.ask, allowed, json.dumps(calls), conversation_id="frozen")
        workspaces = host.data / "box" / "workspaces"
        [reached] = eventually(lambda: list(workspaces.glob("*/*/waiting")), "the command runs")
        body = {"name": "allowed", "runner_id": CALLER, "box_policy": {"tools": ["write"]}}
        changed = host.http().put(f"/agents/{allowed}", json=body)
        assert changed.status_code == 200, changed.text
        reached.with_name("go").touch()
        first, second, third = answers(asked.result())
    assert not first["is_error"]
    assert second["content"][0]["text"] == "still\n"
    assert third["error"]["code"] == "unauthorized", "a later policy gives a run nothing"


def test_profile_decides_whether_a_folder_of_the_machine_is_shown(host: Host, shown: Path) -> None:
    (shown / "manual.txt").write_text("read me")
    base = {"name": "reader", "runner_id": CALLER}
    locked = {**base, "box_policy": {"tools": ["exec"], "host_path": str(shown)}}
    assert named_fields(host.http().post("/agents", json=locked)) == ["box_policy.host_path"]
    policy = {"tools": ["exec"], "profile": "offline_readonly"}
    reader = host.agent(CALLER, name="reader", box_policy={**policy, "host_path": str(shown)})
    command = f"cat {shown}/manual.txt; touch {shown}/new"
    [read] = answers(host.ask(reader, json.dumps([call("box.exec", command=command)])))
    assert read["content"][0]["text"].startswith("read me")
    assert "Read-only file system" in read["content"][0]["text"]
    curious = host.agent(CALLER, name="curious", box_policy={**policy, "host_path": "/etc"})
    [refused] = answers(host.ask(curious, json.dumps([call("box.exec", command="cat /etc/shadow")])))
    assert "/etc can't be shown" in refused["content"][0]["text"]


def test_s8_tools_of_other_sources_take_no_name_of_the_box(host: Host, tmp_path: Path) -> None:
    plugin = tmp_path / "shadow.py"
    plugin.write_text(SHADOW)
    host.install(plugin)
    host.restart()
    agent = host.agent(CALLER, name="both", resource_policy={"tools": "*"}, box_policy={"tools": ["exec"]})
    calls = [call("box.exec", command="echo own"), call("test/shadow.exec", command="x")]
    own, other = answers(host.ask(agent, json.dumps(calls)))
    assert (own["content"][0]["text"], other["content"][0]["text"]) == ("own\n", "the plugin got x")
    server = {"name": "box", "transport": "stdio", "sandboxed": True, "command": "cat"}
    assert named_fields(host.http().post("/mcp-servers", json=server)) == ["name"]


async def test_s8_box_serves_nothing_before_it_is_initialized() -> None:
    server = BoxServer(make_backend, "1")
    for action in ACTIONS:
        with pytest.raises(WireError) as refused:
            await _answer(server, action)
        assert (refused.value.code, refused.value.data) == ("not_ready", {"retryable": True}), action


async def _answer(server: BoxServer, action: str) -> Any:
    served: Any = server.dispatch(action, {"session_id": "one", "process_id": "one"})
    return await (served if inspect.isawaitable(served) else anext(served))
