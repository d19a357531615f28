"""Tests the Box of a real Host: commands and files of agents in real sandboxes, through runs of a real plugin."""

import json
import os
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
