"""Measures the Box of a real Host: its commands, the start of its sandboxes, and their memory while they are idle.

A command is measured from the call of the agent's plugin to its result, when the audit row is committed: with the wire
between plugin and Host, which is more than the Host's own share.
"""

import json
import statistics
import subprocess
import time
from collections.abc import Iterator
from pathlib import Path

import psutil
import pytest

from tests.support.harness import NO_RUN_LIMITS, Host, texts
from tests.support.scripted import CALLER, CALLING_PLUGIN

pytestmark = [pytest.mark.long, pytest.mark.quiet, pytest.mark.timeout(900)]
COMMANDS, STARTS, IDLE_SESSIONS = 300, 30, 100
EXEC_MILLISECONDS, EXEC_RATIO, READY_MILLISECONDS, IDLE_MEGABYTES = 5, 3, 150, 7


@pytest.fixture(scope="module")
def host(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Host]:
    host = Host(tmp_path_factory.mktemp("figures"), PARLOUR__BOX__MAX_SESSIONS=IDLE_SESSIONS + STARTS, **NO_RUN_LIMITS)
    host.install(CALLING_PLUGIN)
    host.start()
    yield host
    host.close()


@pytest.fixture(scope="module")
def agent(host: Host) -> str:
    return host.agent(CALLER, box_policy={"tools": ["exec"]})


def timed(host: Host, agent: str, chat: str, commands: int) -> list[float]:
    """Returns how long each of some commands took, one after the other in one run."""
    call = ["timed", ["call_tool", {"tool_name": "box.exec", "parameters": {"command": "true"}}]]
    answer: list[float] = json.loads(texts(host.ask(agent, json.dumps([call] * commands), conversation_id=chat))[0])
    return answer


def bare() -> float:
    """Returns how long a command takes that is run without a sandbox."""
    started = time.perf_counter()
    subprocess.run(["/bin/sh", "-c", "true"], check=True, capture_output=True)
    return (time.perf_counter() - started) * 1000


def box_process(host: Host) -> psutil.Process:
    [found] = [each for each in host.process.children() if "parlour.box" in each.cmdline()]
    return found


def test_command_in_a_warm_sandbox_takes_milliseconds(host: Host, agent: str) -> None:
    timed(host, agent, "warm", 20)
    taken, plain = [], []
    for _ in range(10):  # in turns, so that both see the same machine
        taken += timed(host, agent, "warm", COMMANDS // 10)
        plain += [bare() for _ in range(COMMANDS // 10)]
    p50, p95 = statistics.median(taken), statistics.quantiles(taken, n=20)[-1]
    floor = statistics.median(plain)
    busy = psutil.cpu_percent(0.5)
    print(f"\nexec p50 {p50:.1f} ms, p95 {p95:.1f} ms; bare {floor:.1f} ms; machine busy {busy:.0f} %")  # noqa: T201
    assert p50 < max(EXEC_MILLISECONDS, EXEC_RATIO * floor), "on a slow machine a bare command is slow, too"
    audit = host.items("/box/audit")
    assert {entry["outcome"] for entry in audit[:COMMANDS]} == {"done"}


def test_sandbox_is_ready_soon(host: Host, agent: str) -> None:
    taken = []
    for number in range(STARTS):
        first, second = timed(host, agent, f"start {number}", 2)
        taken.append(first - second)
    p50, p95 = statistics.median(taken), statistics.quantiles(taken, n=20)[-1]
    quota = host.http().get("/box/status").json()["quota"]
    print(f"\na session is ready after p50 {p50:.0f} ms, p95 {p95:.0f} ms (quota: {quota})")  # noqa: T201
    assert p50 < READY_MILLISECONDS


def test_idle_sandboxes_take_little_memory(host: Host, agent: str) -> None:
    for number in range(IDLE_SESSIONS):
        timed(host, agent, f"idle {number}", 1)
    assert len(host.items("/box/sessions")) >= IDLE_SESSIONS
    sessions = len(host.items("/box/sessions"))
    used = sum(proportional_bytes(each) for each in box_process(host).children(recursive=True))
    each = used / sessions / 1e6
    print(f"\n{sessions} idle sandboxes: {each:.1f} MB each (PSS of all their processes)")  # noqa: T201
    assert each < IDLE_MEGABYTES


def proportional_bytes(process: psutil.Process) -> int:
    lines = Path(f"/proc/{process.pid}/smaps_rollup").read_text().splitlines()
    [line] = [line for line in lines if line.startswith("Pss:")]
    return int(line.split()[1]) * 1024
