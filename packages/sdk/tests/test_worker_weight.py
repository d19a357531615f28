"""Tests the CPU time and memory of a plugin's process, and which modules it loads."""

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
class Consumption:
    cpu: float
    resident: int


def test_importing_the_sdk_loads_no_heavy_module() -> None:
    code = "import parlour_sdk, sys; print(*sys.modules)"
    modules = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout.split()
    assert "parlour_sdk" in modules
    assert not {"pydantic", "yaml", "asyncio", "websockets", "parlour_sdk.api"} & set(modules)


@pytest.mark.parametrize("names", ["results, AgentRunner", "runner, plugin, tool, on, command"])
def test_importing_agent_classes_loads_no_websocket_transport(names: str) -> None:
    code = f"from parlour_sdk import {names}; import sys; print(*sys.modules)"
    modules = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout.split()
    assert not {"websockets", "parlour_sdk.wire.websocket", "parlour_sdk.testing", "parlour_sdk.agents"} & set(modules)


def test_a_part_of_an_agent_loads_no_other_part() -> None:
    code = "from parlour_sdk.agents import ReasoningFilter; import sys; print(*sys.modules)"
    modules = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout.split()
    parts = {name for name in modules if name.startswith("parlour_sdk.agents.")}
    assert parts == {"parlour_sdk.agents.reasoning_filter"}
    assert not {"pydantic", "asyncio", "parlour_sdk.api", "parlour_sdk.protocol"} & set(modules)


def measure() -> Consumption:
    """Measures an echo agent that has connected to its Host, listed its runners and is idle."""
    command = [sys.executable, "-m", "parlour_sdk.worker", str(ECHO)]
    worker = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, env=dict(os.environ))
    assert worker.stdin is not None
    assert worker.stdout is not None
    try:
        hello = json.loads(worker.stdout.readline())
        answer = {"seq_id": hello["seq_id"], "code": 0, "message": "", "data": WELCOME}
        request = {"seq_id": 1, "action": "list_agent_runners", "data": {}}
        worker.stdin.write(b"".join(json.dumps(frame).encode() + b"\n" for frame in (answer, request)))
        worker.stdin.flush()
        assert json.loads(worker.stdout.readline())["data"]["runners"]
        process = psutil.Process(worker.pid)
        spent = process.cpu_times()
        return Consumption(spent.user + spent.system, process.memory_info().rss)
    finally:
        worker.kill()
        worker.communicate()


def test_an_idle_agent_stays_below_its_cpu_and_memory_limits() -> None:
    """The minimum of three runs counts: a busy machine charges more CPU time, and the first run may compile."""
    measured = [measure() for _ in range(3)]
    assert min(each.cpu for each in measured) < CPU_SECONDS
    assert min(each.resident for each in measured) < RESIDENT_BYTES
