"""Tests that the files of a conversation in the Box are deleted with it, unless another conversation uses them."""

import json
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.support.harness import Host, Json, eventually, texts
from tests.support.scripted import CALLER, CALLING_PLUGIN


@pytest.fixture
def host(tmp_path: Path) -> Iterator[Host]:
    host = Host(tmp_path, PARLOUR__BOX__LOCAL__QUOTA="advisory")
    host.install(CALLING_PLUGIN)
    host.start()
    yield host
    host.close()


def write(host: Host, agent: str, chat: str) -> str:
    """Writes a file in the sandbox of a chat and returns the id of the conversation."""
    request = [["call_tool", {"tool_name": "box.exec", "parameters": {"command": f"echo {chat} > {chat}.txt"}}]]
    result = host.ask(agent, json.dumps(request), conversation_id=chat)
    [outcome] = json.loads(texts(result)[0])
    assert not outcome["is_error"], outcome
    return str(result["run"]["conversation_id"])


def files(host: Host) -> set[str]:
    return {path.name for path in (host.data / "box" / "workspaces").glob("*/*/*.txt")}


def test_workspace_is_deleted_with_the_last_conversation_that_used_it(host: Host) -> None:
    own = host.agent(CALLER, name="own", box_policy={"tools": ["exec"]})
    shared_policy: Json = {"tools": ["exec"], "session_template": "{agent_id}"}
    shared = host.agent(CALLER, name="shared", box_policy=shared_policy)
    alone = write(host, own, "alone")
    first, second = write(host, shared, "first"), write(host, shared, "second")
    assert files(host) == {"alone.txt", "first.txt", "second.txt"}

    for conversation in (alone, first):
        assert host.http().delete(f"/conversations/{conversation}").status_code == 204
    eventually(lambda: files(host) == {"first.txt", "second.txt"}, "the files of one conversation are gone")
    assert len(host.items("/box/sessions")) == 1

    assert host.http().delete(f"/conversations/{second}").status_code == 204
    eventually(lambda: files(host) == set(), "the shared files are gone")
    assert host.items("/box/sessions") == []
