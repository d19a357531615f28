"""Tests from outside how a sandbox ends, what it uses, and that nothing of it is left."""

import asyncio
import json
import os
import signal
import time
from pathlib import Path
from typing import Any

import pytest

from parlour.plugin_runtime.process.sandboxed_launcher import SandboxedPluginProcess

from .sandboxes import make_start, start_sandboxed

MEBIBYTE = 1024 * 1024
DEFINE_REPORT = "import os, sys\nreport = lambda fact: print(json.dumps(fact), file=sys.stderr, flush=True)\n"
UNTIL_CLOSED = "sys.stdin.read()\n"
"""Waits until the test closes the wire."""


async def read_report(process: SandboxedPluginProcess) -> Any:
    return json.loads(await asyncio.wait_for(process.log.readline(), 30))


async def end(process: SandboxedPluginProcess) -> None:
    await process.kill()
    await process.wait()
    process.close()
    os.close(process.read_fd)


def until_gone(pids: set[int]) -> None:
    until = time.monotonic() + 5
    while left := {pid for pid in pids if Path(f"/proc/{pid}").exists()}:
        assert time.monotonic() < until, left
        time.sleep(0.01)


@pytest.mark.parametrize(
    ("code", "status"),
    [
        ("sys.exit(7)", 7),
        ("os.kill(os.getpid(), signal.SIGKILL)", -signal.SIGKILL),
        ("os.kill(os.getpid(), signal.SIGTERM)", -signal.SIGTERM),
        ("os.abort()", -signal.SIGABRT),
    ],
)
async def test_the_exit_status_is_that_of_the_plugin(tmp_path: Path, code: str, status: int) -> None:
    process = await start_sandboxed(make_start(tmp_path), code)

    assert await asyncio.wait_for(process.wait(), 30) == status

    os.close(process.write_fd)
    await end(process)


async def test_a_terminated_plugin_has_time_to_exit(tmp_path: Path) -> None:
    politely = "signal.signal(signal.SIGTERM, lambda *_: (report('goodbye'), sys.exit(5)))\nreport('ready')\n"
    process = await start_sandboxed(make_start(tmp_path), DEFINE_REPORT + politely + "time.sleep(60)")
    assert await read_report(process) == "ready"

    await process.terminate()

    assert await read_report(process) == "goodbye"
    assert await asyncio.wait_for(process.wait(), 30) == 5
    os.close(process.write_fd)
    await end(process)


RUNAWAYS = """
runaway = "import signal, time; signal.signal(signal.SIGTERM, signal.SIG_IGN); print(1, flush=True); time.sleep(600)"
children = [
    subprocess.Popen([sys.executable, "-c", runaway], start_new_session=True, stdout=subprocess.PIPE)
    for _ in range(2)
]
[child.stdout.readline() for child in children]
report("ready")
"""


async def test_nothing_is_left_of_a_plugin_that_was_killed(tmp_path: Path) -> None:
    process = await start_sandboxed(make_start(tmp_path), DEFINE_REPORT + RUNAWAYS + UNTIL_CLOSED)
    assert await read_report(process) == "ready"
    pids = {seen.pid for seen in process.tree.alive()}
    assert len(pids) == 5

    await process.kill()

    assert await asyncio.wait_for(process.wait(), 30) == -signal.SIGKILL
    until_gone(pids)
    os.close(process.write_fd)
    await end(process)


async def test_child_processes_end_with_the_plugin(tmp_path: Path) -> None:
    process = await start_sandboxed(make_start(tmp_path), DEFINE_REPORT + RUNAWAYS + UNTIL_CLOSED + "os._exit(3)")
    assert await read_report(process) == "ready"
    pids = {seen.pid for seen in process.tree.alive()}

    os.close(process.write_fd)

    assert await asyncio.wait_for(process.wait(), 30) == 3
    until_gone(pids)
    await end(process)


async def test_the_memory_of_child_processes_counts(tmp_path: Path) -> None:
    child = f"import time; kept = b'x' * {100 * MEBIBYTE}; print(1, flush=True); time.sleep(600)"
    started = f'subprocess.Popen([sys.executable, "-c", "{child}"], stdout=subprocess.PIPE).stdout.readline()\n'
    process = await start_sandboxed(make_start(tmp_path), DEFINE_REPORT + started + "report('ready')\n" + UNTIL_CLOSED)
    assert await read_report(process) == "ready"

    assert await process.uses_more_than(100 * MEBIBYTE)
    assert not await process.uses_more_than(200 * MEBIBYTE)

    os.close(process.write_fd)
    await end(process)


async def test_limits_apply_to_a_plugin_that_started_while_they_were_set(tmp_path: Path) -> None:
    limits = "import resource\nreport([resource.getrlimit(resource.RLIMIT_NOFILE)[0], os.nice(0)])\n"
    before = os.nice(0)
    process = await start_sandboxed(make_start(tmp_path), DEFINE_REPORT + "report('up')\n" + UNTIL_CLOSED + limits)

    await process.apply_limits(open_files=321, niceness=3)
    assert await read_report(process) == "up"
    await process.apply_limits(open_files=321, niceness=3)  # the Host does this again when a plugin is ready
    os.close(process.write_fd)

    assert await read_report(process) == [321, before + 3]
    assert await asyncio.wait_for(process.wait(), 30) == 0
    await end(process)
