"""What a plugin's process costs: importing the SDK is next to nothing, an idle echo agent is small."""

import json
import os
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path

import psutil
import pytest

ECHO = Path(__file__).parents[3] / "plugins" / "echo-agent"
CPU_SECONDS = 0.5
RESIDENT_BYTES = 55 * 1024 * 1024
WELCOME = {"protocol": 1, "host": "parlour", "host_version": "1"}


@dataclass(frozen=True)
class Weight:
    cpu: float
    resident: int


def test_importing_the_sdk_loads_nothing_that_is_not_asked_for() -> None:
    code = "import parlour_sdk, sys; print(*sys.modules)"
    modules = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout.split()
    assert "parlour_sdk" in modules
    assert not {"pydantic", "yaml", "asyncio", "websockets", "parlour_sdk.api"} & set(modules)


@pytest.mark.parametrize("names", ["results, AgentRunner", "runner, plugin, tool, on, command"])
def test_writing_an_agent_loads_no_transport_but_pipes(names: str) -> None:
    code = f"from parlour_sdk import {names}; import sys; print(*sys.modules)"
    modules = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout.split()
    assert not {"websockets", "parlour_sdk.wire.websocket", "parlour_sdk.testing", "ssl_certificates"} & set(modules)


def weigh() -> Weight:
    """An echo agent that has greeted its Host, told its runners and now waits."""
    command = [sys.executable, "-m", "parlour_sdk.worker", str(ECHO)]
    worker = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, env=dict(os.environ))
    assert worker.stdin is not None
    assert worker.stdout is not None
    try:
        hello = json.loads(worker.stdout.readline())
        answer = {"seq_id": hello["seq_id"], "code": 0, "message": "", "data": WELCOME}
        asking = {"seq_id": 1, "action": "list_agent_runners", "data": {}}
        worker.stdin.write(b"".join(json.dumps(frame).encode() + b"\n" for frame in (answer, asking)))
        worker.stdin.flush()
        assert json.loads(worker.stdout.readline())["data"]["runners"]
        process = psutil.Process(worker.pid)
        spent = process.cpu_times()
        return Weight(spent.user + spent.system, process.memory_info().rss)
    finally:
        worker.kill()
        worker.communicate()


def test_a_running_agent_stays_under_its_limits() -> None:
    """The least of a few: on a busy machine the same work is charged more, and the first run may compile."""
    weights = [weigh() for _ in range(3)]
    assert min(each.cpu for each in weights) < CPU_SECONDS
    assert min(each.resident for each in weights) < RESIDENT_BYTES
