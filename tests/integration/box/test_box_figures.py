"""Measures the Box of a real Host: its commands, the start of its sandboxes, and their memory while they are idle.

A command is measured from the call of the agent's plugin to its result, when the audit row is committed: with the wire
between plugin and Host, which is more than the Host's own share. On a machine that is busy with something else, times
say little: limits are on the processor time of all processes then.
"""

import json
import statistics
import subprocess
import time
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path

import psutil
import pytest

from tests.support.harness import NO_RUN_LIMITS, Host, texts
from tests.support.scripted import CALLER, CALLING_PLUGIN

pytestmark = [pytest.mark.long, pytest.mark.quiet, pytest.mark.timeout(900)]
COMMANDS, STARTS, IDLE_SESSIONS = 300, 30, 100
EXEC_MILLISECONDS, EXEC_RATIO, READY_MILLISECONDS, IDLE_MEGABYTES = 5, 3, 150, 7
EXEC_COST_MILLISECONDS = 8
"""Includes the command itself, and what a busy machine adds by running other programs in between."""
QUIET_PERCENT = 25


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


def processor_time(host: Host) -> float:
    """Returns the milliseconds that the Host, its plugins, its Box and all sandboxes have worked."""
    total = 0.0
    for process in (host.process, *host.process.children(recursive=True)):
        with suppress(psutil.NoSuchProcess):
            total += sum(process.cpu_times()[:2]) * 1000
            total += sum(process.cpu_times()[2:4]) * 1000  # of programs that they have started, and that have ended
    return total


def is_quiet() -> bool:
    """Returns whether the machine has little else to do."""
    return psutil.cpu_percent(1) < QUIET_PERCENT


def test_command_in_a_warm_sandbox_takes_milliseconds(host: Host, agent: str) -> None:
    timed(host, agent, "warm", 20)
    quiet, worked, taken, plain = is_quiet(), processor_time(host), [], []
    for _ in range(10):  # in turns, so that both see the same machine
        taken += timed(host, agent, "warm", COMMANDS // 10)
        plain += [bare() for _ in range(COMMANDS // 10)]
    cost = (processor_time(host) - worked) / COMMANDS
    p50, p95, floor = statistics.median(taken), statistics.quantiles(taken, n=20)[-1], statistics.median(plain)
    figures = f"exec p50 {p50:.1f} ms, p95 {p95:.1f} ms, processor time {cost:.1f} ms; bare {floor:.1f} ms"
    print(f"\n{figures}; {'quiet' if quiet else 'busy'} machine")  # noqa: T201
    if quiet:
        assert p50 < max(EXEC_MILLISECONDS, EXEC_RATIO * floor)
    assert cost < EXEC_COST_MILLISECONDS
    assert {entry["outcome"] for entry in host.items("/box/audit")} == {"done"}


def test_sandbox_is_ready_soon(host: Host, agent: str) -> None:
    quiet, worked, taken = is_quiet(), processor_time(host), []
    for number in range(STARTS):
        first, second = timed(host, agent, f"start {number}", 2)
        taken.append(first - second)
    cost = (processor_time(host) - worked) / STARTS
    p50, p95 = statistics.median(taken), statistics.quantiles(taken, n=20)[-1]
    quota = host.http().get("/box/status").json()["quota"]
    figures = f"a session is ready after p50 {p50:.0f} ms, p95 {p95:.0f} ms, processor time {cost:.0f} ms"
    print(f"\n{figures} (quota: {quota}); {'quiet' if quiet else 'busy'} machine")  # noqa: T201
    if quiet:
        assert p50 < READY_MILLISECONDS
    assert cost < READY_MILLISECONDS


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
